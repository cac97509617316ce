import type { Relation, RelationColumn, TargetRelations } from '../../mirror/relations.ts';
import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import { type Catalogue, listForms, loadForm } from './catalogue.ts';
import { CATALOGUE_TEXTS, SYSTEM_COLUMN_TEXTS } from './descriptions.ts';
import type { FormTable } from './field-column.ts';

/** Where the tables are, as tools that connect to the database call it. */
export type SqlPlaceName = Pick<TargetRelations, 'database' | 'schema'>;

/** The tables and views that are there, with those of their columns that are there. */
export async function readRelations(catalogue: Catalogue): Promise<readonly Relation[]> {
  const { session, dialect } = catalogue;
  const forms: FormTable[] = [];
  for (const { id } of await listForms(session, dialect)) {
    const form = await loadForm(session, dialect, id);
    if (form !== undefined) forms.push(form);
  }
  const names = [...forms.map(({ table }) => table), ...Object.keys(CATALOGUE_TEXTS)];
  const all = await dialect.relationNames(session);
  const present = await dialect.columnsOfEach(session, new Set(names));
  const ofForms = forms.flatMap((form) => {
    const columns = present.get(form.table);
    const table = columns && tableOf(catalogue, form, new Set(columns));
    const view = all.has(form.view) ? viewOf(form) : undefined;
    return [table, view].filter((relation) => relation !== undefined);
  });
  const ofMirror = Object.entries(CATALOGUE_TEXTS).flatMap(([name, text]): Relation[] => {
    const columns = present.get(name);
    if (columns === undefined || !text.isForPeople) return [];
    const { description, key } = text;
    return [{ name, description, columns: keyColumns(key, columns), comparedAt: null }];
  });
  return [...ofForms, ...ofMirror];
}

function tableOf(
  { dialect }: Catalogue,
  { form, table, fields }: FormTable,
  present: ReadonlySet<string>,
): Relation {
  const system = SYSTEM_COLUMNS.filter((name) => present.has(name)).map((name): RelationColumn => ({
    name,
    description: SYSTEM_COLUMN_TEXTS[name],
    isUnique: name === 'id',
    isRequired: name === 'id',
  }));
  const own = fields
    .filter(({ column }) => present.has(column))
    .map(({ column, label, removedAt }): RelationColumn => {
      const gone = removedAt === null ? '' : ' (no longer in the form, or no longer picked)';
      return { name: column, description: label + gone, isUnique: false, isRequired: false };
    });
  const isLast = ({ name }: RelationColumn): boolean => name.startsWith('_');
  return {
    name: table,
    description: `The submissions of ${form.name}, those that are marked deleted included.`,
    columns: [...system.filter((one) => !isLast(one)), ...own, ...system.filter(isLast)],
    comparedAt: comparedAt(dialect.relation('mirror_checkpoints'), form.id),
  };
}

const viewOf = ({ form, view }: FormTable): Relation => ({
  name: view,
  description: `The submissions of ${form.name}, with the current labels for names of columns.`,
  columns: [],
  comparedAt: null,
});

/** IDs that every product and every tool takes as they are in a query. */
const PLAIN_ID = /^[\w.:-]+$/;

const comparedAt = (checkpoints: string, formId: string): string | null =>
  PLAIN_ID.test(formId)
    ? `select max(full_proven_at) from ${checkpoints} where form_id = '${formId}'`
    : null;

function keyColumns(key: readonly string[], present: readonly string[]): RelationColumn[] {
  return key
    .filter((name) => present.includes(name))
    .map((name) => ({
      name,
      description: KEY_TEXTS[name] ?? '',
      isUnique: key.length === 1,
      isRequired: true,
    }));
}

const KEY_TEXTS: Readonly<Record<string, string>> = {
  form_id: 'ID of the form at the source.',
  field_id: 'ID of the field at the source.',
  submission_id: 'ID of the submission at the source.',
};
