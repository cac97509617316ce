import type { FormIdentity } from '../../mirror/types.ts';
import type { SqlDialect } from './dialect.ts';
import type {
  ColumnType,
  FieldColumn,
  FieldStorage,
  FormHistory,
  FormTable,
} from './field-column.ts';
import {
  booleanOf,
  numberOf,
  piecesOf,
  placeholders,
  type SqlRow,
  type SqlSession,
  type SqlValue,
  textOf,
  textOrNull,
} from './sql-session.ts';

/** Rows of `mirror_fields` written by one statement. */
const FIELDS_A_STATEMENT = 200;

/** Where and how a catalogue is read. */
export interface Catalogue {
  readonly session: SqlSession;
  readonly dialect: SqlDialect;
}

/** A form as `mirror_forms` holds it. */
export interface CataloguedForm extends FormIdentity {
  readonly table: string;
  readonly view: string;
  readonly goneAt: string | null;
  readonly history: FormHistory | null;
}

/** Every form of the catalogue, by name. */
export async function listForms(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<CataloguedForm[]> {
  const rows = await session.query(
    `SELECT f.*, ${dialect.timeText('gone_at')} AS gone
     FROM ${dialect.relation('mirror_forms')} AS f ORDER BY name, form_id`,
  );
  return rows.map((row) => ({
    id: textOf(row, 'form_id'),
    slug: textOf(row, 'slug'),
    name: textOf(row, 'name'),
    table: textOf(row, 'table_name'),
    view: textOf(row, 'view_name'),
    goneAt: dialect.time(row['gone']),
    history: historyOf(row),
  }));
}

/** A form with its fields; undefined when it was never mirrored here. */
export async function loadForm(
  session: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<FormTable | undefined> {
  const [row] = await session.query(
    `SELECT * FROM ${dialect.relation('mirror_forms')} WHERE form_id = $1`,
    [formId],
  );
  if (row === undefined) return undefined;
  const fields = await session.query(
    `SELECT f.*, ${dialect.timeText('removed_at')} AS removed
     FROM ${dialect.relation('mirror_fields')} AS f WHERE form_id = $1 ORDER BY ordinal`,
    [formId],
  );
  return {
    form: { id: formId, slug: textOf(row, 'slug'), name: textOf(row, 'name') },
    table: textOf(row, 'table_name'),
    view: textOf(row, 'view_name'),
    fields: fields.map((field) => toFieldColumn(field, dialect)),
    history: historyOf(row),
  };
}

function historyOf(row: SqlRow): FormHistory | null {
  const table = textOrNull(row, 'history_table');
  return table === null ? null : { table, isOpen: booleanOf(row, 'history_open') };
}

/** Writes where a form's history is, and whether it goes on. */
export async function saveHistory(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  history: FormHistory | null,
): Promise<void> {
  await tx.query(
    `UPDATE ${dialect.relation('mirror_forms')} SET history_table = $1, history_open = $2 WHERE form_id = $3`,
    [history?.table ?? null, dialect.boolean(history?.isOpen === true), formId],
  );
}

/** Every form of the catalogue with its fields, by name. */
export async function loadForms(session: SqlSession, dialect: SqlDialect): Promise<FormTable[]> {
  const forms = await listForms(session, dialect);
  const rows = await session.query(
    `SELECT f.*, ${dialect.timeText('removed_at')} AS removed
     FROM ${dialect.relation('mirror_fields')} AS f ORDER BY form_id, ordinal`,
  );
  const fields = Map.groupBy(rows, (row) => textOf(row, 'form_id'));
  return forms.map(({ id, slug, name, table, view, history }) => ({
    form: { id, slug, name },
    table,
    view,
    history,
    fields: (fields.get(id) ?? []).map((field) => toFieldColumn(field, dialect)),
  }));
}

function toFieldColumn(row: SqlRow, dialect: SqlDialect): FieldColumn {
  return {
    id: textOf(row, 'field_id'),
    label: textOf(row, 'label'),
    position: numberOf(row, 'position'),
    ordinal: numberOf(row, 'ordinal'),
    column: textOf(row, 'column_name'),
    storage: storageOf(row),
    type: row['type'] as ColumnType,
    ...textColumnOf(row),
    viewLabel: textOrNull(row, 'view_label'),
    textViewLabel: textOrNull(row, 'text_view_label'),
    removedAt: dialect.time(row['removed']),
  };
}

/** Where a row of `mirror_fields` says that the answers are. */
export const storageOf = (
  row: SqlRow,
  column: 'stored_in' | 'text_stored_in' = 'stored_in',
): FieldStorage => (row[column] === '_more' ? 'more' : 'column');

/** What it says of the column of texts beside them. */
export const textColumnOf = (row: SqlRow): Pick<FieldColumn, 'textColumn' | 'textStorage'> => ({
  textColumn: textOrNull(row, 'text_column'),
  textStorage: storageOf(row, 'text_stored_in'),
});

/** Inserts a form, or updates its slug, name, table and view. */
export async function saveForm(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormIdentity,
  names: { readonly table: string; readonly view: string },
  at: string,
): Promise<void> {
  await tx.query(
    `INSERT INTO ${dialect.relation('mirror_forms')} (form_id, slug, name, table_name, view_name, first_seen_at)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (form_id) DO UPDATE SET slug = excluded.slug, name = excluded.name,
       table_name = excluded.table_name, view_name = excluded.view_name`,
    [form.id, form.slug, form.name, names.table, names.view, dialect.timeValue(at)],
  );
}

/** Inserts new fields and updates changed ones. */
export async function saveFields(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  fields: readonly FieldColumn[],
  at: string,
): Promise<void> {
  if (fields.length === 0) return;
  const columns = [...Object.entries(FIXED), ...Object.entries(CHANGING)];
  const names = columns.map(([name]) => name);
  const update = Object.keys(CHANGING).map((name) => `${name} = excluded.${name}`);
  for (const piece of piecesOf(fields, FIELDS_A_STATEMENT)) {
    await tx.query(
      `INSERT INTO ${dialect.relation('mirror_fields')} (${names.join(', ')})
       VALUES ${placeholders(piece.length, names.length)}
       ON CONFLICT (form_id, field_id) DO UPDATE SET ${update.join(', ')}`,
      piece.flatMap((field) => columns.map(([, valueOf]) => valueOf(field, formId, at, dialect))),
    );
  }
}

/** A column of `mirror_fields`: what it holds of a field that is written at a time. */
type ValueOf = (field: FieldColumn, formId: string, at: string, dialect: SqlDialect) => SqlValue;

/** Those that never change, and the others. */
const FIXED: Readonly<Record<string, ValueOf>> = {
  form_id: (_field, formId) => formId,
  field_id: ({ id }) => id,
  column_name: ({ column }) => column,
  first_seen_at: (_field, _formId, at, dialect) => dialect.timeValue(at),
  ordinal: ({ ordinal }) => ordinal,
  stored_in: ({ storage }) => storedIn(storage),
};
const CHANGING: Readonly<Record<string, ValueOf>> = {
  label: ({ label }) => label,
  position: ({ position }) => position,
  type: ({ type }) => type,
  removed_at: ({ removedAt }, _formId, _at, dialect) => dialect.timeValue(removedAt),
  text_column: ({ textColumn }) => textColumn,
  text_stored_in: ({ textColumn, textStorage }) =>
    textColumn === null ? null : storedIn(textStorage),
  view_label: ({ viewLabel }) => viewLabel,
  text_view_label: ({ textViewLabel }) => textViewLabel,
};

const storedIn = (storage: FieldStorage): string => (storage === 'more' ? '_more' : 'column');

/** Closes the fields' entries in the label history at `at` and opens new ones with their labels. */
export async function recordLabels(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  fields: readonly FieldColumn[],
  at: string,
): Promise<void> {
  const history = dialect.relation('mirror_label_history');
  for (const piece of piecesOf(fields, FIELDS_A_STATEMENT)) {
    const ids = dialect.list(piece.map((field) => field.id));
    await tx.query(
      `UPDATE ${history} SET valid_to = $1
       WHERE form_id = $2 AND valid_to IS NULL AND ${dialect.isIn('field_id', '$3')}`,
      [dialect.timeValue(at), formId, ids],
    );
    await tx.query(
      `INSERT INTO ${history} (form_id, field_id, label, valid_from) VALUES ${placeholders(piece.length, 4)}`,
      piece.flatMap((field) => [formId, field.id, field.label, dialect.timeValue(at)]),
    );
  }
}
