import type { SqlDialect } from './dialect.ts';
import { quoted, type SqlSession } from './sql-session.ts';

/*
 * The tables of the catalogue, which people may read and only this program writes.
 */

/** The schema of the mirror, as `mirror_meta` has it: to be raised with every change of what is stored, and of how views are written. */
export const CATALOGUE_VERSION = 5;

/** A table of the catalogue. */
interface CatalogueTable {
  /** Names and definitions, in order. */
  readonly columns: Readonly<Record<string, string>>;
  readonly keys?: readonly string[];
  /** Lists of columns. */
  readonly indexes?: readonly string[];
}

const TABLES: Readonly<Record<string, (dialect: SqlDialect) => CatalogueTable>> = {
  mirror_meta: ({ types: { text, key } }) => ({
    columns: { key: `${key} PRIMARY KEY NOT NULL`, value: `${text} NOT NULL` },
  }),
  mirror_forms: ({ types: { text, id, time, integer, boolean } }) => ({
    columns: {
      form_id: `${id} PRIMARY KEY NOT NULL`,
      slug: `${text} NOT NULL`,
      name: `${text} NOT NULL`,
      table_name: `${id} NOT NULL UNIQUE`,
      view_name: `${text} NOT NULL`,
      first_seen_at: `${time} NOT NULL`,
      gone_at: time,
      // How many rows and listings were stored, to compare with what is there, and what was found lost; see losses.ts.
      row_count: integer,
      rejected_count: integer,
      losses: text,
      live_count: integer,
      // How many notes there are of what was forgotten; see forgotten.ts.
      forgotten_count: integer,
      // What marking left to say; see refused-marks.ts.
      marking: text,
      // Since when the history of the form's statuses is whole; see status-history.ts.
      statuses_since: time,
      // Where the versions of its rows are, and whether they are written; see row-history.ts.
      history_table: text,
      history_open: boolean,
    },
  }),
  mirror_fields: ({ types: { text, id, time, integer } }) => ({
    columns: {
      form_id: `${id} NOT NULL`,
      field_id: `${id} NOT NULL`,
      column_name: `${id} NOT NULL`,
      label: `${text} NOT NULL`,
      position: `${integer} NOT NULL`,
      type: text,
      first_seen_at: `${time} NOT NULL`,
      removed_at: time,
      ordinal: `${integer} NOT NULL`,
      stored_in: `${text} NOT NULL`,
      view_label: text,
      // The column of texts beside one of numbers or JSON; see answer-parts.ts.
      text_column: text,
      text_stored_in: text,
      text_view_label: text,
    },
    keys: ['PRIMARY KEY (form_id, field_id)', 'UNIQUE (form_id, column_name)'],
  }),
  mirror_label_history: ({ types: { text, id, time } }) => ({
    columns: {
      form_id: `${id} NOT NULL`,
      field_id: `${id} NOT NULL`,
      label: `${text} NOT NULL`,
      valid_from: `${time} NOT NULL`,
      valid_to: time,
    },
    indexes: ['form_id, field_id'],
  }),
  mirror_passes: ({ types: { text, id, word, time, integer, serial } }) => ({
    columns: {
      id: serial,
      form_id: `${id} NOT NULL`,
      kind: `${word} NOT NULL`,
      started_at: `${time} NOT NULL`,
      ended_at: `${time} NOT NULL`,
      outcome: `${text} NOT NULL`,
      requests: `${integer} NOT NULL`,
      total: integer,
      distinct_seen: `${integer} NOT NULL`,
      inserted: `${integer} NOT NULL`,
      updated: `${integer} NOT NULL`,
      unchanged: `${integer} NOT NULL`,
      deleted: `${integer} NOT NULL`,
      rejected: `${integer} NOT NULL`,
      withheld: `${integer} NOT NULL`,
      error: text,
      error_code: text,
    },
    indexes: ['form_id, kind, id'],
  }),
  mirror_rejected: ({ types: { id, time, integer, boolean } }) => ({
    columns: {
      form_id: `${id} NOT NULL`,
      submission_id: `${id} NOT NULL`,
      reason: `${id} NOT NULL`,
      stored: `${boolean} NOT NULL`,
      first_seen_at: `${time} NOT NULL`,
      last_seen_at: `${time} NOT NULL`,
      last_epoch: `${integer} NOT NULL`,
    },
    keys: ['PRIMARY KEY (form_id, submission_id, reason)'],
  }),
  mirror_refusals: ({ types: { text, id, word, time } }) => ({
    columns: {
      form_id: `${id} NOT NULL`,
      submission_id: `${id} NOT NULL`,
      status: `${word} NOT NULL`,
      wanted: `${word} NOT NULL`,
      reason: `${text} NOT NULL`,
      refused_at: `${time} NOT NULL`,
    },
    keys: ['PRIMARY KEY (form_id, submission_id, status, wanted)'],
  }),
  mirror_checkpoints: ({ types: { text, id, time, integer } }) => ({
    columns: {
      form_id: `${id} PRIMARY KEY NOT NULL`,
      watermark: time,
      total: `${integer} NOT NULL`,
      proven_at: `${time} NOT NULL`,
      full_proven_at: time,
      // Rows that the source's count does not account for, those that the brake withheld, and those that its list hides.
      absent: `${integer} NOT NULL`,
      withheld: `${integer} NOT NULL`,
      hidden: `${integer} NOT NULL`,
      // What the rows were stored as; see mirror/proven-for.ts.
      proven_for: `${text} NOT NULL`,
      // What a proven pass accounted for by status, what of that has no row, and when the source was seen to agree.
      statuses: text,
      unstored: `${text} NOT NULL`,
      counts_at: time,
    },
  }),
  mirror_locks: ({ types: { text, key, time, integer } }) => ({
    columns: {
      form_id: `${key} PRIMARY KEY NOT NULL`,
      epoch: `${integer} NOT NULL`,
      holder: `${text} NOT NULL`,
      taken_at: `${time} NOT NULL`,
    },
  }),
  // What was erased; see forgotten.ts and emptied-fields.ts.
  mirror_forgotten: ({ types: { text, id, word, time } }) => ({
    columns: {
      form_id: `${id} NOT NULL`,
      id_hash: `${word} NOT NULL`,
      salt: `${text} NOT NULL`,
      forgotten_at: `${time} NOT NULL`,
    },
    keys: ['PRIMARY KEY (form_id, id_hash)'],
  }),
  mirror_emptied: ({ types: { id, time } }) => ({
    columns: {
      form_id: `${id} NOT NULL`,
      field_id: `${id} NOT NULL`,
      emptied_at: `${time} NOT NULL`,
    },
    keys: ['PRIMARY KEY (form_id, field_id)'],
  }),
  // How large forms are cut; see form-windows.ts.
  mirror_windows: ({ types: { text, id, time, integer, boolean } }) => ({
    columns: {
      form_id: `${id} NOT NULL`,
      ordinal: `${integer} NOT NULL`,
      from_at: time,
      to_at: time,
      total: `${integer} NOT NULL`,
      proven_at: time,
      proven_for: text,
      deleted: `${integer} NOT NULL`,
      absent: `${integer} NOT NULL`,
      is_open: `${boolean} NOT NULL`,
      failed_at: time,
      unstored: text,
    },
    keys: ['PRIMARY KEY (form_id, ordinal)'],
  }),
  // The newest look; see looks.ts.
  mirror_looks: ({ types: { text, time, integer } }) => ({
    columns: {
      slot: `${integer} PRIMARY KEY NOT NULL`,
      looked_at: `${time} NOT NULL`,
      look: `${text} NOT NULL`,
    },
  }),
  // What people have paused; see pauses.ts.
  mirror_pauses: ({ types: { text, id, time } }) => ({
    columns: {
      form_id: `${id} PRIMARY KEY NOT NULL`,
      paused_at: `${time} NOT NULL`,
      paused_by: `${text} NOT NULL`,
      reason: text,
    },
  }),
  // The order of `id` is that of the entries; see status-history.ts.
  mirror_status_history: ({ types: { text, id, time, serial }, ensureHistoryIndex }) => ({
    columns: {
      id: serial,
      form_id: `${id} NOT NULL`,
      submission_id: `${id} NOT NULL`,
      status: `${text} NOT NULL`,
      not_before: time,
      seen_at: `${time} NOT NULL`,
    },
    indexes: ensureHistoryIndex === undefined ? ['submission_id'] : [],
  }),
};

