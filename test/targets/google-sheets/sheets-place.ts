import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { MirrorError } from '../../../src/base/errors.ts';
import {
  type SheetsSandbox,
  type SheetsSandboxOptions,
  startSheetsSandbox,
} from '../../../src/sandbox/sheets-api/sheets-sandbox.ts';
import type { SpreadsheetOptions } from '../../../src/sandbox/sheets-api/spreadsheet-files.ts';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../../../src/targets/google-sheets/credentials.ts';
import type { PaceLimits } from '../../../src/targets/google-sheets/request-pace.ts';
import { SheetsHub } from '../../../src/targets/google-sheets/sheets-hub.ts';
import { openSheets } from '../../../src/targets/google-sheets/target.ts';
import type { TargetPlace } from '../../contract/target-harness.ts';
import type { Target } from '../../../src/mirror/target.ts';

/** No pace at all: a stand-in without quotas minds nothing. */
export const NO_PACE: PaceLimits = { perSpreadsheetMs: 0, perMinute: Number.POSITIVE_INFINITY };

/** Time that stands still but for those who sleep: they wake at once, later. */
export class SleepersClock implements Clock {
  #now: number;

  constructor(start = '2026-03-02T08:00:00.000Z') {
    this.#now = Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) throw new MirrorError('CANCELLED', 'Stopped on request.');
    this.#now += ms;
    // Others get their turn, as they would.
    await delay(0);
  }
}

/** Real time, a hundred times faster: for several processes that wait for each other. */
export class FastClock implements Clock {
  readonly #speed: number;
  readonly #start = Date.now();

  constructor(speed = 100) {
    this.#speed = speed;
  }

  now(): number {
    return this.#start + (Date.now() - this.#start) * this.#speed;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(Math.ceil(ms / this.#speed), signal);
  }
}

/** A spreadsheet on a stand-in of its own. */
export interface SheetsPlace extends TargetPlace {
  readonly sandbox: SheetsSandbox;
  readonly spreadsheetId: string;
  readonly clock: Clock;
  /** A target in a process of its own. */
  openElsewhere(): Promise<Target>;
}

export interface SheetsPlaceOptions {
  readonly clock?: Clock;
  readonly pace?: PaceLimits;
  readonly sandbox?: SheetsSandboxOptions;
  readonly spreadsheet?: SpreadsheetOptions;
  /** Every target in a process of its own. */
  readonly apart?: boolean;
}

/** Makes a place; every target of one place is in one process unless `apart`. */
export async function sheetsPlace(options: SheetsPlaceOptions = {}): Promise<SheetsPlace> {
  const clock = options.clock ?? systemClock;
  const pace = options.pace ?? NO_PACE;
  const sandbox = await startSheetsSandbox({ clock, ...options.sandbox });
  sandbox.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  const spreadsheetId = sandbox.createSpreadsheet({
    title: 'Answers',
    shares: { [EMULATOR_EMAIL]: 'writer' },
    ...options.spreadsheet,
  });
  const open = (hub: SheetsHub, name = 'default'): Promise<Target> =>
    openSheets(name, `sheets:${spreadsheetId}`, { clock, hub, emulatorUrl: sandbox.url });
  const shared = new SheetsHub(clock, pace);
  return {
    sandbox,
    spreadsheetId,
    clock,
    open: (name) => open(options.apart ? new SheetsHub(clock, pace) : shared, name),
    openElsewhere: () => open(new SheetsHub(clock, pace)),
    usurp: async (formId) => {
      // Another process that waited for the lease to end, and then wrote to the form.
      const later = new SleepersClock(new Date(clock.now()).toISOString());
      const other = await openSheets('other', `sheets:${spreadsheetId}`, {
        clock: later,
        hub: new SheetsHub(later, pace),
        emulatorUrl: sandbox.url,
      });
      await using writer = await other.openWriter(
        { id: formId, slug: '', name: '' },
        { waitMs: 200_000 },
      );
      await writer.recordRefusals([
        { submissionId: 'nobody', status: 'NEW', wanted: 'DONE', reason: 'refused', at: '' },
      ]);
    },
    dispose: () => sandbox.stop(),
  };
}
