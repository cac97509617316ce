import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { Events } from '../../src/base/events.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { FormsClient } from '../../src/forms/client.ts';
import { parsePicks } from '../../src/mirror/picks.ts';
import type { Target } from '../../src/mirror/target.ts';
import type { PassKind } from '../../src/mirror/types.ts';
import type { HistoryKind } from '../../src/mirror/histories.ts';
import type { SandboxBehaviour } from '../../src/sandbox/forms-api/behaviour.ts';
import {
  type RequestInfo,
  type Sandbox,
  startSandbox,
} from '../../src/sandbox/forms-api/sandbox.ts';
import { FormsStore } from '../../src/sandbox/forms-api/store.ts';
import type { SubmissionDraft } from '../../src/sandbox/forms-api/submission-table.ts';
import type { SyncContext } from '../../src/sync/context.ts';
import type { MarkReport, PassReport } from '../../src/sync/events.ts';
import { LabelCache } from '../../src/sync/label-cache.ts';
import { markForm, type MarkRequest } from '../../src/sync/mark.ts';
import type { PassRequest } from '../../src/sync/pass-request.ts';
import { runPass } from '../../src/sync/run-pass.ts';
import type { WindowSizes } from '../../src/sync/window-sizes.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { verifyForm, type VerifyReport, type VerifyRequest } from '../../src/sync/verify.ts';
import { sqliteAsker } from './sqlite-asker.ts';
import { TableView } from './table-view.ts';
import { scratchFolder } from './scratch.ts';
import { TestClock } from './test-clock.ts';

/** The one form of a {@link SyncPlace}, and its one field. */
export const FORM = 'form-1';
export const FIELD = 'field_1_name';

/** What a place starts with. */
export interface SyncPlaceOptions {
  readonly behaviour?: Partial<SandboxBehaviour>;
  /** Submissions, a second apart. Default 0. */
  readonly submissions?: number;
  /** How large windows are; default as in the program. */
  readonly windowSizes?: WindowSizes;
  /** What targets keep of former versions; default as in the program. */
  readonly history?: HistoryKind;
  /** Opens a target to mirror into; default: a file of SQLite. */
  readonly openTarget?: (name: string, clock: Clock) => Promise<Target>;
}

/**
 * A stand-in Forms API with one form, and SQLite files to mirror it into, with the real client, passes and marking
 * between them. Every pass and marking has a memory of its own, as after a restart. Gone when the test has finished.
 */
