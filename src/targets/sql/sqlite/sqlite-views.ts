import { inSavepoint, numberOf, quoted, type SqlSession, textOf } from '../sql-session.ts';
import { MAX_DATE_LENGTH, type ViewDefinition, type ViewSql } from '../view-sql.ts';
import { isReadable, VIEW_MARK, triggersOn, viewDefinition } from './sqlite-view.ts';

/** A text as SQL writes it: none can hold U+0000. */
const literal = (text: string): string =>
  text
    .split('\0')
    .map((piece) => `'${piece.replaceAll("'", "''")}'`)
    .join(' || char(0) || ');

const zeros = (count: string): string => `substr(hex(zeroblob(${count})), 1, ${count})`;

/** The fewest of 15, 16 or 17 digits that tell a double, with an exponent. Fewer would do below 1e-307. */
const shortest = (real: string): string => {
  const of = (digits: number): string => `printf('%!.${digits - 1}e', ${real})`;
  const tells = (digits: number): string => `CAST(${of(digits)} AS REAL) = ${real}`;
  return `CASE WHEN ${tells(15)} THEN ${of(15)} WHEN ${tells(16)} THEN ${of(16)} ELSE ${of(17)} END`;
};

/**
 * A double as it was answered, without an exponent. 15 digits are not always enough to tell it, and are written with an exponent
 * from 1e15 on and below 0.0001. A plain shell has no function of ours.
 */
const realText = (real: string): string => {
  const short = `printf('%!.15g', ${real})`;
  const parts = `SELECT rtrim(replace(replace(substr(s, 1, instr(s, 'e') - 1), '.', ''), '-', ''), '0') AS digits, CAST(substr(s, instr(s, 'e') + 1) AS INTEGER) + 1 AS point FROM (SELECT ${shortest(real)} AS s)`;
  const plain = `CASE WHEN point <= 0 THEN '0.' || ${zeros('-point')} || digits WHEN point >= length(digits) THEN digits || ${zeros('point - length(digits)')} ELSE substr(digits, 1, point) || '.' || substr(digits, point + 1) END`;
  return `CASE WHEN CAST(${short} AS REAL) = ${real} AND ${short} NOT GLOB '*e*' AND ${short} NOT GLOB '*.0' THEN ${short} WHEN abs(${real}) > ${LARGEST} THEN ${short} ELSE (SELECT CASE WHEN ${real} < 0 THEN '-' ELSE '' END || ${plain} FROM (${parts})) END`;
};

/** The largest double. */
const LARGEST = '1.7976931348623157e308';

/** A number that is not infinite, as a column of numbers holds one: see nearest() of answer-parts.ts. */
const finite = (number: string): string => `max(-${LARGEST}, min(${LARGEST}, ${number}))`;

/** Any column holds texts and numbers. */
const written = (number: string): string =>
  `CASE typeof(${number}) WHEN 'real' THEN ${realText(number)} ELSE CAST(${number} AS TEXT) END`;

/** No operator `->`: a release before 3.38 that met one in the schema could not open the file. Names are plain. */
const underKey = (key: string): string => `json_extract(t._more, '$.${key}')`;

/** Its text, with numbers as they are written there. */
const textUnder = (key: string): string =>
  `CASE WHEN json_type(t._more, '$.${key}') IN ('integer', 'real') THEN ${writtenOnce(`json_extract(t._more, '$.${key}', '$.${key}')`)} ELSE ${underKey(key)} END`;

/** Whether JSON holds half a character or U+0000: as it writes them, with an even number of `\` before. */
const hasHalves = (json: string): string =>
  String.raw`(instr(${json}, '\u') > 0 AND (replace(${json}, '\\', '') GLOB '*\u[dD][89a-fA-F]*' OR instr(replace(${json}, '\\', ''), '\u0000') > 0))`;

/** The text of a number in a list as it is written there: a list of it twice is text, and as long as both. */
const writtenOnce = (twice: string): string => `substr(${twice}, 2, (length(${twice}) - 3) / 2)`;

/** One with an exponent that a double holds is the double, for {@link written} to write plainly. */
const numberInList = `CASE WHEN e.type = 'real' AND e.atom NOT IN (9e999, -9e999) AND json_extract(e.json, e.fullkey, e.fullkey) GLOB '*[eE]*' THEN e.atom ELSE ${writtenOnce('json_extract(e.json, e.fullkey, e.fullkey)')} END`;

