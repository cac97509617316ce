import { createHash } from 'node:crypto';
import anyAscii from 'any-ascii';
import { uniqueName } from '../../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../../mirror/reserved-names.ts';
import { partsOf } from '../answer-parts.ts';
import type { ShownForm } from '../answers-view.ts';
import { FORM_TEXTS, PART_TEXTS, SYSTEM_COLUMN_TEXTS } from '../descriptions.ts';
import { LIVE_SUFFIX, liveView, type ModelView, modelView } from '../model-views.ts';
import { MAX_DATE_LENGTH, type ViewDefinition, type ViewDialect } from '../view-sql.ts';
import type { FormState, StateField } from './form-state.ts';
import { literal, named } from './sql-text.ts';
import { columnParts } from './table-columns.ts';

/** Longest name of a column. */
const MOST_NAME = 300;

/** What a view of ours begins with: one without it is someone else's. */
export const VIEW_MARK = '-- forms-mirror';

/** A view as it is to be. */
export interface ViewText {
  readonly sql: string;
  readonly description: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Tells whether it changed. */
  readonly digest: string;
}

/** The fields with the names that their columns have in the view with labels: BigQuery's names are of ASCII letters, digits and `_`. */
export function withViewNames(fields: readonly StateField[]): StateField[] {
  const taken = new Set<string>(SYSTEM_COLUMNS);
  const nameOf = (label: string): string => {
    const plain = anyAscii(label.toWellFormed())
      .replaceAll(/[^A-Za-z0-9]+/g, '_')
      .replaceAll(/^_+|_+$/g, '');
    const base = /^\d/.test(plain) ? `_${plain}` : plain || 'field';
    // Names that differ in case only are one to BigQuery.
    const key = uniqueName(base.toLowerCase(), taken, MOST_NAME);
    taken.add(key);
    const kept = base.slice(0, key.length);
    return key.startsWith(kept.toLowerCase()) ? kept + key.slice(kept.length) : key;
  };
  return fields.map((field) => ({
    ...field,
    viewLabel: nameOf(field.label || field.id),
    textViewLabel:
      field.textColumn === null ? null : nameOf(`${field.label || field.id}${PART_TEXTS.text}`),
  }));
}

/** The view of a form with the current labels. */
export function labelledView(state: FormState, relation: (name: string) => string): ViewText {
  const columns: Record<string, string> = {};
  const items: string[] = [];
  const add = (name: string, expression: string, description: string): void => {
    items.push(`${expression} AS ${named(name)}`);
    columns[name] = description;
  };
  const system = (isLast: boolean): void => {
    for (const name of SYSTEM_COLUMNS) {
      if (name.startsWith('_') === isLast) add(name, `t.${name}`, SYSTEM_COLUMN_TEXTS[name]);
    }
  };
  system(false);
  for (const { field, kind, name } of partsOf(state.fields)) {
    const label = kind === 'own' ? field.viewLabel : field.textViewLabel;
    if (label === null) continue;
    // A field without any answer has no column yet.
    const value = field.type === null ? 'CAST(NULL AS STRING)' : `t.${named(name)}`;
    add(label, value, field.label + PART_TEXTS[kind]);
  }
  system(true);
  const from = `${relation(state.table ?? '')} AS t`;
  return viewText({
    sql: `SELECT ${items.join(', ')} FROM ${from}`,
    description: FORM_TEXTS.labelled(identityOf(state)),
    columns,
  });
}

/** The view of a form's rows that are not marked deleted, and the name that it has unless something else has it. */
export const liveText = (state: FormState, relation: (name: string) => string): ViewText =>
  definitionText(liveView(shownForm('', state), dialectOf(relation)));

export const liveName = (state: FormState): string => `${state.table ?? ''}${LIVE_SUFFIX}`;

/** A view over all forms; undefined where there is nothing to show. */
export function modelText(
  view: ModelView,
  forms: readonly ShownForm[],
  relation: (name: string) => string,
): ViewText | undefined {
  const definition = modelView(view, forms, dialectOf(relation));
  return definition && definitionText(definition);
}

/** A form as the views over all forms show it. */
export const shownForm = (formId: string, state: FormState): ShownForm => ({
  form: { ...identityOf(state), id: formId },
  table: state.table ?? '',
  view: state.view ?? '',
  fields: state.fields,
  history: state.history,
  present: new Set([...SYSTEM_COLUMNS, ...columnParts(state.fields).map(({ name }) => name)]),
});

const identityOf = ({ slug, name }: FormState) => ({ id: '', slug, name });

function definitionText({ description, items, from }: ViewDefinition): ViewText {
  const select = items.map(({ name, expression }) => `${expression} AS ${named(name)}`);
  return viewText({
    sql: `SELECT ${select.join(', ')} FROM ${from}`,
    description,
    columns: Object.fromEntries(items.map((item) => [item.name, item.description])),
  });
}

function viewText({ sql, ...rest }: Omit<ViewText, 'digest'>): ViewText {
  const marked = `${VIEW_MARK}\n${sql}`;
  const text = JSON.stringify([marked, rest]);
  const digest = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  return { ...rest, sql: marked, digest };
}

const DAY = String.raw`\d{4}-\d\d-\d\d`;
const OFFSET = String.raw`(?:[Zz]|[+-]\d\d:\d\d)`;
const ISO_8601 = `^${DAY}(?:[Tt ]\\d\\d:\\d\\d(?::\\d\\d(?:[.]\\d+)?)?${OFFSET}?)?$`;

/** To the microsecond; a time without seconds is given some, as BigQuery has no such. */
function dateOf(text: string): string {
  const short = `REGEXP_REPLACE(${text}, r'^(${DAY}[Tt ]\\d\\d:\\d\\d)(${OFFSET}?)$', r'\\1:00\\2')`;
  const cut = `REGEXP_REPLACE(${short}, r'([.]\\d{6})\\d+', r'\\1')`;
  return `IF(LENGTH(${text}) <= ${MAX_DATE_LENGTH} AND REGEXP_CONTAINS(${text}, r'${ISO_8601}'), SAFE_CAST(UPPER(${cut}) AS TIMESTAMP), NULL)`;
}

/** No form has as many fields as would need an overflow column. */
const noOverflow = (): never => {
  throw new TypeError('BigQuery has no overflow column');
};

const dialectOf = (relation: (name: string) => string): ViewDialect => ({
  relation,
  views: {
    literal,
    quoted: named,
    numberText: (number) => `CAST(${number} AS STRING)`,
    textOf: (value) => value,
    one: '1',
    noNumber: 'CAST(NULL AS NUMERIC)',
    noText: 'CAST(NULL AS STRING)',
    overflow: { text: noOverflow, number: noOverflow, list: noOverflow },
    elements: (list) => ({
      from: `UNNEST(IF(JSON_TYPE(${list}) = 'array', JSON_QUERY_ARRAY(${list}), [${list}])) AS e WITH OFFSET AS place`,
      index: 'place + 1',
      text: `CASE WHEN e IS NULL OR JSON_TYPE(e) = 'null' THEN NULL WHEN JSON_TYPE(e) = 'string' THEN JSON_VALUE(e) ELSE TO_JSON_STRING(e) END`,
      number: `IF(JSON_TYPE(e) = 'number', SAFE_CAST(JSON_VALUE(e) AS NUMERIC), NULL)`,
    }),
    dateOf,
  },
});
