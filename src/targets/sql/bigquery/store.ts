import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import { MirrorError, toMirrorError } from '../../../base/errors.ts';
import { otherSchema } from '../../../base/other-schema.ts';
import { BatchedReads } from './batched-reads.ts';
import { BigQueryError } from './bigquery-errors.ts';
import type { BigQueryJobs, JobResult, OpenResult } from './bigquery-jobs.ts';
import type { ResultRow } from './bigquery-values.ts';
import {
  CATALOGUE_KEY,
  CATALOGUE_TABLES,
  CATALOGUE_VERSION,
  catalogueViews,
  PAUSES_KEY,
  STATE,
} from './catalogue-shapes.ts';
import { type FormState, stateFrom } from './form-state.ts';
import { literal, listParameter, relationsOf, type Statement, textParameter } from './sql-text.ts';

/** Of a script that found the form to be another writer's: ASSERT has no other way to tell. */
const LOST = /forms_mirror_lost_lock/;

/** What keeps scripts of a target that commit in turn: two transactions over one table would conflict. */
const turns = new WeakMap<BigQueryJobs, Promise<unknown>>();

/** A dataset: runs statements in it, makes its catalogue, and reads the rows of `mirror_state`. */
export class Store {
  readonly jobs: BigQueryJobs;
  readonly clock: Clock;
  /** The target, for messages. */
  readonly place: string;
  /** A table or view as SQL names it. */
  readonly relation: (name: string) => string;

