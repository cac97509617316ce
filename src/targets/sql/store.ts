import { isDeepStrictEqual } from 'node:util';
import { MirrorError } from '../../base/errors.ts';
import { formTableName } from '../../mirror/column-names.ts';
import { FORGET_AGAIN } from '../../mirror/forgotten.ts';
import type {
  CheckResult,
  FormSnapshot,
  OpenForm,
  ReadForm,
  Store,
  StoredForm,
  StoredRecord,
} from '../../mirror/port.ts';
import type { FormIdentity } from '../../mirror/types.ts';
import {
  distrust,
  type FormState,
  liveRows,
  newFormState,
  type Tally,
  withdrawClaims,
} from '../../mirror/form-state.ts';
import type { Database } from './database.ts';
import {
  change,
  columnsOf,
  columnsOfEach,
  insert,
  relationsOf,
  type Session,
  type SqlField,
  textOf,
} from './dialect.ts';
import { ownColumns } from './fields.ts';
import { SqlForm, type SqlStoreOptions } from './form.ts';
import { formSnapshot } from './snapshot.ts';
import { isViewOf, readMade, ViewKeeper, viewNotices } from './relations.ts';
import { newestRuns } from './runs.ts';
import {
  createTable,
  ensureSchema,
  formRecords,
  readRecord,
  readSchema,
  scrub,
  writeRecord,
} from './schema.ts';
import { countTally, stateWithRows } from './tally.ts';

/** Names that the mirror's own relations have or may get. */
const OURS = ['submissions', 'answers', 'freshness'];

/** A target in a SQL database. */
export class SqlStore implements Store {
  readonly #database: Database;
  readonly #options: SqlStoreOptions;
  readonly #views: ViewKeeper;

  /** What this process last found. */
  #schema: Awaited<ReturnType<typeof readSchema>> = 'none';
  /** This process has made the missing tables. */
  #isPrepared = false;

  /** Reads only; the first write creates the mirror's tables. */
  constructor(database: Database, options: SqlStoreOptions) {
    [this.#database, this.#options] = [database, options];
    this.#views = new ViewKeeper(database, options.clock, options.history);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#database[Symbol.asyncDispose]();
  }

  async check(): Promise<CheckResult[]> {
    const database = this.#database;
    await database.make();
    const { dialect } = database;
    const [row] = await database.query(`SELECT ${dialect.version} AS version`);
    const isOurs = (await this.#look()) !== 'none';
    const table = '_mirror_check';
    await database.transaction(async (tx) => {
      await dialect.alone(tx);
      // An earlier trial may have failed, in a database that commits with CREATE TABLE.
      await tx.run(`DROP TABLE IF EXISTS ${table}`);
      await tx.run(`CREATE TABLE ${table} (id ${dialect.types.key} PRIMARY KEY)`);
      await change(tx, `INSERT INTO ${table} (id) VALUES ($1)`, ['check']);
      await tx.run(`DROP TABLE ${table}`);
      const view = `${table}_view`;
      await dialect.putView(tx, view, 'SELECT 1 AS n');
      await tx.run(`DROP VIEW ${view}`);
      await dialect.staging.make(tx, `id ${dialect.types.id}`);
    });
    const answers = `${dialect.product} ${textOf(row?.['version'])} answers, and tables can be created there`;
    const what = isOurs ? answers : `${answers}; it holds no form yet`;
    return [{ what, isOk: true, remedy: null }];
  }

  forms(runs = 0): Promise<StoredForm[]> {
    return this.#reading([], async () => {
      const database = this.#database;
      const forms: StoredForm[] = [];
      const held = await formRecords(database);
      const ids = held.map(({ state }) => state.formId);
      const runsById = await newestRuns(database, ids, runs);
      const places = held.map(({ state }) => state.place);
      const columnsIn = await columnsOfEach(database, places);
      const made = await readMade(database);
      this.#views.note(made);
      // The last one that was written: it gets runs.
      const [last] = held.map(({ state }) => state).toSorted((a, b) => b.commitUs - a.commitUs);
      for (const { state: kept, fields } of held) {
        const { formId, place } = kept;
        const isMeant = (view: string): boolean =>
          isViewOf(place)(view) || (kept === last && !places.some((each) => isViewOf(each)(view)));
        const known = {
          fields,
          runs: runsById.get(formId) ?? [],
          notices: viewNotices(made, isMeant),
          location: `table ${place}, view ${place}_labelled`,
          place: { table: place },
        };
        const columns = columnsIn.get(place) ?? new Set();
        const isThere = columns.size > 0;
        try {
          const { state, rows } = isThere
            ? await stateWithRows(database, kept)
            : { state: kept, rows: {} };
          const losses = lossesOf(state, { isThere, columns, fields, rows });
          // The next run that opens the form reports the losses and reads the rows again.
          forms.push({ ...known, state: losses.length === 0 ? state : distrust(state), losses });
        } catch (error) {
          const failure = unlessLost(place, error);
          forms.push({ ...known, state: withdrawClaims(kept), losses: [], failure });
        }
      }
      return forms;
    });
  }