/** The names of the tables. */
export const CATALOGUE_TABLES: ReadonlySet<string> = new Set(Object.keys(TABLES));

/** Tables of the catalogue and their columns, as they are to be or as they are. */
export type CatalogueColumns = ReadonlyMap<string, readonly string[]>;

const ofDialects = new WeakMap<SqlDialect, CatalogueColumns>();

/** The tables and columns that a catalogue has. */
export function catalogueColumns(dialect: SqlDialect): CatalogueColumns {
  const known = ofDialects.get(dialect);
  if (known !== undefined) return known;
  const columns = new Map(
    Object.entries(TABLES).map(([name, table]) => [name, Object.keys(table(dialect).columns)]),
  );
  ofDialects.set(dialect, columns);
  return columns;
}

/** The tables of the catalogue that there are, with their columns. */
export const presentTables = (
  session: SqlSession,
  dialect: SqlDialect,
): Promise<Map<string, string[]>> => dialect.columnsOfEach(session, CATALOGUE_TABLES);

/** True when there are tables, and each has just the columns that ours has: so a catalogue is known that lost `mirror_meta`. */
export function areOurs(dialect: SqlDialect, present: CatalogueColumns): boolean {
  const expected = catalogueColumns(dialect);
  return (
    present.size > 0 &&
    [...present].every(([table, columns]) => sameNames(expected.get(table), columns))
  );
}

