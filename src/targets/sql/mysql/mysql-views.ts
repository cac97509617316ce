import { quoted } from '../dialect.ts';
import type { Elements, ViewFragments } from '../views.ts';
import { textLiteral } from './mysql-literal.ts';

const NUMBERS = "('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')";

const timestamp = (ms: string): string =>
  `timestampadd(MICROSECOND, 1000 * CAST(${ms} AS signed), CAST('1970-01-01' AS datetime(6)))`;

/**
 * How MySQL and MariaDB write the public views, with all texts in one collation, for any client. No backslashes: their meaning
 * depends on the reader's SQL mode.
 */
export function mysqlViews(collation: string): ViewFragments {
  /** The type of texts in a JSON table, which otherwise have the database's encoding. */
  const longtext = `longtext CHARACTER SET utf8mb4 COLLATE ${collation}`;
  const text = (of: string): string => `CONVERT(${of} USING utf8mb4) COLLATE ${collation}`;
  const state = (path: string, document = 's.state'): string =>
    text(`json_unquote(json_extract(${document}, '$.${path}'))`);
  const fieldRows = (more = ''): string => `FROM _mirror_state AS s CROSS JOIN
 JSON_TABLE(s.fields, '$[*]' COLUMNS (place FOR ORDINALITY, field_id ${longtext} PATH '$.id', column_name ${longtext} PATH '$.column',
 text_column ${longtext} PATH '$.textColumn', label ${longtext} PATH '$.label', position int PATH '$.position',
 type ${longtext} PATH '$.type', is_in_form int PATH '$.isInForm'${more})) AS f`;
  const elements = (list: string): Elements => ({
    from: ` CROSS JOIN JSON_TABLE(${list}, '$[*]' COLUMNS (nth FOR ORDINALITY, value JSON PATH '$')) AS e`,
    index: 'e.nth',
    text: text(
      `CASE json_type(e.value) WHEN 'NULL' THEN NULL WHEN 'STRING' THEN json_unquote(e.value) ELSE e.value END`,
    ),
    number: `CASE WHEN json_type(e.value) IN ${NUMBERS} THEN CAST(e.value AS double) END`,
  });
  return {
    maxLabelBytes: 64,
    // Names have no characters beyond the Basic Multilingual Plane.
    labelOf: (label) => label.replace(/[\u{10000}-\u{10FFFF}]/gu, '\uFFFD'),
    literal: (of) => `${textLiteral(of)} COLLATE ${collation}`,
    state,
    moment: (path, document) => timestamp(`nullif(${state(path, document)}, 'null')`),
    rows: `(SELECT sum(r.n) FROM JSON_TABLE(json_extract(s.state, '$.tally.rows.*'), '$[*]' COLUMNS (n bigint PATH '$')) AS r)`,
    answersAsOf: `(SELECT CASE WHEN count(r.ms) = count(*) THEN ${timestamp('min(r.ms)')} END
  FROM JSON_TABLE(s.state, '$.ranges[*]' COLUMNS (ms bigint PATH '$.readAtMs')) AS r)`,
    fields: `SELECT s.form_id, f.place, f.field_id, f.column_name, f.text_column, f.label, f.position, f.type, f.is_in_form ${fieldRows()}`,
    labels: `SELECT s.form_id, f.field_id, f.nth, f.was AS label, CAST(left(f.since, 23) AS datetime(6)) AS valid_from
 ${fieldRows(`, NESTED PATH '$.labels[*]' COLUMNS (nth FOR ORDINALITY, was ${longtext} PATH '$.label', since varchar(40) PATH '$.from')`)}
 WHERE f.nth IS NOT NULL`,
    // From 10^15 on, a double as text has an exponent.
    numberText: (column) =>
      text(
        `CASE WHEN abs(${column}) < 1e15 THEN CAST(${column} AS char) ELSE trim(TRAILING '.0' FROM CAST(CAST(${column} AS decimal(65, 1)) AS char)) END`,
      ),
    /** A text that the server does not accept as JSON is one element. */
    elementsOf: (list) =>
      elements(`CASE WHEN json_valid(${list}) AND json_type(${list}) = 'ARRAY' THEN ${list}
 WHEN (${list}) IS NOT NULL THEN json_array(${list}) END`),
    elementsInMore: (more) =>
      elements(
        `CASE WHEN json_valid(${more}) THEN json_merge_preserve('[]', json_extract(${more}, concat('$.', f.column_name))) END`,
      ),
    version: (name) => `a.${quoted(name)}`,
    versionTable(columns) {
      const paths = columns.map(
        ({ name, type }) =>
          `${quoted(name)} ${type === 'number' ? 'double' : longtext} PATH '$."${name}"'`,
      );
      return paths.length === 0
        ? ''
        : ` CROSS JOIN JSON_TABLE(v.answers, '$' COLUMNS (${paths.join(', ')})) AS a`;
    },
  };
}
