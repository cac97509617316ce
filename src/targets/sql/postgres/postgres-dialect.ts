import { MAX_ID_BYTES, MAX_REASON_BYTES, type SqlDialect } from '../dialect.ts';
import { batchTable } from './postgres-batch.ts';
import {
  decodePostgresCell,
  decodePostgresTime,
  POSTGRES_LIMITS,
  timeText,
} from './postgres-cells.ts';
import { copyTexts } from './postgres-copy.ts';
import { describePostgresError, postgresRowDefect } from './postgres-errors.ts';
import { qualified } from './postgres-names.ts';
import {
  addPostgresColumns,
  addPostgresKey,
  ensurePostgresHistoryIndex,
  ensurePostgresStatusIndex,
  ensurePostgresChangeIndex,
  ensurePostgresDateIndex,
  hasPostgresKey,
  createPostgresTable,
  lockSchema,
  POSTGRES_TYPES,
  postgresColumns,
  postgresColumnsOfEach,
  postgresNames,
} from './postgres-tables.ts';
import { enterPostgresForm } from './postgres-locks.ts';
import { decidePostgresTypes } from './postgres-types.ts';
import { storeNewInPostgres, upsertIntoPostgres } from './postgres-upsert.ts';
import { syncPostgresView } from './postgres-view.ts';
import { postgresViews } from './postgres-views.ts';

/** How PostgreSQL does things, in one schema. */
export function postgresDialect(schema: string): SqlDialect {
  const relation = (name: string): string => qualified(schema, name);
  return {
    product: 'PostgreSQL',
    batchRows: 2_000,
    chooseAnotherPlace: 'choose another schema with ?schema=… in the target URL',
    types: {
      text: 'text',
      id: 'text',
      key: 'text',
      word: 'text',
      time: 'timestamptz',
      integer: 'bigint',
      boolean: 'boolean',
      serial: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    },
    answerTypes: POSTGRES_TYPES,
    keepsJsonText: false,
    // A row must fit into a page of 8 kB. Values up to 24 bytes stay in it, longer ones leave a pointer of 18 bytes:
    // 300 columns take at most 7,200 bytes, whatever is in them, and leave room for columns that people add.
    maxFieldColumns: 300,
    // A view has at most 1,600 columns (MaxHeapAttributeNumber).
    maxViewColumns: 1_600,
    maxLabelBytes: 63,
    maxIdBytes: MAX_ID_BYTES,
    maxStatusLength: 600,
    maxReasonBytes: MAX_REASON_BYTES,
    takesNul: false,
    scrubs: false,

    relation,
    shownRelation: (name) => `${schema}.${name}`,
    timeText,
    time: decodePostgresTime,
    timeValue: (time) => time,
    timeBound: (time) => time,
    grainOf: (expression, grain) => `date_trunc('${grain}', ${expression} AT TIME ZONE 'UTC')`,
    grainText: (expression) =>
      `coalesce(to_char(${expression}, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), (${expression})::text)`,
    isBehind: (columns, parameters) => `(${columns.join(', ')}) > (${parameters.join(', ')})`,
    isIn: (expression, parameter) => `${expression} = ANY(${parameter}::text[])`,
    beginsWith: (expression, prefix) => `${expression} LIKE '${prefix}%'`,
    withoutKeys: (expression, keys) =>
      `nullif(${expression} - ARRAY[${keys.map((key) => `'${key}'`).join(', ')}]::text[], '{}')`,
    list: (values) => values,
    boolean: (value) => (value ? 'true' : 'false'),

    relationNames: (session) => postgresNames(session, schema),
    columnsOf: (session, name) => postgresColumns(session, relation(name)),
    columnsOfEach: (session, names) => postgresColumnsOfEach(session, schema, names),
    indexOn: (table, columns, where) =>
      `CREATE INDEX ON ${relation(table)} (${columns})${where === undefined ? '' : ` WHERE ${where}`}`,
    lockCatalogue: (tx) => lockSchema(tx, schema),
    enterForm: (tx, formId) => enterPostgresForm(tx, schema, formId),
    createTable: (tx, form) => createPostgresTable(tx, schema, form),
    addColumns: (tx, table, columns, withMore) =>
      addPostgresColumns(tx, schema, table, columns, withMore),
    addStatusIndex: (tx, table) => ensurePostgresStatusIndex(tx, schema, table),
    ensureStatusIndex: (tx, table) => ensurePostgresStatusIndex(tx, schema, table),
    ensureHistoryIndex: (tx) => ensurePostgresHistoryIndex(tx, schema),
    ensureDateIndex: (tx, table) => ensurePostgresDateIndex(tx, schema, table),
    ensureChangeIndex: (tx, table) => ensurePostgresChangeIndex(tx, schema, table),
    hasKey: (tx, table) => hasPostgresKey(tx, schema, table),
    addKey: (tx, table) => addPostgresKey(tx, schema, table),
    decideTypes: (tx, form, changes) => decidePostgresTypes(tx, schema, form, changes),
    syncView: (tx, form, columns, former) => syncPostgresView(tx, schema, form, columns, former),
    views: postgresViews(schema),

    storeNew: (tx, form, fields, rows, how) =>
      storeNewInPostgres(tx, batchTable(schema, form, fields), rows, how),
    addRows: (tx, table, columns, rows) => copyTexts(tx, relation(table), columns, rows),
    upsert: (tx, form, fields, rows, at) =>
      upsertIntoPostgres(tx, batchTable(schema, form, fields), rows, at),
    ...POSTGRES_LIMITS,
    decodeCell: decodePostgresCell,

    rowDefect: postgresRowDefect,
    describeError: describePostgresError,
  };
}