  states(): Promise<readonly Pick<StoredForm, 'state' | 'fields'>[]> {
    return this.#reading([], () => formRecords(this.#database));
  }

  async snapshot(formId: string): Promise<FormSnapshot | null> {
    return this.#reading(null, () => formSnapshot(this.#database, formId));
  }

  record(key: string): Promise<StoredRecord | null> {
    return this.#reading(null, () => readRecord(this.#database, key));
  }

  async putRecord(key: string, value: unknown, revision: number | null): Promise<boolean> {
    await this.#make();
    const database = this.#database;
    if (revision === null)
      return database.transaction(async (tx) => {
        // Not by the key: a database that does not enforce keys would store it twice.
        await database.dialect.alone(tx);
        if ((await readRecord(tx, key)) !== null) return false;
        await writeRecord(tx, key, value);
        return true;
      });
    const changed = await database.run(
      'UPDATE _mirror_records SET revision = revision + 1, value = $1 WHERE name = $2 AND revision = $3',
      [JSON.stringify(value), key, revision],
    );
    return changed === 1;
  }

  /**
   * Creates missing tables of the mirror, and views that people dropped or a killed run did not make; removes from the files what
   * an erasure that was killed left there.
   */
  async #make(): Promise<void> {
    const database = this.#database;
    const before = await this.#look();
    if (before === 'erased') {
      const held = await formRecords(database);
      await scrub(
        database,
        held.map(({ state }) => state.place),
      );
    }
    if (before !== 'none' && this.#isPrepared) return;
    if (before === 'none') {
      await database.make();
      await ensureSchema(database);
    }
    await this.#views.make();
    this.#isPrepared = true;
  }

