/*
 * Answers as SQL expressions of SQLite, for views that any shell can read: no function of ours, none that a release before 3.38 lacks.
 */

/** The largest double. */
const LARGEST = '1.7976931348623157e308';
/** A longer text is not a date. */
const MAX_DATE_LENGTH = 40;

const zeros = (count: string): string => `substr(hex(zeroblob(${count})), 1, ${count})`;

/** The fewest of 15, 16 or 17 digits that tell a double, with an exponent. */
function shortest(real: string): string {
  const of = (digits: number): string => `printf('%!.${digits - 1}e', ${real})`;
  const tells = (digits: number): string => `CAST(${of(digits)} AS REAL) = ${real}`;
  return `CASE WHEN ${tells(15)} THEN ${of(15)} WHEN ${tells(16)} THEN ${of(16)} ELSE ${of(17)} END`;
}

/** A double as answered, without an exponent: 15 digits are not always enough for it. */
function realText(real: string): string {
  const short = `printf('%!.15g', ${real})`;
  const parts = `SELECT rtrim(replace(replace(substr(s, 1, instr(s, 'e') - 1), '.', ''), '-', ''), '0') AS digits, CAST(substr(s, instr(s, 'e') + 1) AS INTEGER) + 1 AS point FROM (SELECT ${shortest(real)} AS s)`;
  const plain = `CASE WHEN point <= 0 THEN '0.' || ${zeros('-point')} || digits WHEN point >= length(digits) THEN digits || ${zeros('point - length(digits)')} ELSE substr(digits, 1, point) || '.' || substr(digits, point + 1) END`;
  return `CASE WHEN CAST(${short} AS REAL) = ${real} AND ${short} NOT GLOB '*e*' AND ${short} NOT GLOB '*.0' THEN ${short} WHEN abs(${real}) > ${LARGEST} THEN ${short} ELSE (SELECT CASE WHEN ${real} < 0 THEN '-' ELSE '' END || ${plain} FROM (${parts})) END`;
}

/** The text of a value, a number with all its digits. */
export const numberText = (value: string): string =>
  `CASE typeof(${value}) WHEN 'real' THEN ${realText(value)} ELSE CAST(${value} AS TEXT) END`;

/** The text of a number in a list as written there: a list of it twice is text, and as long as both. */
const writtenOnce = (twice: string): string => `substr(${twice}, 2, (length(${twice}) - 3) / 2)`;

/** Whether JSON holds half a character or U+0000, which SQLite's functions would cut. */
const hasHalves = (json: string): string =>
  String.raw`(instr(${json}, '\u') > 0 AND (replace(${json}, '\\', '') GLOB '*\u[dD][89a-fA-F]*' OR instr(replace(${json}, '\\', ''), '\u0000') > 0))`;

/** The elements of a JSON list as rows; of anything else the one that it is. */
export function elementsOf(list: string): {
  readonly from: string;
  readonly index: string;
  readonly text: string;
  readonly number: string;
} {
  const isList = `${list} LIKE '[%' AND json_valid(${list}) AND NOT ${hasHalves(list)}`;
  return {
    from: `json_each(CASE WHEN ${isList} THEN ${list} WHEN ${list} IS NOT NULL THEN json_array(${list}) END) AS e`,
    index: 'e.key + 1',
    text: `CASE e.type WHEN 'text' THEN e.value WHEN 'null' THEN NULL WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'object' THEN e.value WHEN 'array' THEN e.value ELSE ${writtenOnce('json_extract(e.json, e.fullkey, e.fullkey)')} END`,
    number: `CASE WHEN e.type IN ('integer', 'real') THEN max(-${LARGEST}, min(${LARGEST}, e.value)) END`,
  };
}

const DAY = '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]';
const TIME = '[T ][0-2][0-9]:[0-5][0-9]';

/** The date or time of a text that is one by ISO 8601, in UTC where it names an offset; NULL for any other text. */
export function dateOf(text: string): string {
  // SQLite takes more for a time than ISO 8601 does, and the 31st of February for the 2nd of March: the shape is tested first.
  const time = `substr(${text}, 12) NOT GLOB '*[^0-9:.Zz+-]*' AND substr(${text}, 12, 2) < '24'`;
  const isNear = `(substr(${text}, 1, 10) NOT IN ('0001-01-01', '9999-12-31') OR substr(${text}, 12) NOT GLOB '*[Zz+-]*')`;
  const isWhole = `length(${text}) = length(CAST(${text} AS BLOB))`;
  const shape = `(${text} GLOB '${DAY}' OR (${text} GLOB '${DAY}${TIME}*' AND ${time} AND ${isNear}))`;
  return `CASE WHEN typeof(${text}) = 'text' AND ${text} >= '0001' AND length(${text}) <= ${MAX_DATE_LENGTH} AND ${isWhole} AND date(substr(${text}, 1, 10)) = substr(${text}, 1, 10) AND ${shape} THEN datetime(${text}) END`;
}
