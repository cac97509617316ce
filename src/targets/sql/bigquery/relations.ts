import type { Relation, RelationColumn, TargetRelations } from '../../../mirror/relations.ts';
import { CATALOGUE_TEXTS, FORM_TEXTS } from '../descriptions.ts';
import { MODEL_COLUMNS, MODEL_TEXTS, MODEL_VIEWS } from '../model-views.ts';
import type { FormState } from './form-state.ts';
import type { Store } from './store.ts';
import { readForms, viewName } from './view-sync.ts';

/** IDs that every tool takes as they are in a query. */
const PLAIN_ID = /^[\w.:-]+$/;

/** The tables and views of a dataset for other tools to read. */
export async function readRelations(store: Store): Promise<TargetRelations> {
  const { project, dataset } = store.jobs;
  const forms = await readForms(store);
  const there = new Set(forms.length === 0 ? [] : await store.jobs.tables());
  const ofForms: Relation[] = [];
  for (const [formId, state] of forms)
    ofForms.push(...(await relationsOfForm(store, formId, state)));
  const all = [
    ...ofForms,
    ...MODEL_VIEWS.flatMap((view): Relation[] => {
      const name = forms.map(([, state]) => viewName(state, view)).find((one) => one !== undefined);
      if (name === undefined) return [];
      const columns = Object.entries(MODEL_COLUMNS[view]).map(([column, description]) =>
        columnOf(column, description, {
          isRequired: ['form_id', 'submission_id'].includes(column),
        }),
      );
      return [{ name, description: MODEL_TEXTS[view], columns, comparedAt: null }];
    }),
    ...Object.entries(CATALOGUE_TEXTS).flatMap(([name, { description, isForPeople, key }]) => {
      if (!isForPeople) return [];
      const columns = key.map((column) => {
        return columnOf(column, '', { isRequired: true, isUnique: key.length === 1 });
      });
      return [{ name, description, columns, comparedAt: null }];
    }),
  ];
  return {
    database: project,
    schema: dataset,
    relations: all.filter(({ name }) => there.has(name)),
  };
}

/** A table of ours with its columns as they are there; none where it is not. */
async function tableOf(
  store: Store,
  name: string,
  {
    isKeyed,
    ...texts
  }: Pick<Relation, 'description' | 'comparedAt'> & { readonly isKeyed: boolean },
): Promise<Relation[]> {
  const found = await store.jobs.table(name);
  if (found?.kind !== 'table') return [];
  const columns = found.columns.map((column) => {
    const isKey = isKeyed && column.name === 'id';
    const isRequired = column.name === 'id' || column.name === '_valid_from';
    return columnOf(column.name, column.description ?? '', { isUnique: isKey, isRequired });
  });
  return [{ name, columns, ...texts }];
}

async function relationsOfForm(
  store: Store,
  formId: string,
  state: FormState,
): Promise<Relation[]> {
  const form = { id: formId, slug: state.slug, name: state.name };
  const view = (name: string | undefined, description: string): Relation[] =>
    name === undefined ? [] : [{ name, description, columns: [], comparedAt: null }];
  const comparedAt = PLAIN_ID.test(formId)
    ? `select max(full_proven_at) from ${store.relation('mirror_checkpoints')} where form_id = '${formId}'`
    : null;
  const table = { description: FORM_TEXTS.table(form), isKeyed: true };
  const versions = { description: FORM_TEXTS.versions(form), isKeyed: false, comparedAt: null };
  const kept = state.history === null ? [] : await tableOf(store, state.history.table, versions);
  return [
    ...(await tableOf(store, state.table ?? '', { ...table, comparedAt })),
    ...view(viewName(state, 'labelled'), FORM_TEXTS.labelled(form)),
    ...view(viewName(state, 'live'), FORM_TEXTS.live(form)),
    ...kept,
  ];
}

const columnOf = (
  name: string,
  description: string,
  { isUnique = false, isRequired = false } = {},
): RelationColumn => ({ name, description, isUnique, isRequired });
