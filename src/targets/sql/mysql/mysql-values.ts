/*
 * Answers as SQL expressions of MySQL and MariaDB, for views that any client can read. No backslash: its meaning depends on
 * the SQL mode of the reader.
 */

/** A longer text is not a date. */
const MAX_DATE_LENGTH = 40;

/** The text under a key in a JSON object, where that is JSON. Keys are plain names. */
export const textIn = (json: string, key: string): string =>
  `CASE WHEN json_valid(${json}) THEN json_unquote(json_extract(${json}, '$."${key}"')) END`;

const BACKSLASHES = 'CHAR(92, 92 USING utf8mb4)';
const NUL_ESCAPE = 'CHAR(92, 117, 48, 48, 48, 48 USING utf8mb4)';

/** U+0000 as JSON writes it, which the functions for JSON would cut a text at. */
const hasNul = (json: string): string =>
  `instr(replace(${json}, ${BACKSLASHES}, ''), ${NUL_ESCAPE}) > 0`;

const NUMBERS = "('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')";

/** The elements of a JSON list as rows; of anything else, and of what the server does not take for JSON, the one that it is. */
export function elementsOf(list: string): {
  readonly from: string;
  readonly index: string;
  readonly text: string;
  readonly number: string;
} {
  const json = `(${list})`;
  const rows = `CASE WHEN json_valid(${json}) AND json_type(${json}) = 'ARRAY' AND NOT ${hasNul(json)} THEN ${json} WHEN ${json} IS NOT NULL THEN json_array(${json}) END`;
  return {
    from: `JSON_TABLE(${rows}, '$[*]' COLUMNS (place FOR ORDINALITY, value JSON PATH '$')) AS e`,
    index: 'e.place',
    text: `CASE json_type(e.value) WHEN 'NULL' THEN NULL WHEN 'STRING' THEN json_unquote(e.value) ELSE e.value END`,
    number: `CASE WHEN json_type(e.value) IN ${NUMBERS} THEN CAST(e.value AS double) END`,
  };
}

const MONTH_AND_DAY =
  '((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))';
const LEAP_YEAR = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)';
const DAY = `(?!0000)([0-9]{4}-${MONTH_AND_DAY}|${LEAP_YEAR}-02-29)`;
const TIME = '[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?';
/** With an offset, one of these may be in a year that has not four digits in UTC. */
const FAR_DAYS = '(?!0001-01-01|9999-12-31)';
const OFFSET = '[+-](0[0-9]|1[0-4]):[0-5][0-9]';
/** `$` by itself is before a last line break, too. */
const END = '$(?![[:space:]])';

/** The date or time of a text that is one by ISO 8601, in UTC, to the second; NULL for any other text. */
export function dateOf(text: string): string {
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