  async #look(): Promise<'none' | 'ours' | 'erased'> {
    this.#schema = (await this.#database.isThere()) ? await readSchema(this.#database) : 'none';
    return this.#schema;
  }

  /** Reads; `none` if the mirror's tables do not exist. */
  async #reading<T>(none: T, read: () => Promise<T>): Promise<T> {
    if (this.#schema === 'none' && (await this.#look()) === 'none') return none;
    try {
      return await read();
    } catch (error) {
      // A person may have dropped them while this process has the target open.
      if ((await this.#look()) === 'none') return none;
      throw error;
    }
  }

  read(formId: string): Promise<ReadForm | null> {
    return this.#reading(null, async () => {
      const database = this.#database;
      const [form] = await formRecords(database, formId);
      if (form === undefined) return null;
      const columns = await columnsOf(database, form.state.place);
      const views = this.#views;
      const found = { ...form, columns, isNew: false, losses: [], lease: null, views };
      return new SqlForm(database, this.#options, found);
    });
  }

  async open(identity: FormIdentity): Promise<OpenForm> {
    const database = this.#database;
    await this.#make();
    const lock = await database.lock(identity.id);
    if (lock === null)
      throw new MirrorError(
        'TARGET_BUSY',
        `Another run is writing to form ${identity.slug} in target ${this.#options.name}.`,
      );
    const lease = new AsyncDisposableStack();
    lease.defer(this.#views.begin());
    lease.use(lock);
    try {
      return await database.transaction((tx) => this.#openIn(tx, identity, lease));
    } catch (error) {
      await lease[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #openIn(tx: Session, identity: FormIdentity, lease: AsyncDisposable): Promise<OpenForm> {
    const { id, slug, name } = identity;
    const [known] = await formRecords(tx, id);
    // Keeps other processes from taking the name before it is chosen.
    if (known === undefined) await tx.dialect.alone(tx);
    const form = known ?? {
      revision: 0,
      state: newFormState({ formId: id, slug, name, place: await this.#place(tx, identity) }),
      fields: [],
    };
    const { fields } = form;
    const before = { ...form.state, slug, name };
    let columns = await columnsOf(tx, before.place);
    const isThere = columns.size > 0;
    // Before the table, for a database that commits with it: a table without a record would count as a loss.
    if (known === undefined) {
      const row = { form_id: id, revision: 0, state: JSON.stringify(before), fields: '[]' };
      await insert(tx, '_mirror_state', [row]);
    }
    if (!isThere) {
      await createTable(tx, before.place);
      columns = await columnsOf(tx, before.place);
    }
    const tally = await countTally(tx, before);
    // A person who has dropped the table has decided.
    if (isThere && tally.forgotten < before.tally.forgotten)
      throw stateLost(this.#options.name, slug);
    const losses = lossesOf(before, { isThere, columns, fields, rows: tally.rows });
    const counted: FormState = { ...before, tally };
    const isLost = losses.length > 0;
    const state = isLost ? distrust(counted) : counted;
    if (isLost || !isThere) await this.#views.doubt(tx, id);
    let { revision } = form;
    // In the transaction that counts the remaining rows: no later run would notice the loss.
    if (!isDeepStrictEqual(state, form.state)) {
      const sql = 'UPDATE _mirror_state SET revision = $1, state = $2 WHERE form_id = $3';
      await change(tx, sql, [++revision, JSON.stringify(state), id]);
    }
    const views = this.#views;
    const found = { state, fields, columns, revision, isNew: !isThere, losses, lease, views };
    return new SqlForm(this.#database, this.#options, found);
  }

  /** A free name for the table of a new form. Throws if a form's table exists without a record. */
  async #place(tx: Session, form: FormIdentity): Promise<string> {
    const relations = await relationsOf(tx);
    const taken = new Set([...OURS, ...relations.keys()].map((each) => each.toLowerCase()));
    const places = new Set((await formRecords(tx)).map(({ state: { place } }) => place));
    for (const place of places) taken.add(place);
    const wanted = formTableName(form, new Set(OURS));
    // Not a view, which would belong to another form.
    const isTable = relations.get(wanted) === 'table';
    const columns = isTable ? await columnsOf(tx, wanted) : new Set<string>();
    const isForm = ['id', 'status', '_changed_at', '_deleted_at'].every((each) =>
      columns.has(each),
    );
    if (isForm && !places.has(wanted)) throw stateLost(this.#options.name, form.slug);
    return formTableName(form, taken);
  }
}

/** The error if rows exist without their records: erased submissions might come back. */
const stateLost = (target: string, slug: string): MirrorError =>
  new MirrorError(
    'TARGET_FAILED',
    `Target ${target} has rows of form ${slug}, but its own tables (_mirror_…) are lost or incomplete, possibly with the list ` +
      'of forgotten submissions. Nothing is written there. Restore them from a backup, or drop the table of the form to copy it again. ' +
      FORGET_AGAIN,
    { retryable: false },
  );

/** The failure of one form, whose table is locked or was changed: the others can be read (L12). Throws if the server is lost. */
function unlessLost(table: string, error: unknown): MirrorError {
  if (!(error instanceof MirrorError) || error.code === 'TARGET_UNREACHABLE') throw error;
  return new MirrorError(error.code, `The table ${table} cannot be read. ${error.message}`);
}

/** What people removed or changed, one sentence each. */
function lossesOf(
  before: FormState,
  now: {
    readonly isThere: boolean;
    readonly columns: ReadonlySet<string>;
    readonly fields: readonly SqlField[];
    readonly rows: Tally['rows'];
  },
): string[] {
  const { place, tally } = before;
  const missing = `The table ${place} is missing; it is filled again, without submissions that the source has deleted.`;
  if (!now.isThere) return liveRows(tally) + tally.deleted > 0 ? [missing] : [];
  const lost = now.fields
    .flatMap((field) => ownColumns(field))
    .filter((name) => !now.columns.has(name))
    .map((name) => `The column ${name} of ${place} is missing; it is added and filled.`);
  return isDeepStrictEqual(now.rows, tally.rows)
    ? lost
    : [...lost, `Rows of ${place} were removed, added or changed; they are read again.`];
}
