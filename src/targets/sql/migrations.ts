import type { SqlDialect } from './dialect.ts';

/** One step of the catalogue from a version to the next. Once released it is never changed: a later step corrects it. */
export interface Migration {
  /** The catalogue's version after this step. */
  readonly version: number;
  /** Tables that it makes; the step is refused where something else goes by one of these names. */
  readonly creates: readonly string[];
  /**
   * What it runs, in the transaction that also writes the version; each statement with the table of the catalogue that it
   * makes or changes, so that a table that was dropped can go through its own steps again. Where the products differ, the
   * step picks its statements by `dialect.product`. No step rewrites a form's rows or moves `_changed_at` (L4).
   * Reading does not migrate: a query that needs what a step brings asks for the version of its `Catalogue`.
   * Every step after the first adds a column to a table that was there before: where `mirror_meta` was dropped, the tables
   * tell the version.
   */
  readonly changes: (dialect: SqlDialect) => readonly TableChange[];
}

/** A statement of a {@link Migration}. */
export interface TableChange {
  readonly table: string;
  /** Names of the columns that it adds. */
  readonly adds: readonly string[];
  /** Their definitions, and those of keys; '' for a statement that adds none. */
  readonly definitions: string;
  readonly sql: string;
}

/** The catalogue's tables, which people may read and only this program writes, as version 1 has them. */
function firstTables({ types }: SqlDialect): Readonly<Record<string, string>> {
  const { text, id, key, word, time, integer, boolean, serial } = types;
  return {
    mirror_meta: `"key" ${key} PRIMARY KEY NOT NULL, value ${text} NOT NULL`,
    mirror_forms: `form_id ${id} PRIMARY KEY NOT NULL, slug ${text} NOT NULL, name ${text} NOT NULL,
      table_name ${id} NOT NULL UNIQUE, view_name ${text} NOT NULL, first_seen_at ${time} NOT NULL, gone_at ${time}`,
    mirror_fields: `form_id ${id} NOT NULL, field_id ${id} NOT NULL, column_name ${id} NOT NULL,
      label ${text} NOT NULL, position ${integer} NOT NULL, type ${text}, first_seen_at ${time} NOT NULL,
      removed_at ${time}, ordinal ${integer} NOT NULL, stored_in ${text} NOT NULL, number_column ${text},
      view_label ${text}, number_view_label ${text},
      PRIMARY KEY (form_id, field_id), UNIQUE (form_id, column_name)`,
    mirror_label_history: `form_id ${id} NOT NULL, field_id ${id} NOT NULL, label ${text} NOT NULL,
      valid_from ${time} NOT NULL, valid_to ${time}`,
    mirror_passes: `id ${serial}, form_id ${id} NOT NULL, kind ${word} NOT NULL, started_at ${time} NOT NULL,
      ended_at ${time} NOT NULL, outcome ${text} NOT NULL, requests ${integer} NOT NULL, total ${integer},
      distinct_seen ${integer} NOT NULL, inserted ${integer} NOT NULL, updated ${integer} NOT NULL,
      unchanged ${integer} NOT NULL, deleted ${integer} NOT NULL, rejected ${integer} NOT NULL,
      withheld ${integer} NOT NULL, error ${text}`,
    mirror_rejected: `form_id ${id} NOT NULL, submission_id ${id} NOT NULL, reason ${id} NOT NULL,
      stored ${boolean} NOT NULL, first_seen_at ${time} NOT NULL, last_seen_at ${time} NOT NULL,
      last_epoch ${integer} NOT NULL, PRIMARY KEY (form_id, submission_id, reason)`,
    mirror_refusals: `form_id ${id} NOT NULL, submission_id ${id} NOT NULL, status ${word} NOT NULL,
      wanted ${word} NOT NULL, reason ${text} NOT NULL, refused_at ${time} NOT NULL,
      PRIMARY KEY (form_id, submission_id, status, wanted)`,
    mirror_checkpoints: `form_id ${id} PRIMARY KEY NOT NULL, watermark ${time}, total ${integer} NOT NULL,
      proven_at ${time} NOT NULL, full_proven_at ${time}`,
    mirror_locks: `form_id ${key} PRIMARY KEY NOT NULL, epoch ${integer} NOT NULL, holder ${text} NOT NULL,
      taken_at ${time} NOT NULL`,
  };
}

