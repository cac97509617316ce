import type { SqlDialect } from '../dialect.ts';
import { batchTable } from './mysql-batch.ts';
import { decodeMysqlCell, decodeMysqlTime, MYSQL_LIMITS, timeText } from './mysql-cells.ts';
import { describeMysqlError, mysqlRowDefect, PRODUCT } from './mysql-errors.ts';
import { backticked } from './mysql-literal.ts';
import { enterMysqlForm, lockMysqlCatalogue } from './mysql-locks.ts';
import {
  addMysqlColumns,
  addMysqlKey,
  addMysqlStatusIndex,
  CATALOGUE_TYPES,
  createMysqlTable,
  ensureMysqlChangeIndex,
  ensureMysqlDateIndex,
  hasMysqlKey,
  MYSQL_TYPES,
  mysqlColumns,
  mysqlColumnsOfEach,
  mysqlNames,
} from './mysql-tables.ts';
import { decideMysqlTypes, finishMysqlTypes } from './mysql-types.ts';
import { storeNewInMysql, upsertIntoMysql } from './mysql-upsert.ts';
import { mysqlLabel, syncMysqlView } from './mysql-view.ts';
import { mysqlViews } from './mysql-views.ts';

/** What DATE_FORMAT takes. */
const GRAINS = {
  day: '%Y-%m-%d',
  hour: '%Y-%m-%dT%H:00',
  minute: '%Y-%m-%dT%H:%i',
  second: '%Y-%m-%dT%H:%i:%s',
} as const;

/** Ends the name of a table of the catalogue while it is being made. */
const UNFINISHED = '__unfinished';

const unfinished = (table: string): string => backticked(table + UNFINISHED);

/** How MySQL and MariaDB do things, in one database. Times are DATETIME in UTC. */
export function mysqlDialect(database: string): SqlDialect {
  return {
    ...named((name) => name),
    product: PRODUCT,
    batchRows: 2_000,
    chooseAnotherPlace: 'choose another database in the target URL',
    types: CATALOGUE_TYPES,
    answerTypes: MYSQL_TYPES,
    keepsJsonText: true,
    // A row must fit into half a page of 16 kB. Texts of up to 40 bytes stay in it, longer ones leave a pointer of 20: so
    // many columns have room whatever is in them, beside the longest ID and some columns that people add.
    maxFieldColumns: 160,
    // A table that the server makes for a query on the view has at most 1,017 columns.
    maxViewColumns: 1_000,
    maxLabelBytes: 64,
    viewLabel: mysqlLabel,
    maxIdBytes: 255,
    maxStatusLength: 255,
    maxReasonBytes: 255,
    takesNul: true,
    scrubs: false,

    shownRelation: (name) => name,
    timeText,
    time: decodeMysqlTime,
    timeValue: (time) => time && time.replace(/Z$/, ''),
    timeBound: (time) => time.replace(/Z$/, ''),
    grainOf: (expression, grain) => `DATE_FORMAT(${expression}, '${GRAINS[grain]}')`,
    grainText: (expression) => expression,
    isIn: (expression, parameter) => `${expression} IN (${parameter})`,
    beginsWith: (expression, prefix) => `${expression} LIKE '${prefix}%'`,
    // As a comparison of rows it would read the index from its beginning.
    isBehind: ([first = '', ...others], [value = '', ...rest]) =>
      others.length === 0
        ? `${first} > ${value}`
        : `${first} >= ${value} AND (${first} > ${value} OR (${others.join(', ')}) > (${rest.join(', ')}))`,
    withoutKeys(expression, keys) {
      const paths = keys.map((key) => `'$.${key}'`).join(', ');
      // The function writes the rest in its own way: only where there is something to remove.
      return `if(json_contains_path(${expression}, 'one', ${paths}), nullif(json_remove(${expression}, ${paths}), '{}'), ${expression})`;
    },
    list: (values) => values,
    boolean: (value) => (value ? 1 : 0),

    relationNames: mysqlNames,
    columnsOf: mysqlColumns,
    columnsOfEach: mysqlColumnsOfEach,
    stepwise: {
      making: (made) => ({ ...made, ...named((name) => name + UNFINISHED) }),
      clear: (tx, tables) => tx.exec(`DROP TABLE IF EXISTS ${tables.map(unfinished).join(', ')}`),
      putInPlace: (tx, tables) =>
        tx.exec(
          `RENAME TABLE ${tables.map((table) => `${unfinished(table)} TO ${backticked(table)}`).join(', ')}`,
        ),
    },
    lockCatalogue: (tx) => lockMysqlCatalogue(tx, database),
    enterForm: (tx, formId) => enterMysqlForm(tx, database, formId),
    createTable: createMysqlTable,
    addColumns: addMysqlColumns,
    addStatusIndex: addMysqlStatusIndex,
    ensureDateIndex: ensureMysqlDateIndex,
    ensureChangeIndex: ensureMysqlChangeIndex,
    hasKey: hasMysqlKey,
    addKey: addMysqlKey,
    decideTypes: decideMysqlTypes,
    finishTypes: finishMysqlTypes,
    syncView: syncMysqlView,
    views: mysqlViews,

    storeNew: (tx, form, fields, rows, { at }) =>
      storeNewInMysql(tx, batchTable(form, fields), rows, at),
    upsert: (tx, form, fields, rows, at) => upsertIntoMysql(tx, batchTable(form, fields), rows, at),
    ...MYSQL_LIMITS,
    decodeCell: decodeMysqlCell,

    rowDefect: mysqlRowDefect,
    describeError: describeMysqlError,
  };
}

/** What speaks of a table by its name. */
function named(nameOf: (name: string) => string): Pick<SqlDialect, 'relation' | 'indexOn'> {
  const relation = (name: string): string => backticked(nameOf(name));
  return {
    relation,
    indexOn: (table, columns) => `ALTER TABLE ${relation(table)} ADD INDEX (${columns})`,
  };
}
