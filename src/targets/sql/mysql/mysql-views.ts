import { quoted, type SqlSession, textOf } from '../sql-session.ts';
import {
  type ListElements,
  MAX_DATE_LENGTH,
  type ViewDefinition,
  type ViewSql,
} from '../view-sql.ts';
import { isBlockedByDependants, LOCK_WAIT_TIMEOUT, numberOfError } from './mysql-errors.ts';
import { backticked, textLiteral } from './mysql-literal.ts';
import { sessionOf } from './mysql-locks.ts';
import { requireRoom } from './mysql-session.ts';
import { mysqlColumns } from './mysql-tables.ts';

/** What someone has read in an open transaction can't be replaced before it ends. */
const READ_MEANWHILE = {
  what: 'a transaction that is still open reads it',
  remedy:
    'End that transaction: SHOW PROCESSLIST lists it, often as "Sleep"; a database client that is set to commit by itself leaves none open.',
};

/** Stands for the collation of our tables, which depends on the server. */
const COLLATION = 'utf8mb4_forms_mirror';

const MONTH_AND_DAY =
  '((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))';
const LEAP_YEAR = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)';
const DAY = `(?!0000)([0-9]{4}-${MONTH_AND_DAY}|${LEAP_YEAR}-02-29)`;
const TIME = '[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?';
/** With an offset, one of these may be in a year that has not four digits in UTC. */
const FAR_DAYS = '(?!0001-01-01|9999-12-31)';
const OFFSET = '[+-](0[0-9]|1[0-4]):[0-5][0-9]';
/** `$` alone stands before a last line break, too. No backslash: what one means depends on the SQL mode of who reads. */
const END = '$(?![[:space:]])';

/** See {@link ViewSql}; to the second. */
function dateOf(text: string): string {
  const without = (characters: number): string =>
    `CAST(left(${text}, char_length(${text}) - ${characters}) AS datetime)`;
  const minutes = `CAST(concat(substr(${text}, -6, 1), '1') AS signed) * (60 * substr(${text}, -5, 2) + substr(${text}, -2))`;
  const is = (pattern: string): string =>
    `WHEN char_length(${text}) <= ${MAX_DATE_LENGTH} AND ${text} REGEXP '^${pattern}${END}' THEN`;
  const cases = [
    `${is(`${DAY}(${TIME})?`)} CAST(${text} AS datetime)`,
    `${is(`${FAR_DAYS}${DAY}${TIME}[Zz]`)} ${without(1)}`,
    `${is(`${FAR_DAYS}${DAY}${TIME}${OFFSET}`)} timestampadd(MINUTE, -(${minutes}), ${without(6)})`,
  ];
  return `CASE ${cases.join(' ')} END`;
}

/** Names are plain, so that they need no escape in a path. */
const underKey = (key: string): string => `json_extract(t._more, '$.${key}')`;

const NUMBERS = "('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')";

const numberIn = (json: string): string =>
  `CASE WHEN json_type(${json}) IN ${NUMBERS} THEN CAST(${json} AS double) END`;

const collated = (text: string): string => `CONVERT(${text} USING utf8mb4) COLLATE ${COLLATION}`;

/** Characters of a text that has `\` in it, see {@link END}. */
const BACKSLASHES = 'CHAR(92, 92 USING utf8mb4)';
const NUL_ESCAPE = 'CHAR(92, 117, 48, 48, 48, 48 USING utf8mb4)';

/** U+0000 as JSON writes it, with an even number of `\` before. Half a character is no JSON for the server. */
const hasNul = (json: string): string =>
  `instr(replace(${json}, ${BACKSLASHES}, ''), ${NUL_ESCAPE}) > 0`;

/** A list of what is none, so that a table of it has one row. */
const asList = (json: string): string =>
  `CASE WHEN json_valid(${json}) AND json_type(${json}) = 'ARRAY' AND NOT ${hasNul(json)} THEN ${json} WHEN ${json} IS NOT NULL THEN json_array(${json}) END`;

function elements(list: string): ListElements {
  const text = `CASE json_type(e.value) WHEN 'NULL' THEN NULL WHEN 'STRING' THEN json_unquote(e.value) ELSE e.value END`;
  return {
    from: `JSON_TABLE(${asList(list)}, '$[*]' COLUMNS (place FOR ORDINALITY, value JSON PATH '$')) AS e`,
    index: 'e.place',
    text: collated(text),
    number: numberIn('e.value'),
  };
}

/** Makes a view, or makes it anew with the rights on it; whoever reads it finds the same names. */
async function put(tx: SqlSession, name: string, view: ViewDefinition): Promise<boolean> {
  const items = view.items.map((item) => `${item.expression} AS ${quoted(item.name)}`);
  const sql = `CREATE OR REPLACE VIEW ${backticked(name)} AS SELECT\n${items.join(',\n')}\nFROM ${view.from}`;
  const session = sessionOf(tx);
  const statement = sql.replaceAll(COLLATION, session.server.collation);
  requireRoom(session, Buffer.byteLength(statement));
  try {
    await tx.exec(statement);
    return true;
  } catch (error) {
    if (isBlockedByDependants(error)) return false;
    throw error;
  }
}

/** How MySQL and MariaDB write the views over all forms. */
export const mysqlViews: ViewSql = {
  literal: textLiteral,
  textOf: (value) => value,
  numberText: (number) => collated(`CAST(${number} AS char)`),
  one: '1',
  noNumber: 'CAST(NULL AS double)',
  noText: 'NULL',
  overflow: {
    text: (key) => collated(`json_unquote(${underKey(key)})`),
    number: (key) => numberIn(underKey(key)),
    list: (key) => collated(`json_unquote(${underKey(key)})`),
  },
  elements,
  dateOf,

  hurry: (tx) => sessionOf(tx).hurry(),
  /** A view that reads what is not there any more has no columns. */
  async states(session, left) {
    const rows = await session.query(
      `SELECT v.table_name AS name, concat(md5(v.view_definition), ' ', (
         SELECT count(*) FROM information_schema.columns AS c
         WHERE c.table_schema = database() AND c.table_name = v.table_name)) AS state
       FROM information_schema.views AS v WHERE v.table_schema = database() AND v.table_name IN ($1)`,
      [[...left.keys()]],
    );
    return new Map(rows.map((row) => [textOf(row, 'name'), textOf(row, 'state')]));
  },
  /** One that this user made, with no other columns than ours; or none, as what it read is not there any more. */
  async isOwn(tx, name, { required, possible, mark }) {
    const own = await tx.query(
      `SELECT 1 AS found FROM information_schema.views
       WHERE table_schema = database() AND table_name = $1 AND definer = current_user() AND instr(view_definition, $2) > 0`,
      [name, mark],
    );
    const present = (await mysqlColumns(tx, name)) ?? required;
    return (
      own.length > 0 &&
      required.every((column) => present.includes(column)) &&
      present.every((column) => possible.includes(column))
    );
  },
  put,
  describeFailure: (error) =>
    numberOfError(error) === LOCK_WAIT_TIMEOUT ? READ_MEANWHILE : undefined,
};
