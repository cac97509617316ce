import { uniqueName } from '../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import type { ShownForm } from './answers-view.ts';
import type { SqlDialect } from './dialect.ts';
import {
  LIVE_MARK,
  LIVE_SUFFIX,
  liveColumns,
  liveView,
  MODEL_COLUMNS,
  type ModelView,
  modelView,
} from './model-views.ts';
import type { SqlSession } from './sql-session.ts';
import { liveKey, modelKey, type Notes } from './view-notes.ts';
import type { ViewDefinition, ViewSigns } from './view-sql.ts';

/** What a view over all forms is called where something else has its name. */
const secondName = (view: ModelView): string => `mirror_${view}`;

/** What goes through making the views. */
export interface Making {
  readonly notes: Pick<Notes, 'kept'>;
  /** By key the names of those that were made. */
  readonly made: Map<string, string>;
  /** By key those that were not, with what they were to be called. */
  readonly failed: Map<string, { readonly name: string; readonly error: unknown }>;
}

/** Makes the view of a form's live rows. */
export async function makeLive(
  tx: SqlSession,
  dialect: SqlDialect,
  form: ShownForm,
  making: Making,
): Promise<void> {
  const key = liveKey(form.form.id);
  const first = `${form.table}${LIVE_SUFFIX}`;
  const names = [making.notes.kept.get(key)?.name, first];
  const signs = { required: SYSTEM_COLUMNS, possible: liveColumns(form), mark: LIVE_MARK };
  await attempt(making, key, names, () =>
    place(tx, dialect, liveView(form, dialect), { names, last: first, signs }),
  );
}

/** Makes a view over all forms, or over those that are given. */
export async function makeModel(
  tx: SqlSession,
  dialect: SqlDialect,
  view: ModelView,
  { forms, ...making }: Making & { readonly forms: readonly ShownForm[] },
): Promise<void> {
  const definition = modelView(view, forms, dialect);
  if (definition === undefined) return;
  const key = modelKey(view);
  const own = Object.keys(MODEL_COLUMNS[view]);
  const names = [making.notes.kept.get(key)?.name, view, secondName(view)];
  const signs = { required: own, possible: own, mark: '' };
  await attempt(making, key, names, () =>
    place(tx, dialect, definition, { names, last: secondName(view), signs }),
  );
}

/** Makes one view. That it can't be made keeps no other from being made. */
async function attempt(
  { made, failed }: Making,
  key: string,
  names: readonly (string | undefined)[],
  make: () => Promise<string | undefined>,
): Promise<void> {
  const wanted = names.find((name) => name !== undefined) ?? '';
  try {
    const name = await make();
    if (name === undefined) failed.set(key, { name: wanted, error: undefined });
    else made.set(key, name);
  } catch (error) {
    failed.set(key, { name: wanted, error });
  }
}

/** Where a view may stand: under the first of `names` that is free or its own already, else under one like `last`. */
interface Placing {
  readonly names: readonly (string | undefined)[];
  readonly last: string;
  readonly signs: ViewSigns;
}

/** Makes a view; its name, or undefined where it can't be made. What people made under one of the names is left alone. */
async function place(
  tx: SqlSession,
  dialect: SqlDialect,
  view: ViewDefinition,
  { names, last, signs }: Placing,
): Promise<string | undefined> {
  const { views } = dialect;
  const taken = await dialect.relationNames(tx);
  for (const name of new Set(names)) {
    if (name === undefined) continue;
    const isOurs = !taken.has(name) || (await views.isOwn(tx, name, signs));
    if (isOurs && (await views.put(tx, name, view))) return name;
    taken.add(name);
  }
  const free = uniqueName(last, taken);
  return (await views.put(tx, free, view)) ? free : undefined;
}