/** What was erased; see forgotten.ts and emptied-fields.ts. */
function erasureTables({
  types: { text, id, word, time },
}: SqlDialect): Readonly<Record<string, string>> {
  return {
    mirror_forgotten: `form_id ${id} NOT NULL, id_hash ${word} NOT NULL, salt ${text} NOT NULL,
      forgotten_at ${time} NOT NULL, PRIMARY KEY (form_id, id_hash)`,
    mirror_emptied: `form_id ${id} NOT NULL, field_id ${id} NOT NULL, emptied_at ${time} NOT NULL,
      PRIMARY KEY (form_id, field_id)`,
  };
}

/** How large forms are cut; see form-windows.ts. */
function windowTables({ types }: SqlDialect): Readonly<Record<string, string>> {
  const { text, id, time, integer, boolean } = types;
  return {
    mirror_windows: `form_id ${id} NOT NULL, ordinal ${integer} NOT NULL, from_at ${time}, to_at ${time},
      total ${integer} NOT NULL, proven_at ${time}, proven_for ${text}, deleted ${integer} NOT NULL,
      absent ${integer} NOT NULL, is_open ${boolean} NOT NULL, failed_at ${time},
      reading ${text}, unstored ${text}, PRIMARY KEY (form_id, ordinal)`,
  };
}

/** The newest look; see looks.ts. */
const LOOKS_TABLE = ({ types: { text, integer, time } }: SqlDialect): string =>
  `slot ${integer} PRIMARY KEY NOT NULL, looked_at ${time} NOT NULL, look ${text} NOT NULL`;

/** What people have paused; see pauses.ts. */
const PAUSES_TABLE = ({ types: { text, id, time } }: SqlDialect): string =>
  `form_id ${id} PRIMARY KEY NOT NULL, paused_at ${time} NOT NULL, paused_by ${text} NOT NULL, reason ${text}`;

/** The order of `id` is that of the entries; see status-history.ts. */
const STATUS_HISTORY_TABLE = ({ types: { text, id, time, serial } }: SqlDialect): string =>
  `id ${serial}, form_id ${id} NOT NULL, submission_id ${id} NOT NULL, status ${text} NOT NULL,
    not_before ${time}, seen_at ${time} NOT NULL`;

