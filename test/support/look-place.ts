import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { App } from '../../src/app.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { SandboxBehaviour } from '../../src/sandbox/forms-api/behaviour.ts';
import {
  type RequestInfo,
  type Sandbox,
  startSandbox,
} from '../../src/sandbox/forms-api/sandbox.ts';
import { FormsStore } from '../../src/sandbox/forms-api/store.ts';
import type { Environment } from '../../src/settings/variables.ts';
import type { PassReport } from '../../src/sync/events.ts';
import type { LookReport } from '../../src/sync/look.ts';
import { sqliteAsker } from './sqlite-asker.ts';
import { TableView } from './table-view.ts';
import { scratchFolder } from './scratch.ts';
import { load } from './settings.ts';

/** What a {@link LookPlace} starts with. */
export interface LookPlaceOptions {
  /** Default 6, called `f0` and so on, with one field `name` each. */
  readonly forms?: number;
  /** Submissions of each form. Default 12. */
  readonly each?: number;
  /** Default: one target, of every form and field. */
  readonly env?: Environment;
  readonly behaviour?: Partial<SandboxBehaviour>;
}

/** What a tick did. */
export interface Tick {
  readonly look: LookReport;
  /** Forms that were visited, as `form → target`, and with `!` those whose counts were compared. */
  readonly visited: readonly string[];
  readonly passes: readonly PassReport[];
  /** Forms that were marked. */
  readonly marked: readonly string[];
  /** All requests, that for the list of forms included. */
  readonly requests: number;
}

/**
 * A stand-in Forms API with several forms, and SQLite files to mirror them into. Every tick is a process of its own, as
 * after a restart. Gone when the test has finished.
 */
export class LookPlace {
  readonly store: FormsStore;
  sandbox!: Sandbox;
  env: Environment = {};
  /** Called before each request is served: the place to change the source. */
  onRequest: (request: RequestInfo) => void = () => {};
  readonly folder = scratchFolder('look');
  #now = Date.UTC(2026, 2, 1, 8);

  private constructor() {
    this.store = new FormsStore({ seed: 7, clock: { now: () => this.#now } });
  }

  static async open(options: LookPlaceOptions = {}): Promise<LookPlace> {
    const { forms = 6, each = 12, behaviour = {}, env = {} } = options;
    const place = new LookPlace();
    for (let n = 0; n < forms; n++) place.addForm(`f${n}`);
    for (let n = 0; n < each; n++) {
      for (let form = 0; form < forms; form++) place.submit(`f${form}`);
    }
    place.sandbox = await startSandbox({
      store: place.store,
      behaviour,
      onRequest: (request) => place.onRequest(request),
    });
    onTestFinished(async () => {
      await place.sandbox.stop();
      rmSync(place.folder, { recursive: true, force: true });
    });
    place.env = {
      FORMS_API_URL: place.sandbox.url,
      FORMS_API_KEY: place.sandbox.apiKey,
      TARGET_FIELDS: '*',
      DATA_DIR: place.folder,
      ...(env['TARGETS'] === undefined && { TARGET_URL: place.url('default') }),
      ...env,
    };
    return place;
  }

  url(target: string): string {
    return `sqlite:${join(this.folder, `${target}.sqlite`)}`;
  }

  /** Settings of two targets, `a` and `b`. */
  two(): Environment {
    return { TARGETS: 'a,b', TARGET_A_URL: this.url('a'), TARGET_B_URL: this.url('b') };
  }

  addForm(id: string): void {
    const field = { id: `field_1_${id}`, label: 'Name' };
    this.store.addForm({ id, name: `Form ${id}`, slug: id, fields: [field] });
  }

  /** Somebody submits, a second after the one before; returns the ID. */
  submit(formId: string, status = 'NEW'): string {
    this.#now += 1_000;
    const data = { [`field_1_${formId}`]: `Žofie ${this.#now}` };
    return this.store.insert({ formId, data, status, createdAt: this.#now }).id;
  }

  /** The oldest submission of a form. */
  oldest(formId: string): string {
    return this.store.ids(formId)[0] ?? '';
  }

  /** A process that does what a tick does: plan, look, the passes that are needed, and marking. */
  async tick(env: Environment = {}, targets?: readonly string[]): Promise<Tick> {
    await using app = this.process(env);
    return await this.tickOf(app, targets);
  }

  /** A process that lives on. */
  process(env: Environment = {}, clock: Clock = systemClock): App {
    return new App(load({ ...this.env, ...env }), { clock, logger: silentLogger });
  }

  /** A tick of a process, as of a worker. */
  async tickOf(app: App, targets?: readonly string[]): Promise<Tick> {
    const { signal } = new AbortController();
    const before = this.sandbox.requests.length;
    const plan = await app.plan(signal, { waitForTargets: true, inTurn: true });
    const forms = plan.forms.map((each) => ({
      form: each.form,
      listed: each.listed,
      targets: each.targets.filter((name) => targets?.includes(name) ?? true),
    }));
    const look = await app.look(forms, signal);
    const [passes, visited, marked]: [PassReport[], string[], string[]] = [[], [], []];
    for (const { form, visits, mark } of look.forms) {
      for (const { target, compareCounts } of visits) {
        const job = { formId: form.id, target, kind: 'incremental', compareCounts } as const;
        passes.push(await app.pass(job, signal));
        visited.push(`${form.id} → ${target}${compareCounts ? ' !' : ''}`);
      }
      if (!mark && visits.length === 0) continue;
      const report = await app.mark(form.id, signal);
      if (report !== undefined) marked.push(form.id);
    }
    const requests = this.sandbox.requests.length - before;
    return { look, visited, passes, marked, requests };
  }

  /** Ticks until nothing needs a visit, three times at most. */
  async settle(env: Environment = {}): Promise<void> {
    for (let n = 0; n < 3; n++) if ((await this.tick(env)).visited.length === 0) return;
  }

  /** What somebody does to a target by hand. */
  sql(statement: string, target = 'default'): void {
    using database = new DatabaseSync(join(this.folder, `${target}.sqlite`));
    database.exec(statement);
  }

  /** A form's rows in a target, as one text: another one after any change. */
  rows(target: string, formId: string): string {
    const view = new TableView(sqliteAsker(join(this.folder, `${target}.sqlite`)));
    return JSON.stringify([...view.rows(formId)]);
  }

  /** What of these forms is not in a target as it is at the source: IDs, with their forms. */
  differences(target = 'default', forms = this.store.forms().map(({ id }) => id)): string[] {
    const view = new TableView(sqliteAsker(join(this.folder, `${target}.sqlite`)));
    return forms.flatMap((formId) => {
      const live = new Map(
        [...view.rows(formId).values()]
          .filter((row) => row._deleted_at === null)
          .map(({ id, status }) => [id, status]),
      );
      const source = new Map([...this.store.all(formId)].map(({ id, status }) => [id, status]));
      return [...new Set([...live.keys(), ...source.keys()])]
        .filter((id) => live.get(id) !== source.get(id))
        .map((id) => `${formId} ${id}`);
    });
  }
}
