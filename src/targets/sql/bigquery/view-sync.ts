import { MODEL_VIEWS } from '../model-views.ts';
import { BigQueryError } from './bigquery-errors.ts';
import type { FormHold } from './form-hold.ts';
import { type FormState, stateFrom } from './form-state.ts';
import type { Store } from './store.ts';
import {
  labelledView,
  liveName,
  liveText,
  modelText,
  shownForm,
  VIEW_MARK,
  type ViewText,
} from './view-texts.ts';

/*
 * Views follow the forms: whoever changed a form makes its own, and those over all forms when its pass ends. A digest of each is in the
 * state, so that what is as it was costs nothing.
 */

/** Makes the views of a form what they are to be; `all`: and those over all forms. That one can't be made fails no pass: the next one tries again. */
export async function syncFormViews(hold: FormHold, which: 'own' | 'all'): Promise<void> {
  const { store } = hold;
  if (hold.state.table === null || hold.state.view === null) return;
  // Free of charge: one that people dropped is made again.
  const there = new Set(await store.jobs.tables());
  await put(hold, 'labelled', hold.state.view, labelledView(hold.state, store.relation), there);
  await put(hold, 'live', liveName(hold.state), liveText(hold.state, store.relation), there);
  if (which === 'own') return;
  const own = shownForm(hold.form.id, hold.state);
  const views = MODEL_VIEWS.map((view) => [view, modelText(view, [own], store.relation)] as const);
  const isSame = views.every(([view, text]) => {
    const isShown = text === undefined || there.has(viewName(hold.state, view) ?? '');
    return isShown && (digestOf(hold.state, view) ?? '') === (text?.digest ?? '');
  });
  if (isSame) return;
  const before = hold.state;
  let shown = '';
  // Others make them, too: whoever saves last is to have seen every form that was there.
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const forms = (await readForms(store)).map(([formId, state]) => shownForm(formId, state));
    const texts = views.map(([view, text]) => {
      return { view, digest: text?.digest ?? '', whole: modelText(view, forms, store.relation) };
    });
    const now = texts.map(({ whole }) => whole?.digest ?? '').join(' ');
    if (now === shown) break;
    shown = now;
    for (const { view, digest, whole } of texts) {
      if (whole === undefined) continue;
      const name = await save(hold, hold.state.views[view], view, whole);
      if (name !== undefined) note(hold, view, name, digest);
    }
  }
  if (hold.state !== before) await hold.commit(hold.state);
}

/** How often views over all forms are made again as others came to be meanwhile. */
const MOST_TRIES = 5;

/** Every form of the dataset that has a table, by name. */
export async function readForms(store: Store): Promise<(readonly [string, FormState])[]> {
  const forms = [...(await store.readForms())].flatMap(([formId, text]) => {
    const state = stateFrom(text);
    return state === undefined || state.table === null ? [] : [[formId, state] as const];
  });
  return forms.toSorted(([a, one], [b, other]) =>
    `${one.name}\0${a}` < `${other.name}\0${b}` ? -1 : 1,
  );
}

/** The name under which a view was made; undefined where it was not yet. */
export const viewName = (state: FormState, kind: string): string | undefined =>
  state.views[kind]?.split(' ')[0];

const digestOf = (state: FormState, kind: string): string | undefined =>
  state.views[kind]?.split(' ')[1];

async function put(
  hold: FormHold,
  kind: string,
  name: string,
  text: ViewText,
  there: ReadonlySet<string>,
): Promise<void> {
  const isThere = there.has(viewName(hold.state, kind) ?? '');
  if (digestOf(hold.state, kind) === text.digest && isThere) return;
  const saved = await save(hold, hold.state.views[kind], name, text);
  // Others learn of it with the next commit; until then it would be made once more, which changes nothing.
  if (saved !== undefined) note(hold, kind, saved, text.digest);
}

function note(hold: FormHold, kind: string, name: string, digest: string): void {
  hold.keep({ ...hold.state, views: { ...hold.state.views, [kind]: `${name} ${digest}` } });
}

/** Makes a view under its name, or under another one where something else has it; undefined where that failed. */
async function save(
  { store }: FormHold,
  known: string | undefined,
  name: string,
  { sql, description, columns }: ViewText,
): Promise<string | undefined> {
  const { jobs } = store;
  try {
    let chosen = known?.split(' ')[0] ?? name;
    for (let count = 2; ; count++) {
      const found = await jobs.table(chosen);
      const isOwn = found?.kind === 'view' && found.sql?.startsWith(VIEW_MARK) === true;
      if (found === undefined || isOwn) break;
      chosen = `${name}_${count}`;
    }
    await jobs.saveView(chosen, sql, description, columns);
    return chosen;
  } catch (error) {
    if (error instanceof BigQueryError) return undefined;
    throw error;
  }
}