/** Every step there ever was, in order. A new store goes through all of them, so that it ends up as an old one does. */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    creates: [
      'mirror_meta',
      'mirror_forms',
      'mirror_fields',
      'mirror_label_history',
      'mirror_passes',
      'mirror_rejected',
      'mirror_refusals',
      'mirror_checkpoints',
      'mirror_locks',
    ],
    changes: (dialect) => [
      ...Object.entries(firstTables(dialect)).map(([table, columns]) =>
        createTable(dialect, table, columns),
      ),
      addIndex(dialect, 'mirror_passes', 'form_id, kind, id'),
      addIndex(dialect, 'mirror_label_history', 'form_id, field_id'),
    ],
  },
  {
    // Why a pass did not end `ok`, as one of our error codes; before, only its message said so.
    version: 2,
    creates: [],
    changes: (dialect) => [addColumn(dialect, 'mirror_passes', `error_code ${dialect.types.text}`)],
  },
  {
    // How many rows and listings were stored of a form, to compare with what is there, and what was found lost; see
    // losses.ts. Empty for what earlier releases stored.
    version: 3,
    creates: ['mirror_forgotten', 'mirror_emptied', 'mirror_windows', 'mirror_looks'],
    changes: (dialect) => [
      ...Object.entries({ ...erasureTables(dialect), ...windowTables(dialect) }).map(
        ([table, columns]) => createTable(dialect, table, columns),
      ),
      createTable(dialect, 'mirror_looks', LOOKS_TABLE(dialect)),
      addColumn(dialect, 'mirror_forms', `row_count ${dialect.types.integer}`),
      addColumn(dialect, 'mirror_forms', `rejected_count ${dialect.types.integer}`),
      addColumn(dialect, 'mirror_forms', `losses ${dialect.types.text}`),
      // How many of the rows are not marked deleted.
      addColumn(dialect, 'mirror_forms', `live_count ${dialect.types.integer}`),
      // How many notes there are of what was forgotten; see forgotten.ts.
      addColumn(dialect, 'mirror_forms', `forgotten_count ${dialect.types.integer}`),
      // What marking left to say; see refused-marks.ts.
      addColumn(dialect, 'mirror_forms', `marking ${dialect.types.text}`),
      // Rows that the source's count does not account for, those that the brake withheld, and those that its list hides.
      addColumn(dialect, 'mirror_checkpoints', `absent ${dialect.types.integer}`),
      addColumn(dialect, 'mirror_checkpoints', `withheld ${dialect.types.integer}`),
      addColumn(dialect, 'mirror_checkpoints', `hidden ${dialect.types.integer}`),
      // Items without an ID were listed under a plain digest of all their answers: the next pass lists them anew.
      {
        table: 'mirror_rejected',
        adds: [],
        definitions: '',
        sql: `DELETE FROM ${dialect.relation('mirror_rejected')} WHERE submission_id LIKE 'no-id:%'`,
      },
      // What the rows were stored as; see mirror/proven-for.ts.
      addColumn(dialect, 'mirror_checkpoints', `proven_for ${dialect.types.text}`),
      // What a proven pass accounted for by status, what of that has no row, and when the source was seen to agree.
      addColumn(dialect, 'mirror_checkpoints', `statuses ${dialect.types.text}`),
      addColumn(dialect, 'mirror_checkpoints', `unstored ${dialect.types.text}`),
      addColumn(dialect, 'mirror_checkpoints', `counts_at ${dialect.types.time}`),
    ],
  },
  {
    // The column of texts beside one of numbers or JSON; see answer-parts.ts. Tables of forms get none before they need it.
    // And every status that a submission was seen in; see status-history.ts. And what people have paused; see pauses.ts.
    version: 4,
    creates: ['mirror_status_history', 'mirror_pauses'],
    changes: (dialect) => [
      createTable(dialect, 'mirror_pauses', PAUSES_TABLE(dialect)),
      createTable(dialect, 'mirror_status_history', STATUS_HISTORY_TABLE(dialect)),
      ...(dialect.ensureHistoryIndex === undefined
        ? [addIndex(dialect, 'mirror_status_history', 'submission_id')]
        : []),
      // Since when the history of a form's statuses is whole.
      addColumn(dialect, 'mirror_forms', `statuses_since ${dialect.types.time}`),
      // Where the versions of its rows are, and whether they are written; see row-history.ts.
      addColumn(dialect, 'mirror_forms', `history_table ${dialect.types.text}`),
      addColumn(dialect, 'mirror_forms', `history_open ${dialect.types.boolean}`),
      addColumn(dialect, 'mirror_fields', `text_column ${dialect.types.text}`),
      addColumn(dialect, 'mirror_fields', `text_stored_in ${dialect.types.text}`),
      addColumn(dialect, 'mirror_fields', `text_view_label ${dialect.types.text}`),
    ],
  },
];

const createTable = (dialect: SqlDialect, table: string, columns: string): TableChange => ({
  table,
  adds: columnNames(columns),
  definitions: columns,
  sql: `CREATE TABLE ${dialect.relation(table)} (${columns})`,
});

function addColumn(dialect: SqlDialect, table: string, column: string): TableChange {
  const sql = `ALTER TABLE ${dialect.relation(table)} ADD COLUMN ${column}`;
  return { table, adds: columnNames(column), definitions: column, sql };
}

const addIndex = (dialect: SqlDialect, table: string, columns: string): TableChange => ({
  table,
  adds: [],
  definitions: '',
  sql: dialect.indexOn(table, columns),
});

/** The names in a list of column definitions, without the constraints after them. */
function columnNames(definitions: string): string[] {
  return definitions
    .split(/,(?![^(]*\))/)
    .map((definition) => (definition.trim().split(/\s/)[0] ?? '').replaceAll('"', ''))
    .filter((name) => /^[a-z]/.test(name));
}
