import { SYSTEM_COLUMNS } from '../../../mirror/column-names.ts';
import { quoted, type ViewedForm } from '../dialect.ts';
import { MORE } from '../fields.ts';
import { answerColumns, type FormViewStyle, unionOf, type ViewSelects } from '../form-views.ts';
import { textLiteral } from './mysql-literal.ts';
import { dateOf, elementsOf, textIn } from './mysql-values.ts';

const state = (path: string): string => `json_unquote(json_extract(s.state, '$.${path}'))`;
const moment = (ms: string): string =>
  `timestampadd(MICROSECOND, 1000 * CAST(${ms} AS signed), CAST('1970-01-01' AS datetime(6)))`;

/** An answer to one of the fields, in a row of the form's table. */
interface Choice {
  readonly place: number;
  readonly expression: string;
}

/** How MySQL and MariaDB write the public views, with all texts in one collation. */
export class MysqlViews implements ViewSelects {
  readonly #collation: string;
  /** The type of texts in a table of JSON, which are otherwise encoded as the database is. */
  readonly #longtext: string;
  readonly style: FormViewStyle;

  constructor(collation: string) {
    this.#collation = collation;
    this.#longtext = `longtext CHARACTER SET utf8mb4 COLLATE ${collation}`;
    this.style = {
      arrange: (answers) => [...SYSTEM_COLUMNS.slice(0, 3), ...answers, ...SYSTEM_COLUMNS.slice(3)],
      maxLabelBytes: 64,
      // Names have no characters beyond the Basic Multilingual Plane.
      labelOf: (label) => label.replace(/[\u{10000}-\u{10FFFF}]/gu, '\uFFFD'),
      inMore: (name) => this.#text(textIn(MORE, name)),
      literal: (text) => this.#literal(text),
      noTime: 'CAST(NULL AS datetime(6))',
      unionOf,
    };
  }

  get forms(): string {
    return `SELECT s.form_id, ${this.#text(state('slug'))} AS slug, ${this.#text(state('name'))} AS name,
 ${this.#text(state('place'))} AS table_name, concat(${this.#text(state('place'))}, '_labelled') AS view_name,
 ${this.#stateMoment('goneAtMs')} AS gone_at FROM _mirror_state AS s`;
  }

  get fields(): string {
    return `SELECT s.form_id, f.field_id AS field_id, f.column_name AS column_name,
 f.text_column AS text_column, f.label AS label, f.position AS position,
 f.type AS type, f.is_in_form AS is_in_form FROM _mirror_state AS s CROSS JOIN ${this.#fieldRows()}`;
  }

  get labels(): string {
    const nested = `, NESTED PATH '$.labels[*]' COLUMNS (nth FOR ORDINALITY, was ${this.#longtext} PATH '$.label', since varchar(40) PATH '$.from')`;
    const since = 'CAST(left(f.since, 23) AS datetime(6))';
    return `SELECT s.form_id, f.field_id AS field_id, f.was AS label, ${since} AS valid_from,
 lead(${since}) OVER (PARTITION BY s.form_id, f.place ORDER BY f.nth) AS valid_to
 FROM _mirror_state AS s CROSS JOIN ${this.#fieldRows(nested)} WHERE f.nth IS NOT NULL`;
  }

  get freshness(): string {
    return `SELECT ${this.#text(state('slug'))} AS form,
 (SELECT sum(r.n) FROM JSON_TABLE(json_extract(s.state, '$.tally.rows.*'), '$[*]' COLUMNS (n bigint PATH '$')) AS r) AS "rows",
 ${this.#stateMoment('submissionsAsOfMs')} AS submissions_as_of, ${this.#stateMoment('statusesAsOfMs')} AS statuses_as_of,
 (SELECT CASE WHEN count(r.ms) = count(*) THEN ${moment('min(r.ms)')} END
  FROM JSON_TABLE(s.state, '$.ranges[*]' COLUMNS (ms bigint PATH '$.readAtMs')) AS r) AS answers_as_of FROM _mirror_state AS s`;
  }

  versionsOf(form: ViewedForm): ReturnType<ViewSelects['versionsOf']> {
    const own = answerColumns(form).map(({ field, name, isBeside }) => {
      const isNumber = field.type === 'number' && !isBeside;
      return {
        path: `${quoted(name)} ${isNumber ? 'double' : this.#longtext} PATH '$."${name}"'`,
        ended: `a.${quoted(name)} AS ${quoted(name)}`,
        current: `t.${quoted(name)}`,
      };
    });
    const paths = own.map(({ path }) => path).join(', ');
    return {
      ended: own.map(({ ended }) => ended),
      current: own.map(({ current }) => current),
      from: paths === '' ? '' : ` CROSS JOIN JSON_TABLE(v.answers, '$' COLUMNS (${paths})) AS a`,
    };
  }