export class SyncPlace {
  readonly store: FormsStore;
  sandbox!: Sandbox;
  /** Called before each request is served: the place to change the source. */
  onRequest: (request: RequestInfo) => void = () => {};
  /** Called with the events of each process that begins. */
  onEvents: (events: SyncContext['events']) => void = () => {};
  /** Called when a comparison has paused so long: what people and a worker did meanwhile. */
  onPause: (ms: number) => Promise<void> | void = () => {};
  readonly #folder = scratchFolder('sync');
  readonly clock = new TestClock(Date.UTC(2026, 5, 1));
  #now = Date.UTC(2026, 2, 1, 8);
  #windowSizes: WindowSizes | undefined;
  #history: HistoryKind | undefined;
  #openTarget: NonNullable<SyncPlaceOptions['openTarget']> = async (name, clock) =>
    openSqlite(name, this.file(name), clock, this.#history);

  private constructor() {
    this.store = new FormsStore({ seed: 7, clock: { now: () => this.#now } });
    this.store.addForm({ id: FORM, name: 'Contact', fields: [{ id: FIELD, label: 'Name' }] });
  }

  static async open(options: SyncPlaceOptions = {}): Promise<SyncPlace> {
    const place = new SyncPlace();
    place.#windowSizes = options.windowSizes;
    place.#history = options.history;
    place.#openTarget = options.openTarget ?? place.#openTarget;
    place.submitMany(options.submissions ?? 0);
    place.sandbox = await startSandbox({
      store: place.store,
      behaviour: options.behaviour ?? {},
      onRequest: (request) => place.onRequest(request),
    });
    onTestFinished(async () => {
      await place.sandbox.stop();
      rmSync(place.#folder, { recursive: true, force: true });
    });
    return place;
  }

  /** Somebody submits, a second after the one before; returns the ID. */
  submit(draft: Partial<SubmissionDraft> = {}): string {
    this.#now += 1_000;
    const data = { [FIELD]: `Žofie ${this.store.count(FORM)}` };
    return this.store.insert({ formId: FORM, data, createdAt: this.#now, ...draft }).id;
  }

  submitMany(count: number, draft: Partial<SubmissionDraft> = {}): string[] {
    return Array.from({ length: count }, () => this.submit(draft));
  }

  /** The source's time goes on, milliseconds. */
  wait(ms: number): void {
    this.#now += ms;
  }

  /** One pass; `target` names the file. */
  async pass(
    kind: PassKind,
    { target = 'a', ...wishes }: Partial<PassRequest> & { target?: string } = {},
  ): Promise<PassReport> {
    const base = { formId: FORM, kind, picks: parsePicks(['*']), hashKey: undefined, waitMs: 0 };
    return this.#process([target], (context, [opened]) =>
      runPass(context, opened!, { ...base, ...wishes }, new AbortController().signal),
    );
  }

  /** Takes what was replaced out of the files of the target. */
  async scrub(target = 'a'): Promise<void> {
    await this.#process([target], (_context, [opened]) => opened!.scrub());
  }

  /** One marking of NEW as DONE, for these targets. Rejects with the failure that it ended with. */
  async mark(
    wishes: Partial<MarkRequest> & { targets?: readonly string[] } = {},
  ): Promise<MarkReport> {
    const report = await this.tryMark(wishes);
    if (report.failure !== null) throw report.failure;
    return report;
  }

  /** One marking, however it ended. */
  async tryMark(
    wishes: Partial<MarkRequest> & { targets?: readonly string[] } = {},
  ): Promise<MarkReport> {
    const { targets = ['a'], ...more } = wishes;
    const request = { formId: FORM, markStatus: 'DONE', markFrom: ['NEW'], ...more };
    return this.#process(targets, (context, opened) =>
      markForm(context, opened, request, new AbortController().signal),
    );
  }

  /** One comparison. Time passes only while it pauses, and then {@link onPause} happens. */
  async verify(wishes: Partial<VerifyRequest> & { target?: string } = {}): Promise<VerifyReport> {
    const { target = 'a', ...more } = wishes;
    const request = { formId: FORM, picks: parsePicks(['*']), hashKey: undefined, ...more };
    return this.#process([target], (context, [opened]) => {
      const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
        await this.clock.sleep(ms, signal);
        await this.onPause(ms);
      };
      const clock = { now: () => this.clock.now(), sleep };
      return verifyForm({ ...context, clock }, opened!, request, new AbortController().signal);
    });
  }

  /** A look into a target's file from outside. */
  view(target = 'a'): TableView {
    return new TableView(sqliteAsker(this.file(target)));
  }

  /** IDs of the rows that are not marked deleted, sorted. */
  liveIds(target = 'a'): string[] {
    const rows = [...this.view(target).rows(FORM).values()];
    return rows
      .filter((row) => row._deleted_at === null)
      .map(({ id }) => id)
      .toSorted();
  }

  /** IDs of the submissions that the source has, sorted. */
  sourceIds(): string[] {
    return this.store.ids(FORM).toSorted();
  }

  file(target = 'a'): string {
    return join(this.#folder, `${target}.sqlite`);
  }

  /** How many requests were answered whose method and path match. */
  requests(method: string, path: RegExp): number {
    const all = this.sandbox.requests;
    return all.filter((request) => request.method === method && path.test(request.path)).length;
  }

  async #process<T>(
    names: readonly string[],
    work: (context: SyncContext, targets: Target[]) => Promise<T>,
  ): Promise<T> {
    const targets = await Promise.all(names.map((name) => this.#openTarget(name, this.clock)));
    await using client = new FormsClient({
      baseUrl: this.sandbox.url,
      apiKey: this.sandbox.apiKey,
      auth: 'bearer',
      concurrency: 4,
      clock: this.clock,
    });
    const context: SyncContext = {
      client,
      labels: new LabelCache(client, this.clock),
      clock: this.clock,
      logger: silentLogger,
      events: new Events(),
      maxDeleteFraction: 0.2,
      readAhead: 4,
      ...(this.#windowSizes !== undefined && { windowSizes: this.#windowSizes }),
    };
    this.onEvents(context.events);
    try {
      return await work(context, targets);
    } finally {
      await Promise.all(targets.map((target) => target[Symbol.asyncDispose]()));
    }
  }
}
