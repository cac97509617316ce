import type { Relation, RelationColumn, TargetRelations } from '../../mirror/relations.ts';
import { isHistory } from './row-history.ts';
import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import { partsOf } from './answer-parts.ts';
import { type Catalogue, loadForms } from './catalogue.ts';
import {
  CATALOGUE_TEXTS,
  FORM_TEXTS,
  MORE_TEXT,
  PART_TEXTS,
  SYSTEM_COLUMN_TEXTS,
} from './descriptions.ts';
import type { SqlDialect } from './dialect.ts';
import { type FormTable, MORE_COLUMN } from './field-column.ts';
import { MODEL_COLUMNS, MODEL_TEXTS, type ModelView } from './model-views.ts';
import { liveViewNames, modelViewNames } from './view-notes.ts';
import type { RelationTexts } from './view-sql.ts';

/** Where the tables are, as tools that connect to the database call it. */
export type SqlPlaceName = Pick<TargetRelations, 'database' | 'schema'>;

/** The tables and views that are there, with those of their columns that are there. */
export async function readRelations(catalogue: Catalogue): Promise<readonly Relation[]> {
  const { session, dialect } = catalogue;
  const forms = await loadForms(session, dialect);
  const names = [
    ...forms.flatMap(({ table, history }) => (history ? [table, history.table] : [table])),
    ...Object.keys(CATALOGUE_TEXTS),
  ];
  const all = await dialect.relationNames(session);
  const live = await liveViewNames(session, dialect);
  const present = await dialect.columnsOfEach(session, new Set(names));
  const ofForms = forms.flatMap((form) => {
    const columns = present.get(form.table);
    const table = columns && tableOf(dialect, form, new Set(columns));
    const liveName = live.get(form.form.id);
    const view = all.has(form.view) ? viewOf(form) : undefined;
    const rest = liveName !== undefined && all.has(liveName) ? liveOf(form, liveName) : undefined;
    const kept = form.history && present.get(form.history.table);
    const versions = kept && isHistory(kept) && versionsOf(dialect, form, kept);
    return [table, view, rest, versions].filter(
      (relation) => relation !== undefined && relation !== null && relation !== false,
    );
  });
  const ofModel = [...(await modelViewNames(session, dialect))].flatMap(([view, name]) =>
    all.has(name) ? [modelOf(view, name)] : [],
  );
  const ofMirror = Object.entries(CATALOGUE_TEXTS).flatMap(([name, text]): Relation[] => {
    const columns = present.get(name);
    if (columns === undefined || !text.isForPeople) return [];
    const { description, key } = text;
    return [{ name, description, columns: keyColumns(key, columns), comparedAt: null }];
  });
  return [...ofForms, ...ofModel, ...ofMirror];
}

/** What people are told of a form's table, and of what they see beside it in their tools: its history, its view with labels. */
export function textsOfForm(
  dialect: SqlDialect,
  form: FormTable,
  columns: {
    readonly table: ReadonlySet<string>;
    readonly versions: readonly string[] | undefined;
  },
): RelationTexts[] {
  const table = tableOf(dialect, form, columns.table);
  const versions = columns.versions && versionsOf(dialect, form, columns.versions);
  const textsOf = (kind: 'table' | 'view', relation: Relation): RelationTexts => ({
    name: relation.name,
    kind,
    description: relation.description,
    columns: Object.fromEntries(relation.columns.map((one) => [one.name, one.description])),
  });
  return [
    textsOf('table', table),
    ...(versions === undefined ? [] : [textsOf('table', versions)]),
    { ...textsOf('view', viewOf(form)), columns: SYSTEM_COLUMN_TEXTS },
  ];
}

function tableOf(
  dialect: SqlDialect,
  { form, table, fields }: FormTable,
  present: ReadonlySet<string>,
): Relation {
  const system = SYSTEM_COLUMNS.filter((name) => present.has(name)).map((name): RelationColumn => ({
    name,
    description: SYSTEM_COLUMN_TEXTS[name],
    isUnique: name === 'id',
    isRequired: name === 'id',
  }));
  const own = partsOf(fields)
    .filter(({ name, storage }) => storage === 'column' && present.has(name))
    .map(({ field: { label, removedAt }, kind, name }): RelationColumn => {
      const gone = removedAt === null ? '' : ' (no longer in the form, or no longer picked)';
      const description = label + PART_TEXTS[kind] + gone;
      return { name, description, isUnique: false, isRequired: false };
    });
  const more: RelationColumn[] = present.has(MORE_COLUMN)
    ? [{ name: MORE_COLUMN, description: MORE_TEXT, isUnique: false, isRequired: false }]
    : [];
  const isLast = ({ name }: RelationColumn): boolean => name.startsWith('_');
  return {
    name: table,
    description: FORM_TEXTS.table(form),
    columns: [...system.filter((one) => !isLast(one)), ...own, ...more, ...system.filter(isLast)],
    comparedAt: comparedAt(dialect.relation('mirror_checkpoints'), form.id),
  };
}

/** The versions that the rows of a form had. */
function versionsOf(
  dialect: SqlDialect,
  form: FormTable,
  present: readonly string[],
): Relation | undefined {
  if (!form.history) return undefined;
  const { columns } = tableOf(dialect, form, new Set(present));
  const times = Object.entries(VERSION_TEXTS).map(([name, description]): RelationColumn => {
    return { name, description, isUnique: false, isRequired: name !== '_valid_to' };
  });
  return {
    name: form.history.table,
    description: FORM_TEXTS.versions(form.form),
    columns: [...columns.map((column) => Object.assign({}, column, { isUnique: false })), ...times],
    comparedAt: null,
  };
}

const VERSION_TEXTS = {
  _valid_from: 'From when on it was so, as the mirror saw it.',
  _valid_to: 'Until when, without that instant; empty for what is so now.',
  _is_deleted: 'Whether the submission was deleted at the source then.',
};

const viewOf = ({ form, view }: FormTable): Relation => ({
  name: view,
  description: FORM_TEXTS.labelled(form),
  columns: [],
  comparedAt: null,
});

const liveOf = ({ form }: FormTable, name: string): Relation => ({
  name,
  description: FORM_TEXTS.live(form),
  columns: [],
  comparedAt: null,
});

const modelOf = (view: ModelView, name: string): Relation => ({
  name,
  description: MODEL_TEXTS[view],
  columns: Object.entries(MODEL_COLUMNS[view]).map(([column, description]) => ({
    name: column,
    description,
    isUnique: false,
    isRequired: column === 'form_id' || column === 'submission_id',
  })),
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
