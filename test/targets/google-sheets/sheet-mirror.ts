import type { SheetsEmulatorOptions } from 'google-sheets-emulator';
import { Events } from '../../../src/base/events.ts';
import { createLogger, type Logger } from '../../../src/base/logger.ts';
import { FormsClient } from '../../../src/forms/client.ts';
import { parsePicks } from '../../../src/mirror/picks.ts';
import type { StoringSettings } from '../../../src/mirror/proven-for.ts';
import type { FormOverview, FormWriter, Target } from '../../../src/mirror/target.ts';
import type { PassKind } from '../../../src/mirror/types.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/forms-api/sandbox.ts';
import { FormsStore } from '../../../src/sandbox/forms-api/store.ts';
import type { SyncContext } from '../../../src/sync/context.ts';
import type { PassReport, SyncEvents } from '../../../src/sync/events.ts';
import { LabelCache } from '../../../src/sync/label-cache.ts';
import { runPass } from '../../../src/sync/run-pass.ts';
import { logSync } from '../../../src/sync/sync-log.ts';
import { type VerifyReport, verifyForm } from '../../../src/sync/verify.ts';
import type { Person } from '../../../packages/google-sheets-emulator/test/support/people.ts';
import { type SheetsPlace, sheetsPlace, SleepersClock } from './sheets-place.ts';

const FORM_ID = 'frm_contact';
const PICKS = { picks: parsePicks(['*']), hashKey: undefined };

/** A form of the source, mirrored into a sheet by passes as `sync` runs them. */
export class SheetMirror implements AsyncDisposable {
  readonly place: SheetsPlace;
  readonly clock: SleepersClock;
  readonly store: FormsStore;
  readonly events = new Events<SyncEvents>();
  /** What was logged at level warn, as messages. */
  readonly warnings: string[];
  target: Target;
  readonly #sandbox: Sandbox;
  readonly #client: FormsClient;
  readonly #context: SyncContext;

  private constructor(
    place: SheetsPlace,
    clock: SleepersClock,
    target: Target,
    source: { store: FormsStore; sandbox: Sandbox; client: FormsClient },
    log: { logger: Logger; warnings: string[] },
  ) {
    this.place = place;
    this.clock = clock;
    this.target = target;
    this.store = source.store;
    this.#sandbox = source.sandbox;
    this.#client = source.client;
    this.warnings = log.warnings;
    logSync(this.events, log.logger, () => null);
    this.#context = {
      client: source.client,
      labels: new LabelCache(source.client, place.clock),
      clock: place.clock,
      logger: log.logger,
      events: this.events,
      maxDeleteFraction: 0.2,
      readAhead: 4,
    };
  }

  /** A form with so many submissions, mirrored by a full pass. */
  static async begin(submissions = 30, sheets: SheetsEmulatorOptions = {}): Promise<SheetMirror> {
    const clock = new SleepersClock('2026-03-02T08:00:00.000Z');
    const place = await sheetsPlace({ clock, sandbox: sheets });
    const store = new FormsStore({ seed: 'people', clock });
    store.addForm({
      id: FORM_ID,
      slug: 'contact',
      name: 'Contact',
      fields: [
        { id: 'field_name', label: 'Name' },
        { id: 'field_age', label: 'Age' },
      ],
    });
    const sandbox = await startSandbox({ store });
    const { url: baseUrl, apiKey } = sandbox;
    const client = new FormsClient({ baseUrl, apiKey, auth: 'bearer', concurrency: 4, clock });
    const warnings: string[] = [];
    const write = (line: string): void =>
      void warnings.push((JSON.parse(line) as { msg: string }).msg);
    const logger = createLogger('warn', { write });
    const source = { store, sandbox, client };
    const mirror = new SheetMirror(place, clock, await place.open(), source, { logger, warnings });
    for (let index = 0; index < submissions; index++) mirror.submit(index);
    await mirror.pass('full');
    return mirror;
  }

  /** A submission `s<index>`, an hour later than the one before. */
  submit(index: number): void {
    this.store.insert({
      formId: FORM_ID,
      id: `s${index}`,
      createdAt: Date.UTC(2026, 1, 1, 8) + index * 3_600_000,
      status: ['NEW', 'DONE'][index % 2] ?? 'NEW',
      data: { field_name: `Person ${index}`, field_age: 20 + index },
    });
  }

  /** A pass, a minute after the one before. */
  async pass(
    kind: PassKind = 'incremental',
    restoreColumns = false,
    settings: StoringSettings = PICKS,
  ): Promise<PassReport> {
    this.clock.advance(60_000);
    const request = { formId: FORM_ID, kind, ...settings, restoreColumns, waitMs: 0 };
    return runPass(this.#context, this.target, request, new AbortController().signal);
  }

  verify(settings: StoringSettings = PICKS): Promise<VerifyReport> {
    const request = { formId: FORM_ID, ...settings };
    return verifyForm(this.#context, this.target, request, new AbortController().signal);
  }

  async overview(): Promise<FormOverview | undefined> {
    return (await this.target.overview())[0];
  }

  /** Somebody at the form's tab. */
  get person(): Person {
    return this.place.sandbox.people.at(this.place.spreadsheetId, 'Contact');
  }

  /** The form's tab, cell by cell. */
  grid(): unknown[][] {
    return this.place.sandbox.inspect.grid(this.place.spreadsheetId, 'Contact');
  }

  /** Where a submission stands on the form's tab, from 0; -1: nowhere. */
  placeOf(id: string): number {
    return this.grid().findIndex((cells) => cells.includes(id));
  }

  rowOf(id: string): unknown[] | undefined {
    return this.grid()[this.placeOf(id)];
  }

  /** Writes to the form's tab as a pass does, a minute after the one before. */
  async write<T>(work: (writer: FormWriter) => Promise<T>): Promise<T> {
    this.clock.advance(60_000);
    const form = { id: FORM_ID, slug: 'contact', name: 'Contact' };
    await using writer = await this.target.openWriter(form, { waitMs: 200_000 });
    return await work(writer);
  }

  /** The Mirror tab as people see it. */
  shown(): string[][] {
    return this.place.sandbox.inspect.shown(this.place.spreadsheetId, 'Mirror');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
    await this.#sandbox.stop();
    await this.place.dispose();
  }
}