function sameNames(expected: readonly string[] | undefined, present: readonly string[]): boolean {
  if (expected?.length !== present.length) return false;
  const names = new Set(expected);
  return present.every((name) => names.has(name));
}

/**
 * Makes these tables of the catalogue. `mirror_meta` comes last, with the version in it, as it stands for all the others.
 * Where a change of tables can't be taken back, each appears whole: see {@link Stepwise}.
 */
export async function makeTables(
  tx: SqlSession,
  dialect: SqlDialect,
  names: ReadonlySet<string>,
): Promise<void> {
  if (names.size === 0) return;
  const { stepwise } = dialect;
  const making = stepwise?.making(dialect) ?? dialect;
  const ordered = [...names].sort((one, other) => lastIsMeta(one) - lastIsMeta(other));
  await stepwise?.clear(tx, ordered);
  const statements = ordered.flatMap((name) => statementsOf(making, name));
  if (stepwise === undefined) await tx.exec(statements.join(';\n'));
  else for (const sql of statements) await tx.exec(sql);
  if (names.has('mirror_meta')) await saveVersion(tx, making);
  await stepwise?.putInPlace(tx, ordered);
}

const lastIsMeta = (table: string): number => (table === 'mirror_meta' ? 1 : 0);

function statementsOf(dialect: SqlDialect, name: string): string[] {
  const { columns, keys = [], indexes = [] } = TABLES[name]?.(dialect) ?? { columns: {} };
  const own = Object.entries(columns).map(([column, type]) => `${quoted(column)} ${type}`);
  return [
    `CREATE TABLE ${dialect.relation(name)} (${[...own, ...keys].join(', ')})`,
    ...indexes.map((list) => dialect.indexOn(name, list)),
  ];
}

const saveVersion = (tx: SqlSession, dialect: SqlDialect): Promise<unknown> =>
  tx.query(
    `INSERT INTO ${dialect.relation('mirror_meta')} ("key", value) VALUES ('catalogue_version', $1)`,
    [String(CATALOGUE_VERSION)],
  );