const DAY = '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]';
const TIME = '[T ][0-2][0-9]:[0-5][0-9]';

/**
 * See {@link ViewSql}. SQLite takes more for a time than ISO 8601 does, and the 31st of February for the 2nd of March, so the shape
 * is tested first.
 */
function dateOf(text: string): string {
  const time = `substr(${text}, 12) NOT GLOB '*[^0-9:.Zz+-]*' AND substr(${text}, 12, 2) < '24'`;
  // With an offset, one of these days may be in a year that has not four digits in UTC.
  const isNear = `(substr(${text}, 1, 10) NOT IN ('0001-01-01', '9999-12-31') OR substr(${text}, 12) NOT GLOB '*[Zz+-]*')`;
  // For SQLite a text ends with U+0000 in it.
  const isWhole = `length(${text}) = length(CAST(${text} AS BLOB))`;
  const shape = `(${text} GLOB '${DAY}' OR (${text} GLOB '${DAY}${TIME}*' AND ${time} AND ${isNear}))`;
  return `CASE WHEN ${text} >= '0001' AND length(${text}) <= ${MAX_DATE_LENGTH} AND ${isWhole} AND date(substr(${text}, 1, 10)) = substr(${text}, 1, 10) AND ${shape} THEN datetime(${text}) END`;
}

/** Makes a view anew where it is not as it should be. Nothing that reads it notices, as its columns keep their names. */
async function put(tx: SqlSession, name: string, view: ViewDefinition): Promise<boolean> {
  const items = view.items.map(
    ({ name: column, expression }) => `  ${expression} AS ${quoted(column)}`,
  );
  const about = view.description.replaceAll('*/', '* /');
  const sql = `CREATE VIEW ${quoted(name)} AS ${VIEW_MARK} /* ${about} */ SELECT\n${items.join(',\n')}\nFROM ${view.from}`;
  const existing = await viewDefinition(tx, name);
  if (existing === sql) return true;
  const triggers = await triggersOn(tx, name);
  await inSavepoint(tx, async () => {
    await tx.exec(`DROP VIEW IF EXISTS ${quoted(name)}; ${sql}`);
    for (const trigger of triggers) await tx.exec(trigger);
    if (!(await isReadable(tx, name))) throw new Error('a view that cannot be read');
  });
  return true;
}

/** How SQLite writes the views over all forms. */
export const sqliteViews: ViewSql = {
  literal,
  numberText: (number) => number,
  textOf: written,
  one: '1',
  noNumber: 'NULL',
  noText: 'NULL',
  overflow: {
    text: textUnder,
    number: (key) =>
      `CASE WHEN typeof(${underKey(key)}) IN ('integer', 'real') THEN ${finite(underKey(key))} END`,
    list: textUnder,
  },
  elements: (list) => ({
    from: `json_each(CASE WHEN ${list} LIKE '[%' AND json_valid(${list}) AND NOT ${hasHalves(list)} THEN ${list} WHEN ${list} IS NOT NULL THEN json_array(${list}) END) AS e`,
    index: 'e.key + 1',
    text: `CASE e.type WHEN 'text' THEN e.value WHEN 'null' THEN NULL WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'object' THEN e.value WHEN 'array' THEN e.value ELSE ${numberInList} END`,
    number: `CASE WHEN e.type IN ('integer', 'real') THEN ${finite('e.value')} END`,
  }),
  dateOf,

  // SQLite has no comments but those in the statement that made a view.
  // A transaction that writes has the file to itself, and nobody who reads is in its way.
  hurry: async () => {},
  /** SQLite counts each change of the schema, whoever makes it, a dropped table included. */
  async states(session, left) {
    const [version] = await session.query('PRAGMA schema_version');
    const state = version === undefined ? '' : String(numberOf(version, 'schema_version'));
    if (left.values().every((last) => last === state)) return new Map(left);
    const rows = await session.query(
      "SELECT name FROM sqlite_schema WHERE type = 'view' AND name IN (SELECT value FROM json_each($1))",
      [JSON.stringify([...left.keys()])],
    );
    return new Map(rows.map((row) => [textOf(row, 'name'), state]));
  },
  async isOwn(tx, name) {
    const definition = await viewDefinition(tx, name);
    return definition !== undefined && definition.includes(VIEW_MARK);
  },
  put,
  describeFailure: () => undefined,
};