  readonly #counted: Pick<BigQueryJobs, 'run' | 'open'>;
  readonly #isWriter: boolean;
  /** What rows of the table of states hold, by key. */
  readonly #texts = new BatchedReads({
    some: (keys) =>
      this.#readTexts({
        sql: `SELECT form_id, state FROM ${this.relation(STATE)} WHERE form_id IN UNNEST(@keys)`,
        parameters: { keys: listParameter([...keys, CATALOGUE_KEY]) },
      }),
    // Always the same words, without parameters: where nothing was written since, BigQuery has the answer, and bills nothing.
    all: () =>
      this.#readTexts({
        sql: `SELECT form_id, state FROM ${this.relation(STATE)}`,
        parameters: {},
      }),
  });

  /** `counted`: what runs the jobs of a writer, which are counted apart; only for a writer what people dropped is made anew. */
  constructor(
    jobs: BigQueryJobs,
    clock: Clock,
    place: string,
    counted?: Pick<BigQueryJobs, 'run' | 'open'>,
  ) {
    this.jobs = jobs;
    this.#counted = counted ?? jobs;
    this.#isWriter = counted !== undefined;
    this.clock = clock;
    this.place = place;
    this.relation = relationsOf(jobs);
  }

  /** A table or view as people name it. */
  shownRelation = (name: string): string => `${this.jobs.dataset}.${name}`;

  /** Reads. */
  async query(
    { sql, parameters }: Pick<Statement, 'sql' | 'parameters'>,
    signal?: AbortSignal,
  ): Promise<readonly ResultRow[]> {
    const read = () => this.#counted.run(sql, parameters, { signal });
    return (await this.#healed(read)).rows;
  }

  /** Reads page by page what memory may not hold, as it is at this instant (L14). */
  async open(
    { sql, parameters }: Pick<Statement, 'sql' | 'parameters'>,
    pageRows?: number,
  ): Promise<OpenResult> {
    const how = pageRows === undefined ? {} : { pageRows };
    return this.#healed(() => this.#counted.open(sql, parameters, how));
  }

  /** Reads; none where what is read was never made, or is not there any more. */
  async queryHeld(statement: Pick<Statement, 'sql' | 'parameters'>): Promise<readonly ResultRow[]> {
    return this.query(statement).catch((error: unknown) => {
      if (isAbsent(error)) return [];
      throw error;
    });
  }

  /** Runs a script, after those of this target that came before it. */
  async change(
    sql: string,
    parameters: Statement['parameters'],
    mutates: readonly string[],
    signal?: AbortSignal,
  ): Promise<JobResult> {
    const before = turns.get(this.jobs) ?? Promise.resolve();
    const run = () => this.#counted.run(sql, parameters, { mutates, signal });
    const turn = before.then(() => this.#healed(run));
    turns.set(
      this.jobs,
      turn.catch(() => {}),
    );
    return turn;
  }

  /** Makes what people dropped of the catalogue anew for a writer, and goes on. What was in it counts as lost where it is counted. */
  async #healed<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BigQueryError) || error.fault !== 'absent') throw error;
      const lost = CATALOGUE_TABLES.filter(
        ({ name }) => name !== STATE && error.says(new RegExp(`\\b${name}\\b`)),
      );
      const [first] = lost;
      if (first === undefined) throw error;
      // A command that only reads makes nothing.
      if (!this.#isWriter)
        throw new BigQueryError('absent', 'TARGET_FAILED', [
          `The table ${this.shownRelation(first.name)} is gone.`,
          'The next pass makes it again.',
        ]);
      for (const shape of lost) await this.jobs.createTable(shape);
      return work();
    }
  }

  async #readTexts(
    statement: Pick<Statement, 'sql' | 'parameters'>,
  ): Promise<ReadonlyMap<string, string | null>> {
    const rows = await this.queryHeld(statement);
    this.requireSchema(rows);
    return new Map(rows.map((row) => [row['form_id'] ?? '', row['state'] ?? null]));
  }

  /** Throws OTHER_SCHEMA where the row of the catalogue is among these rows of the table of states, and another build wrote it. */
  requireSchema(rows: readonly ResultRow[]): void {
    const row = rows.find((one) => one['form_id'] === CATALOGUE_KEY);
    if (row === undefined || row['state'] === String(CATALOGUE_VERSION)) return;
    throw otherSchema({
      store: `${this.place}: the mirror in the dataset ${this.jobs.dataset}`,
      found: row['state'],
      needed: CATALOGUE_VERSION,
      elsewhere: 'choose another dataset in the target URL',
    });
  }

  /** The state of a form; undefined where it has none. Throws TARGET_FAILED where people damaged it. */
  async readState(formId: string): Promise<FormState | undefined> {
    const text = await this.#texts.get(formId);
    return text === undefined ? undefined : this.stateOf(formId, text);
  }

  /**
   * What is kept of all forms, by their IDs, those without a table included: one statement, also for the pauses and states that
   * are asked for at the same moment.
   */
  async readForms(): Promise<ReadonlyMap<string, string | null>> {
    const texts = await this.#texts.all();
    return new Map([...texts].filter(([key]) => !key.startsWith('#')));
  }

  /** What such a row holds. */
  stateOf(formId: string, text: string | null): FormState | undefined {
    if (text === null) return undefined;
    const state = stateFrom(text);
    if (state !== undefined) return state;
    throw new MirrorError(
      'TARGET_FAILED',
      `${this.place}: what ${this.shownRelation(STATE)} keeps of form ${formId} can't be read: somebody changed it. ` +
        'Restore the row (FOR SYSTEM_TIME AS OF shows it as it was), or delete it with the table of the form: the next pass then begins anew.',
      { retryable: false },
    );
  }

  /** Makes the dataset and what is missing of its catalogue. Harmless when repeated. */
  async makeCatalogue(): Promise<void> {
    const { jobs } = this;
    await jobs.ensureDataset();
    for (const shape of CATALOGUE_TABLES) await jobs.createTable(shape);
    for (const { name, sql, description } of catalogueViews(this.relation))
      await jobs.saveView(name, sql, description, {});
    const keys = [CATALOGUE_KEY, PAUSES_KEY];
    const state = this.relation(STATE);
    await this.change(
      `INSERT INTO ${state} (form_id, epoch, commit_number, state)
       SELECT k, 0, 0, IF(k = ${literal(CATALOGUE_KEY)}, ${literal(String(CATALOGUE_VERSION))}, '{}') FROM UNNEST(@keys) AS k
       WHERE k NOT IN (SELECT form_id FROM ${state})`,
      { keys: listParameter(keys) },
      [STATE],
    );
  }

  /** Changes the text of a row that is no form's; makes the catalogue first where there is none. */
  async changeText(
    key: string,
    change: (text: string | null) => string | undefined,
  ): Promise<void> {
    for (let tries = 1; ; tries++) {
      const rows = await this.queryHeld({
        sql: `SELECT form_id, state, commit_number FROM ${this.relation(STATE)} WHERE form_id IN (@key, '${CATALOGUE_KEY}')`,
        parameters: { key: textParameter(key) },
      });
      this.requireSchema(rows);
      const row = rows.find((one) => one['form_id'] === key);
      if (row === undefined) {
        await this.makeCatalogue();
        continue;
      }
      const text = change(row['state'] ?? null);
      if (text === undefined) return;
      const holder = randomUUID();
      const number = Number(row['commit_number']);
      // The holder tells this change from another one of the same number.
      const { rows: changed } = await this.change(
        `UPDATE ${this.relation(STATE)} SET state = @state, holder = @holder, commit_number = commit_number + 1
         WHERE form_id = @key AND commit_number = ${number};
         SELECT holder FROM ${this.relation(STATE)} WHERE form_id = @key`,
        { state: textParameter(text), holder: textParameter(holder), key: textParameter(key) },
        [STATE],
      );
      if (changed[0]?.['holder'] === holder) return;
      if (tries >= MOST_TRIES) throw busyText(this.place);
    }
  }

  /** The text of a row that is no form's; null where there is none. */
  async readText(key: string): Promise<string | null> {
    return (await this.#texts.get(key)) ?? null;
  }

  /** Any error as a MirrorError that names the target. */
  async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BigQueryError)) throw toMirrorError(error);
      throw new MirrorError(error.code, `${this.place}: ${error.what} ${error.remedy}`, {
        cause: error,
        retryable: error.retryable,
      });
    }
  }
}

/** Several at once may each be the first. */
const MOST_TRIES = 20;

const busyText = (place: string): MirrorError =>
  new MirrorError(
    'TARGET_BUSY',
    `${place}: other processes are changing the same there all the time. Try again in a moment.`,
  );

/** Whether a dataset, table or view was not there. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof BigQueryError && error.fault === 'absent';

/** Whether a script found that another writer holds the form. */
export const isLostLock = (error: unknown): boolean =>
  error instanceof BigQueryError && error.says(LOST);
