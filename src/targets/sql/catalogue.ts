import type { FormIdentity } from '../../mirror/types.ts';
import type { SqlDialect } from './dialect.ts';
import type { ColumnType, FieldColumn, FieldStorage, FormTable } from './field-column.ts';
import {
  numberOf,
  piecesOf,
  placeholders,
  type SqlRow,
  type SqlSession,
  textOf,
  textOrNull,
} from './sql-session.ts';

/** Rows of `mirror_fields` written by one statement. */
const FIELDS_A_STATEMENT = 200;

/** Where and how a catalogue is read. */
export interface Catalogue {
  readonly session: SqlSession;
  readonly dialect: SqlDialect;
  /** An older one than this program writes lacks what came with later versions. */
  readonly version: number;
}

/** A form as `mirror_forms` holds it. */
export interface CataloguedForm extends FormIdentity {
  readonly table: string;
  readonly view: string;
  readonly goneAt: string | null;
}

/** Every form of the catalogue, by name. */
export async function listForms(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<CataloguedForm[]> {
  const rows = await session.query(
    `SELECT form_id, slug, name, table_name, view_name, ${dialect.timeText('gone_at')} AS gone_at
     FROM ${dialect.relation('mirror_forms')} ORDER BY name, form_id`,
  );
  return rows.map((row) => ({
    id: textOf(row, 'form_id'),
    slug: textOf(row, 'slug'),
    name: textOf(row, 'name'),
    table: textOf(row, 'table_name'),
    view: textOf(row, 'view_name'),
    goneAt: dialect.time(row['gone_at']),
  }));
}

/** A form with its fields; undefined when it was never mirrored here. */
export async function loadForm(
  session: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<FormTable | undefined> {
  const [row] = await session.query(
    `SELECT slug, name, table_name, view_name FROM ${dialect.relation('mirror_forms')} WHERE form_id = $1`,
    [formId],
  );
  if (row === undefined) return undefined;
  const fields = await session.query(
    `SELECT field_id, label, position, ordinal, column_name, stored_in, type, number_column, view_label,
       number_view_label, ${dialect.timeText('removed_at')} AS removed_at
     FROM ${dialect.relation('mirror_fields')} WHERE form_id = $1 ORDER BY ordinal`,
    [formId],
  );
  return {
    form: { id: formId, slug: textOf(row, 'slug'), name: textOf(row, 'name') },
    table: textOf(row, 'table_name'),
    view: textOf(row, 'view_name'),
    fields: fields.map((field) => toFieldColumn(field, dialect)),
  };
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
    numberColumn: textOrNull(row, 'number_column'),
    viewLabel: textOrNull(row, 'view_label'),
    numberViewLabel: textOrNull(row, 'number_view_label'),
    removedAt: dialect.time(row['removed_at']),
  };
}

/** Where a row of `mirror_fields` says that the answers are. */
export const storageOf = (row: SqlRow): FieldStorage =>
  row['stored_in'] === '_more' ? 'more' : 'column';

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
    [form.id, form.slug, form.name, names.table, names.view, at],
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
  for (const piece of piecesOf(fields, FIELDS_A_STATEMENT)) {
    await tx.query(
      `INSERT INTO ${dialect.relation('mirror_fields')} (form_id, field_id, column_name, label, position, type,
         first_seen_at, removed_at, ordinal, stored_in, number_column, view_label, number_view_label)
       VALUES ${placeholders(piece.length, 13)}
       ON CONFLICT (form_id, field_id) DO UPDATE SET label = excluded.label, position = excluded.position,
         type = excluded.type, removed_at = excluded.removed_at, number_column = excluded.number_column,
         view_label = excluded.view_label, number_view_label = excluded.number_view_label`,
      piece.flatMap((field) => [
        formId,
        field.id,
        field.column,
        field.label,
        field.position,
        field.type,
        at,
        field.removedAt,
        field.ordinal,
        field.storage === 'more' ? '_more' : 'column',
        field.numberColumn,
        field.viewLabel,
        field.numberViewLabel,
      ]),
    );
  }
}

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
      [at, formId, ids],
    );
    await tx.query(
      `INSERT INTO ${history} (form_id, field_id, label, valid_from) VALUES ${placeholders(piece.length, 4)}`,
      piece.flatMap((field) => [formId, field.id, field.label, at]),
    );
  }
}
