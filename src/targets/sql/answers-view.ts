import { type FieldColumn, type FormTable, MORE_COLUMN } from './field-column.ts';
import { quoted } from './sql-session.ts';
import type { ViewDialect } from './view-sql.ts';

/** A form whose table is there, with those of its columns that are. */
export interface ShownForm extends FormTable {
  readonly present: ReadonlySet<string>;
}

/** How many fields one CASE tells apart: its tests are made one after the other. */
const FIELDS_A_CASE = 32;

/** What stands for a field's answers in a row: an expression for the field with this ordinal. */
interface Choice {
  readonly ordinal: number;
  readonly expression: string;
}

/** Where the answers to a field are. No list: they are single ones. */
interface AnswerExpressions {
  readonly text: string | null;
  readonly number: string | null;
  readonly list: string | null;
}

/**
 * The answers to a form as SELECTs with the columns of the view `answers`, but for the date. Fields come from the catalogue, so
 * that a label is always the current one, and drive the table: whoever asks for one field reads its column, and whoever asks
 * for one submission finds it by the key. Fields without any answer are left out: their column may still change its type.
 */
export function answerSelects(form: ShownForm, dialect: ViewDialect): string[] {
  const { views } = dialect;
  const single: { texts: Choice[]; numbers: Choice[] } = { texts: [], numbers: [] };
  const lists: Choice[] = [];
  for (const field of form.fields) {
    const { ordinal } = field;
    const { text, number, list } = expressionsOf(field, form.present, dialect);
    if (text !== null) single.texts.push({ ordinal, expression: text });
    if (number !== null) single.numbers.push({ ordinal, expression: number });
    if (list !== null) lists.push({ ordinal, expression: list });
  }
  const selects: string[] = [];
  // Without any answer the view is there all the same, and empty.
  if (single.texts.length > 0 || lists.length === 0) {
    const number = choose(single.numbers, views.noNumber);
    const value = { index: views.one, text: choose(single.texts, views.noText), number };
    selects.push(select(form, dialect, single.texts, { from: '', ...value }));
  }
  if (lists.length > 0) {
    const areInMore = form.fields.some(
      ({ storage, type }) => storage === 'more' && type === 'json',
    );
    const elements = views.elements(choose(lists, 'NULL'), areInMore);
    const from = ` CROSS JOIN ${elements.from}`;
    selects.push(select(form, dialect, lists, { ...elements, from }));
  }
  return selects;
}

function select(
  { form, table }: ShownForm,
  dialect: ViewDialect,
  choices: readonly Choice[],
  value: {
    readonly from: string;
    readonly index: string;
    readonly text: string;
    readonly number: string;
  },
): string {
  const id = dialect.views.literal(form.id);
  const ordinals = choices.map(({ ordinal }) => ordinal).join(', ') || 'NULL';
  return `SELECT ${id} AS form_id, ${dialect.views.literal(form.slug)} AS slug, t.id AS submission_id, t.status AS status,
 t.created_at AS created_at, (t._deleted_at IS NULL) AS is_live, f.field_id AS field_id, f.column_name AS column_name, f.label AS label,
 ${value.index} AS value_index, ${value.text} AS value_text, ${value.number} AS value_number
 FROM ${dialect.relation('mirror_fields')} AS f CROSS JOIN ${dialect.relation(table)} AS t${value.from}
 WHERE f.form_id = ${id} AND f.ordinal IN (${ordinals})`;
}

/** Where the answers to a field stand, as far as there can be any; see answer-parts.ts. */
function expressionsOf(
  field: FieldColumn,
  present: ReadonlySet<string>,
  { views }: ViewDialect,
): AnswerExpressions {
  const { column, storage, textColumn, textStorage, type } = field;
  const hasMore = present.has(MORE_COLUMN);
  const columnOf = (name: string): string | null =>
    present.has(name) ? `t.${(views.quoted ?? quoted)(name)}` : null;
  if (type === null || (storage === 'more' && !hasMore)) return NOTHING;
  if (storage === 'more') {
    if (type === 'json') return { ...NOTHING, list: views.overflow.list(column) };
    const { overflow } = views;
    // Elsewhere a field of texts has a column, which does not tell a number from a text.
    const number = type === 'number' ? overflow.number(column) : null;
    return { text: overflow.text(column), number, list: null };
  }
  const own = columnOf(column);
  const inMore = hasMore && textColumn !== null ? views.overflow.text(textColumn) : null;
  const inColumn = textColumn === null ? null : columnOf(textColumn);
  const beside = textStorage === 'more' ? inMore : inColumn;
  if (type === 'json') return { text: beside, number: null, list: own };
  if (type === 'text') return { text: own, number: null, list: null };
  const digits = own === null ? null : views.numberText(own);
  const text = beside !== null && digits !== null ? `coalesce(${beside}, ${digits})` : digits;
  return { text: text ?? beside, number: own, list: null };
}

const NOTHING: AnswerExpressions = { text: null, number: null, list: null };

/** The expression of the field in hand; `none` where there is none for any. */
function choose(choices: readonly Choice[], none: string): string {
  if (choices.length === 0) return none;
  if (choices.length <= FIELDS_A_CASE) return caseOf(choices);
  const pieces: string[] = [];
  for (let start = 0; start < choices.length; start += FIELDS_A_CASE) {
    const piece = choices.slice(start, start + FIELDS_A_CASE);
    const last = Math.max(...piece.map(({ ordinal }) => ordinal));
    pieces.push(`WHEN f.ordinal <= ${last} THEN ${caseOf(piece)}`);
  }
  return `CASE ${pieces.join(' ')} END`;
}

const caseOf = (choices: readonly Choice[]): string =>
  `CASE f.ordinal ${choices.map(({ ordinal, expression }) => `WHEN ${ordinal} THEN ${expression}`).join(' ')} END`;
