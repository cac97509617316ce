import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { describeHealth } from '../../../src/health/recorded-health.ts';
import { MirrorError } from '../../../src/base/errors.ts';
import type { SheetsEmulatorOptions, SpreadsheetOptions } from 'google-sheets-emulator';
import {
  startTestEmulator,
  type TestEmulator,
} from '../../../packages/google-sheets-emulator/test/support/emulator.ts';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../../../src/targets/google/credentials.ts';
import type { QuotaLimits } from '../../../src/targets/google-sheets/api/request-quota.ts';
import { SpreadsheetRegistry } from '../../../src/targets/google-sheets/registry.ts';
import { openSheets } from '../../../src/targets/google-sheets/target.ts';
import { type Damage, FORM, type TargetPlace } from '../../contract/target-harness.ts';
import type { Person } from '../../../packages/google-sheets-emulator/test/support/people.ts';
import type { Target } from '../../../src/mirror/target.ts';

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
  readonly sandbox: TestEmulator;
  readonly spreadsheetId: string;
  readonly clock: Clock;
  /** A target in a process of its own; `summary`: its SHEETS_SUMMARY, by default the place's. */
  openElsewhere(summary?: boolean): Promise<Target>;
}

export interface SheetsPlaceOptions {
  readonly clock?: Clock;
  readonly quota?: QuotaLimits;
  readonly sandbox?: SheetsEmulatorOptions;
  readonly spreadsheet?: SpreadsheetOptions;
  /** Every target in a process of its own. */
  readonly apart?: boolean;
  /** SHEETS_SUMMARY. */
  readonly summary?: boolean;
}

/** Makes a place; every target of one place is in one process unless `apart`. */
export async function sheetsPlace(options: SheetsPlaceOptions = {}): Promise<SheetsPlace> {
  const clock = options.clock ?? systemClock;
  const { quota } = options;
  const sandbox = await startTestEmulator({ clock, ...options.sandbox });
  sandbox.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  const spreadsheetId = sandbox.createSpreadsheet({
    title: 'Answers',
    shares: { [EMULATOR_EMAIL]: 'writer' },
    ...options.spreadsheet,
  });
  const describe = describeHealth('default', 45);
  const open = (
    registry: SpreadsheetRegistry,
    name = 'default',
    summary = options.summary,
  ): Promise<Target> => {
    const shared = { clock, registry, emulatorUrl: sandbox.url, describe, summary };
    return openSheets(name, spreadsheetId, shared);
  };
  const shared = new SpreadsheetRegistry(clock, quota);
  return {
    sandbox,
    spreadsheetId,
    clock,
    readsAtFirstPiece: true,
    open: (name) => open(options.apart ? new SpreadsheetRegistry(clock, quota) : shared, name),
    openElsewhere: (summary) => open(new SpreadsheetRegistry(clock, quota), 'default', summary),
    usurp: async (formId) => {
      // Another process that waited for the lease to end, and then wrote to the form.
      const later = new SleepersClock(new Date(clock.now()).toISOString());
      const other = await openSheets('other', spreadsheetId, {
        clock: later,
        registry: new SpreadsheetRegistry(later, quota),
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
    damage: damageTo(sandbox, spreadsheetId),
    dispose: () => sandbox.stop(),
  };
}

/** What people do to the tab of {@link FORM}. */
function damageTo(sandbox: TestEmulator, spreadsheetId: string): Damage {
  const person = (): Person => sandbox.people.at(spreadsheetId, FORM.name);
  // The column of IDs is the last one.
  const ids = (): unknown[] =>
    sandbox.inspect.grid(spreadsheetId, FORM.name).map((cells) => cells.at(-1));
  return {
    rowsAreCountedAtOnce: false,
    dropPlace: async () => person().deleteTab(),
    empty: async () => person().deleteRows(1, ids().length - 1),
    deleteRows: async (wanted) => {
      for (const id of wanted) person().deleteRows(ids().indexOf(id));
    },
  };
}
