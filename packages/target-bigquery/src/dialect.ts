import { change, type Dialect, quoted } from '../../../src/targets/sql/dialect.ts';
import { STAGE, type Staging } from '../../../src/targets/sql/write-rows.ts';
import { describeBigQueryError, type Subject } from './errors.ts';
import type { BigQuerySession } from './session.ts';
import { COLUMNS_OF, MONTHS, RELATIONS } from './statements.ts';
import { answersOf, bigQueryViews } from './views.ts';

const on = `t.id = s.id AND ${MONTHS}`;
const joined = (to: string): string => `${STAGE} AS s LEFT JOIN ${to} AS t ON ${on}`;

/**
 * The staged rows are a parameter of each statement. One MERGE inserts new rows and updates those that differ, in the months that
 * contain them.
 */
const STAGING: Staging = {
  stage: STAGE,
  // The rows come with the statements that read them.
  make: async () => {},
  pack: (values) => values,
  load: (tx, loading) => (tx as BigQuerySession).load(loading),
  joined,
  matched: (to) => `${STAGE} AS s JOIN ${to} AS t ON ${on}`,
  differs: (names) =>
    `(${names.map((name) => `t.${name} IS DISTINCT FROM s.${name}`).join(' OR ')})`,
  async store(tx, { to, names, at, isOther }) {
    const time = 'CAST($1 AS TIMESTAMP)';
    await change(
      tx,
      `MERGE ${to} AS t USING ${STAGE} AS s ON ${on}
 WHEN MATCHED AND ${isOther} THEN UPDATE SET ${names.map((name) => `${name} = s.${name}`).join(', ')}, _changed_at = ${time}, _deleted_at = NULL
 WHEN NOT MATCHED THEN INSERT (id, ${names.join(', ')}, _first_seen_at, _changed_at)
 VALUES (s.id, ${names.map((name) => `s.${name}`).join(', ')}, ${time}, ${time})`,
      [at],
    );
  },
  // BigQuery has no triggers, and checks nothing.
  mayAlter: false,
  answers: answersOf,
};

/** The dialect of BigQuery. Times are TIMESTAMP; texts and JSON are STRING. `subject`: for messages. */
export const bigQueryDialect = (subject: Subject): Dialect => ({
  product: 'BigQuery',
  version: "'API v2'",
  types: {
    // Holds every JavaScript number unchanged; more digits go into the text column beside it.
    number: 'FLOAT64',
    text: 'STRING',
    json: 'STRING',
    time: 'TIMESTAMP',
    integer: 'INT64',
    key: 'STRING',
    id: 'STRING',
    word: 'STRING',
  },
  // A table can have 10,000.
  maxColumns: 5_000,
  takesNul: false,

  timeParam: (time) => time,
  isoOf: (expression) => `FORMAT_TIMESTAMP('%Y-%m-%dT%H:%M:%E6S', ${expression})`,
  among: (expression, param) => `${expression} IN UNNEST(${param})`,
  alone: (tx) => (tx as BigQuerySession).alone(),
  columnsQuery: COLUMNS_OF,
  relationsQuery: RELATIONS,
  exact: () => undefined,
  staging: STAGING,
  views: bigQueryViews,
  // A partition is a month, and nothing else finds rows by date.
  formTable: (table, columns) => [`CREATE TABLE ${quoted(table)} (${columns})`],
  putView: (tx, name, select) => (tx as BigQuerySession).putView(name, select),
  describe: (error) => describeBigQueryError(error, subject),
});