  /** The answers of a form: single ones, then those of lists. Fields come from the state, so that a label is always the current one. */
  answersOf(form: ViewedForm): string[] {
    const texts: Choice[] = [];
    const numbers: Choice[] = [];
    const lists: Choice[] = [];
    for (const [at, { column, textColumn, type, isInMore }] of form.fields.entries()) {
      if (column === null) continue;
      const has = (name: string | null): name is string => name !== null && form.columns.has(name);
      const add = (to: Choice[], expression: string | null): void => {
        if (expression !== null) to.push({ place: at + 1, expression });
      };
      if (isInMore) {
        add(texts, has(MORE) ? this.#text(textIn(`t.${MORE}`, column)) : null);
        continue;
      }
      const own = has(column) ? `t.${quoted(column)}` : null;
      const beside = has(textColumn) ? `t.${quoted(textColumn)}` : null;
      if (type === 'number') add(numbers, own);
      if (type === 'json') add(lists, own);
      const single =
        own === null || type === 'json'
          ? null
          : type === 'number'
            ? this.#text(`CAST(${own} AS char)`)
            : own;
      const both = single !== null && beside !== null ? `coalesce(${beside}, ${single})` : null;
      add(texts, both ?? single ?? beside);
    }
    const selects: string[] = [];
    if (texts.length > 0)
      selects.push(
        this.#answers(form, texts, {
          from: '',
          index: '1',
          text: choose(texts),
          number: numbers.length === 0 ? 'CAST(NULL AS double)' : choose(numbers),
        }),
      );
    if (lists.length > 0) {
      const { text, ...elements } = elementsOf(choose(lists));
      const from = ` CROSS JOIN ${elements.from}`;
      selects.push(this.#answers(form, lists, { ...elements, from, text: this.#text(text) }));
    }
    return selects;
  }

  answers(from: string): string {
    return `SELECT a.form_id, a.slug, a.submission_id, a.status, a.created_at, a.is_live, a.field_id, a.column_name, a.label, a.value_index,
 a.value_text, a.value_number, ${dateOf('a.value_text')} AS value_date FROM (${from}) AS a WHERE a.value_text <> ''`;
  }

  #answers(
    { formId, slug, table }: ViewedForm,
    choices: readonly Choice[],
    value: { from: string; index: string; text: string; number: string },
  ): string {
    const id = this.#literal(formId);
    return `SELECT ${id} AS form_id, ${this.#literal(slug)} AS slug, t.id AS submission_id, t.status AS status, t.created_at AS created_at,
 (t._deleted_at IS NULL) AS is_live, f.field_id AS field_id, f.column_name AS column_name,
 f.label AS label, ${value.index} AS value_index, ${value.text} AS value_text, ${value.number} AS value_number
 FROM _mirror_state AS s CROSS JOIN ${this.#fieldRows()} CROSS JOIN ${quoted(table)} AS t${value.from}
 WHERE s.form_id = ${id} AND f.place IN (${choices.map(({ place }) => place).join(', ')})`;
  }

  /** The fields of the state as rows. */
  #fieldRows(more = ''): string {
    return `JSON_TABLE(s.fields, '$[*]' COLUMNS (place FOR ORDINALITY, field_id ${this.#longtext} PATH '$.id',
 column_name ${this.#longtext} PATH '$.column', text_column ${this.#longtext} PATH '$.textColumn', label ${this.#longtext} PATH '$.label',
 position int PATH '$.position', type ${this.#longtext} PATH '$.type', is_in_form int PATH '$.isInForm'${more})) AS f`;
  }

  /** Of a number that may be null in the state. */
  #stateMoment(path: string): string {
    return moment(`nullif(${this.#text(state(path))}, 'null')`);
  }

  #text(text: string): string {
    return `CONVERT(${text} USING utf8mb4) COLLATE ${this.#collation}`;
  }

  #literal(text: string): string {
    return `${textLiteral(text)} COLLATE ${this.#collation}`;
  }
}

const choose = (choices: readonly Choice[]): string =>
  `CASE f.place ${choices.map(({ place, expression }) => `WHEN ${place} THEN ${expression}`).join(' ')} END`;
