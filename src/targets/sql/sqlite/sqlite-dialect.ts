import { MAX_ID_BYTES, MAX_REASON_BYTES, type SqlDialect } from '../dialect.ts';
import { quoted } from '../sql-session.ts';
import { decodeSqliteCell, SQLITE_LIMITS, textFrom } from './sqlite-cells.ts';
import { describeSqliteError, sqliteRowDefect } from './sqlite-errors.ts';
import {
  addSqliteColumns,
  addSqliteKey,
  ensureSqliteChangeIndex,
  ensureSqliteDateIndex,
  ensureSqliteHistoryIndex,
  ensureSqliteStatusIndex,
  hasSqliteKey,
  createSqliteTable,
  SQLITE_TYPES,
  sqliteColumns,
  sqliteColumnsOfEach,
  sqliteNames,
} from './sqlite-tables.ts';
import { decideSqliteTypes } from './sqlite-types.ts';
import { upsertIntoSqlite } from './sqlite-upsert.ts';
import { syncSqliteView } from './sqlite-view.ts';
import { sqliteViews } from './sqlite-views.ts';

/** Characters of a time that say its day, minute or second. */
const GRAIN_LENGTHS = { day: 10, minute: 16, second: 19 } as const;

/** How SQLite does things. Times are ISO 8601 text, as they came. */
export const sqliteDialect: SqlDialect = {
  product: 'SQLite',
  // IDs come in any order, and a commit writes every page that it touched: the more rows, the fewer pages for each of them.
  batchRows: 2_000,
  chooseAnotherPlace: 'choose another file in the target URL',
  types: {
    text: 'TEXT',
    id: 'TEXT',
    key: 'TEXT',
    word: 'TEXT',
    time: 'TEXT',
    integer: 'INTEGER',
    boolean: 'INTEGER',
    serial: 'INTEGER PRIMARY KEY',
  },
  answerTypes: SQLITE_TYPES,
  keepsJsonText: true,
  // SQLite takes 2,000 columns in a table, a view and a SELECT (SQLITE_MAX_COLUMN); people may add some of their own.
  maxFieldColumns: 1_900,
  maxViewColumns: 2_000,
  maxLabelBytes: 1_000,
  maxIdBytes: MAX_ID_BYTES,
  maxReasonBytes: MAX_REASON_BYTES,
  takesNul: true,
  scrubs: true,

  relation: quoted,
  shownRelation: (name) => name,
  timeText: (expression) => expression,
  time: (value) => (value === null || value === undefined ? null : textFrom(value)),
  timeValue: (time) => time,
  // Texts are compared: without its Z a time comes before all that begin with it, those with more digits included.
  timeBound: (time) => time.slice(0, -1),
  grainOf: (expression, grain) =>
    grain === 'hour'
      ? `substr(${expression}, 1, 13) || ':00'`
      : `substr(${expression}, 1, ${GRAIN_LENGTHS[grain]})`,
  grainText: (expression) => expression,
  isBehind: (columns, parameters) => `(${columns.join(', ')}) > (${parameters.join(', ')})`,
  isIn: (expression, parameter) => `${expression} IN (SELECT value FROM json_each(${parameter}))`,
  // LIKE would read every row: it folds case, and the index does not. No key goes on with U+10FFFF.
  beginsWith: (expression, prefix) =>
    `${expression} >= '${prefix}' AND ${expression} < '${prefix}\u{10ffff}'`,
  withoutKeys: (expression, keys) =>
    `nullif(json_remove(${[expression, ...keys.map((key) => `'$."${key}"'`)].join(', ')}), '{}')`,
  list: (values) => JSON.stringify(values),
  boolean: (value) => (value ? 1 : 0),

  relationNames: sqliteNames,
  columnsOf: sqliteColumns,
  columnsOfEach: sqliteColumnsOfEach,
  indexOn: (table, columns, where) =>
    `CREATE INDEX ${quoted(`${table}_${columns.replaceAll(', ', '_')}`)} ON ${quoted(table)} (${columns})${where === undefined ? '' : ` WHERE ${where}`}`,
  // BEGIN IMMEDIATE has locked the whole file already.
  lockCatalogue: async () => {},
  createTable: createSqliteTable,
  addColumns: addSqliteColumns,
  addStatusIndex: ensureSqliteStatusIndex,
  ensureStatusIndex: ensureSqliteStatusIndex,
  ensureHistoryIndex: ensureSqliteHistoryIndex,
  ensureDateIndex: ensureSqliteDateIndex,
  ensureChangeIndex: ensureSqliteChangeIndex,
  hasKey: hasSqliteKey,
  addKey: addSqliteKey,
  decideTypes: decideSqliteTypes,
  syncView: syncSqliteView,
  views: sqliteViews,

  upsert: upsertIntoSqlite,
  ...SQLITE_LIMITS,
  decodeCell: decodeSqliteCell,

  rowDefect: sqliteRowDefect,
  describeError: describeSqliteError,
};
