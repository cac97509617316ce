import type { HeldForm } from '../../mirror/target.ts';
import { listForms } from './catalogue.ts';
import { readCopies } from './catalogue-copy.ts';
import { catalogueColumns, presentTables } from './catalogue-tables.ts';
import { hasCatalogue } from './catalogue-version.ts';
import type { SqlDialect } from './dialect.ts';
import { type SqlSession, textOf } from './sql-session.ts';

/**
 * The forms of a catalogue and their fields, from the tables that are there: where `mirror_forms` or `mirror_fields` lost
 * something, the copies in `mirror_meta` tell it. Throws as {@link hasCatalogue} does.
 */
export async function readHeldForms(session: SqlSession, dialect: SqlDialect): Promise<HeldForm[]> {
  if (!(await hasCatalogue(session, dialect))) return [];
  const present = await presentTables(session, dialect);
  const expected = catalogueColumns(dialect);
  // A table that lacks a column is for the pass to refuse.
  const isWhole = (table: string): boolean =>
    expected.get(table)?.every((column) => present.get(table)?.includes(column)) === true;
  const copies = isWhole('mirror_meta') ? await readCopies(session, dialect) : [];
  const listed = isWhole('mirror_forms') ? await listForms(session, dialect) : [];
  const fields = isWhole('mirror_fields')
    ? await session.query(`SELECT form_id, field_id FROM ${dialect.relation('mirror_fields')}`)
    : [];
  const forms = new Map([
    ...copies.map(({ form }) => [form.id, { ...form, goneAt: null }] as const),
    ...listed.map(({ id, slug, name, goneAt }) => [id, { id, slug, name, goneAt }] as const),
  ]);
  const fieldIds = new Map(
    copies.map(({ form, fields: copied }) => [form.id, new Set(copied.map(({ id }) => id))]),
  );
  for (const row of fields) {
    const formId = textOf(row, 'form_id');
    const ids = fieldIds.get(formId) ?? new Set();
    fieldIds.set(formId, ids.add(textOf(row, 'field_id')));
  }
  return [...forms.values()].map((form) =>
    Object.assign(form, { fieldIds: [...(fieldIds.get(form.id) ?? [])] }),
  );
}
