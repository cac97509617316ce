import { literal } from '../dialect.ts';
import { MAX_DATE_LENGTH, type ViewFragments } from '../views.ts';

/*
 * Views that any shell can read: they use none of our functions, and none that a release before 3.38 lacks.
 */

/** The largest double. */
const LARGEST = '1.7976931348623157e308';
const DAY = '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]';
const TIME = '[T ][0-2][0-9]:[0-5][0-9]';

const iso = (ms: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', ${ms} / 1000.0, 'unixepoch')`;
const state = (path: string, document = 's.state'): string =>
  `json_extract(${document}, '$.${path}')`;
const field = (path: string): string => `json_extract(f.value, '$.${path}')`;

/** The text of a value; of a double the fewest of 15, 16 or 17 digits that tell it. */
function numberText(value: string): string {
  const of = (digits: number): string => `printf('%!.${digits}g', ${value})`;
  const tells = (digits: number): string => `CAST(${of(digits)} AS REAL) = ${value}`;
  return `CASE WHEN typeof(${value}) <> 'real' THEN CAST(${value} AS TEXT)
 WHEN ${tells(15)} THEN ${of(15)} WHEN ${tells(16)} THEN ${of(16)} ELSE ${of(17)} END`;
}

/** The text of a number in a list as written there: a list of it twice is text, and as long as both. */
const writtenOnce = (twice: string): string => `substr(${twice}, 2, (length(${twice}) - 3) / 2)`;

/** How SQLite writes the public views. */
export const sqliteViews: ViewFragments = {
  areAnswersLast: false,
  maxLabelBytes: 1_000,
  literal,
  one: '1',
  state,
  moment: (path, document) => iso(state(path, document)),
  rows: `(SELECT sum(value) FROM json_each(s.state, '$.tally.rows'))`,
  answersAsOf: `(SELECT CASE WHEN count(json_extract(r.value, '$.readAtMs')) = count(*) THEN ${iso("min(json_extract(r.value, '$.readAtMs'))")} END
  FROM json_each(s.state, '$.ranges') AS r)`,
  fields: `SELECT s.form_id, f.key + 1 AS place, ${field('id')} AS field_id, ${field('column')} AS column_name,
 ${field('textColumn')} AS text_column, ${field('label')} AS label, ${field('position')} AS position, ${field('type')} AS type,
 ${field('isInForm')} AS is_in_form FROM _mirror_state AS s CROSS JOIN json_each(s.fields) AS f`,
  labels: `SELECT s.form_id, ${field('id')} AS field_id, l.key AS nth, json_extract(l.value, '$.label') AS label,
 json_extract(l.value, '$.from') AS valid_from
 FROM _mirror_state AS s, json_each(s.fields) AS f, json_each(f.value, '$.labels') AS l`,
  inMore: (more, name) => numberText(`json_extract(${more}, '$.${name}')`),
  numberText,
  elementsOf: (list) => ({
    from: ` CROSS JOIN json_each(CASE WHEN ${list} LIKE '[%' AND json_valid(${list}) THEN ${list}
 WHEN (${list}) IS NOT NULL THEN json_array(${list}) END) AS e`,
    index: 'e.key + 1',
    text: `CASE e.type WHEN 'null' THEN NULL WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'text' THEN e.value
 WHEN 'object' THEN e.value WHEN 'array' THEN e.value ELSE ${writtenOnce('json_extract(e.json, e.fullkey, e.fullkey)')} END`,
    number: `CASE WHEN e.type IN ('integer', 'real') THEN max(-${LARGEST}, min(${LARGEST}, e.value)) END`,
  }),
  /** SQLite takes more for a time than ISO 8601 does, and the 31st of February for the 2nd of March: the shape is tested first. */
  dateOf(text) {
    const rest = `substr(${text}, 12)`;
    const time = `${rest} NOT GLOB '*[^0-9:.Zz+-]*' AND substr(${text}, 12, 2) < '24'`;
    const isNear = `(substr(${text}, 1, 10) NOT IN ('0001-01-01', '9999-12-31') OR ${rest} NOT GLOB '*[Zz+-]*')`;
    const shape = `(${text} GLOB '${DAY}' OR (${text} GLOB '${DAY}${TIME}*' AND ${time} AND ${isNear}))`;
    return `CASE WHEN ${text} >= '0001' AND length(${text}) <= ${MAX_DATE_LENGTH} AND length(${text}) = length(CAST(${text} AS BLOB))
 AND date(substr(${text}, 1, 10)) = substr(${text}, 1, 10) AND ${shape} THEN datetime(${text}) END`;
  },
  version: (name) => `json_extract(v.answers, ${literal(`$."${name}"`)})`,
};
