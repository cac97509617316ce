import { MirrorError } from '../../base/errors.ts';
import type { StoredRecord } from '../../mirror/port.ts';
import type { FormState } from '../../mirror/form-state.ts';
import type { Database } from './database.ts';
import {
  type BatchColumn,
  columnsOfEach,
  insert,
  quoted,
  type Session,
  type SqlField,
  type SqlRow,
  textOf,
} from './dialect.ts';
import { RUN_COUNTS } from './runs.ts';

/* The mirror's own tables, which begin with `_mirror_`, and the tables of forms. */

/** Raise it with every change of the stored shape: a target of another schema is not touched. */
const SCHEMA = '13';
/** Records: that schema, and a mark that an erasure makes. */
const [VERSION, SCRUB] = ['schema', 'scrub'];

/** Creates the tables if they are missing. Throws OTHER_SCHEMA for a target that another build wrote. */
export async function ensureSchema(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    const { dialect } = tx;
    await dialect.alone(tx);
    const { time, integer, key, id, word, text } = dialect.types;
    for (const table of [
      `_mirror_state (form_id ${key} PRIMARY KEY, revision ${integer} NOT NULL, state ${text} NOT NULL, fields ${text} NOT NULL)`,
      `_mirror_entries (form_id ${key}, kind ${word}, id ${id}, status ${text}, created_at ${time}, reason ${text} NOT NULL,
        first_seen_at ${time} NOT NULL, last_seen_at ${time} NOT NULL, PRIMARY KEY (form_id, kind, id))`,
      `_mirror_versions (form_id ${key}, submission_id ${id}, since ${time}, until ${time}, not_before ${time}, status ${text} NOT NULL,
        created_at ${time}, deleted_at ${time}, answers ${text}, PRIMARY KEY (form_id, submission_id, until))`,
      `_mirror_runs (form_id ${key}, started_at ${time}, ended_at ${time} NOT NULL, outcome ${text} NOT NULL, code ${text}, error ${text},
        ${RUN_COUNTS.map((name) => `${name} ${integer} NOT NULL`).join(', ')}, is_whole ${integer} NOT NULL, PRIMARY KEY (form_id, started_at))`,
      `_mirror_records (name ${key} PRIMARY KEY, revision ${integer} NOT NULL, value ${text} NOT NULL)`,
    ])
      await tx.run(`CREATE TABLE IF NOT EXISTS ${table}`);
    await writeRecord(tx, VERSION, SCHEMA);
    if ((await readRecord(tx, VERSION))?.value !== SCHEMA) throw otherSchema(database);
  });
}

/**
 * What is stored: `none` unless all our tables are there; `erased` if an erasure was killed, so that its bytes may still be in the
 * files. Throws OTHER_SCHEMA for a target that another build wrote.
 */
export async function readSchema(database: Database): Promise<'none' | 'ours' | 'erased'> {
  const columns = await columnsOfEach(database, TABLES);
  const isThere = (table: string): boolean => (columns.get(table)?.size ?? 0) > 0;
  if (!isThere(RECORDS)) return 'none';
  const rows = await database.query(
    `SELECT name, value FROM _mirror_records WHERE name IN ('${VERSION}', '${SCRUB}')`,
  );
  const found = new Map(rows.map(({ name, value }) => [textOf(name), JSON.parse(textOf(value))]));
  if (!found.has(VERSION)) return 'none';
  if (found.get(VERSION) !== SCHEMA) throw otherSchema(database);
  if (!TABLES.every(isThere)) return 'none';
  return found.has(SCRUB) ? 'erased' : 'ours';
}

const RECORDS = '_mirror_records';
/** The mirror's own tables. */
const TABLES = ['_mirror_state', '_mirror_entries', '_mirror_versions', '_mirror_runs', RECORDS];

/** Has an erasure's bytes removed from the files, also if its process is killed after this transaction. */
export const scrubLater = (tx: Session): Promise<void> => writeRecord(tx, SCRUB, 'due');

/** Removes the bytes of erasures from the files. `places`: the tables of the forms concerned. */
export async function scrub(database: Database, places: readonly string[]): Promise<void> {
  await database.scrub([...places, ...TABLES]);
  await database.run('DELETE FROM _mirror_records WHERE name = $1', [SCRUB]);
}

const otherSchema = ({ place }: Database): MirrorError =>
  new MirrorError(
    'OTHER_SCHEMA',
    `${place}: the tables there were written by another build of forms-mirror. Choose another place, or delete the tables that begin with _mirror_ and those of the forms, and run again.`,
  );

/** A record that belongs to no form, and its revision; null if there is none. */
export async function readRecord(session: Session, name: string): Promise<StoredRecord | null> {
  const [row] = await session.query('SELECT revision, value FROM _mirror_records WHERE name = $1', [
    name,
  ]);
  if (row === undefined) return null;
  return { value: JSON.parse(textOf(row['value'])), revision: Number(row['revision']) };
}

/** Writes a record of ours. An existing one stays, unless it is replaced. */
export function writeRecord(
  tx: Session,
  name: string,
  value: unknown,
  isReplaced = false,
): Promise<void> {
  const record = { name, revision: 1, value: JSON.stringify(value) };
  return insert(tx, '_mirror_records', [record], ['name'], isReplaced ? ['value'] : []);
}

/** Creates the table of a form, with these columns for answers. */
export async function createTable(
  tx: Session,
  table: string,
  columns: readonly BatchColumn[] = [],
): Promise<void> {
  const { time, id } = tx.dialect.types;
  const answers = columns.map((column) => `, ${definitionOf(tx, column)}`);
  const definitions = `id ${id} PRIMARY KEY NOT NULL, status ${id} NOT NULL, created_at ${time},
     _first_seen_at ${time} NOT NULL, _changed_at ${time} NOT NULL, _deleted_at ${time}${answers.join('')}`;
  for (const sql of tx.dialect.formTable(table, definitions)) await tx.run(sql);
}

const definitionOf = (tx: Session, { name, type }: BatchColumn): string =>
  `${quoted(name)} ${tx.dialect.types[type]}`;

/**
 * Adds columns to the table of a form. `isUnused`: it has no rows and no other answer columns, so SQLite may create it again: for each
 * column that is added, it would read its whole schema.
 */
export async function addColumns(
  tx: Session,
  table: string,
  columns: readonly BatchColumn[],
  isUnused: boolean,
): Promise<void> {
  const { addsOneColumn = false } = tx.dialect;
  if (addsOneColumn && isUnused) {
    await tx.run(`DROP TABLE ${quoted(table)}`);
    return createTable(tx, table, columns);
  }
  const added = columns.map((column) => `ADD COLUMN ${definitionOf(tx, column)}`);
  for (const each of addsOneColumn ? added : [added.join(', ')])
    await tx.run(`ALTER TABLE ${quoted(table)} ${each}`);
}

/** A form, as its last commit left it. */
export interface FormRecord {
  readonly revision: number;
  readonly state: FormState;
  readonly fields: readonly SqlField[];
}

/** All forms, or the one with this ID. */
export async function formRecords(session: Session, formId?: string): Promise<FormRecord[]> {
  const select = 'SELECT revision, state, fields FROM _mirror_state';
  const rows = await (formId === undefined
    ? session.query(`${select} ORDER BY form_id`)
    : session.query(`${select} WHERE form_id = $1`, [formId]));
  return rows.map((row) => ({
    revision: Number(row['revision']),
    state: stateOf(row),
    fields: JSON.parse(textOf(row['fields'])),
  }));
}

export const stateOf = (row: SqlRow): FormState => JSON.parse(textOf(row['state']));
