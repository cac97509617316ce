import { isDeepStrictEqual } from 'node:util';
import { MODEL_VIEWS } from '../model-views.ts';
import type { ViewFailure } from '../view-notes.ts';
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

/**
 * Makes the views of a form what they are to be; `all`: and those over all forms. That one can't be made fails no pass: it is remembered,
 * told as a notice, and the next one tries again.
 */
export async function syncFormViews(hold: FormHold, which: 'own' | 'all'): Promise<void> {
  const { store } = hold;
  const before = hold.state;
  if (before.table === null || before.view === null) return;
  // Free of charge: one that people dropped is made again.
  const there = new Set(await store.jobs.tables());
  await put(hold, 'labelled', before.view, labelledView(before, store.relation), there);
  await put(hold, 'live', liveName(before), liveText(before, store.relation), there);
  // What was made is committed with whatever the pass writes next.
  if (which === 'own') return;
  await putModel(hold, there);
  if (hold.state !== before) await hold.commit(hold.state);
}

/** Makes the views over all forms. */
async function putModel(hold: FormHold, there: ReadonlySet<string>): Promise<void> {
  const { store } = hold;
  const own = shownForm(hold.form.id, hold.state);
  const views = MODEL_VIEWS.map((view) => [view, modelText(view, [own], store.relation)] as const);
  const isSame = views.every(([view, text]) => {
    const isShown = text === undefined || there.has(viewName(hold.state, view) ?? '');
    return isShown && (digestOf(hold.state, view) ?? '') === (text?.digest ?? '');
  });
  if (isSame) {
    for (const view of MODEL_VIEWS) noteMade(hold, view);
    return;
  }
  let shown = '';
  // Others make them, too: whoever saves last is to have seen every form that was there.
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const forms = (await readForms(store)).map(([formId, state]) => shownForm(formId, state));
    const texts = views.map(([view, text]) => {
      return { view, digest: text?.digest ?? '', whole: modelText(view, forms, store.relation) };
    });
    const now = texts.map(({ whole }) => whole?.digest ?? '').join(' ');
    if (now === shown) return;
    shown = now;
    for (const { view, digest, whole } of texts)
      if (whole !== undefined) await save(hold, view, view, { ...whole, digest });
  }
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
  if (digestOf(hold.state, kind) === text.digest && isThere) noteMade(hold, kind);
  else await save(hold, kind, name, text);
}

/** Remembers that a view is as it is to be; `made`: under which name and digest, where it was made just now. */
function noteMade(hold: FormHold, kind: string, made?: string): void {
  const { state } = hold;
  const { [kind]: failure, ...viewFailures } = state.viewFailures;
  if (failure === undefined && (made === undefined || state.views[kind] === made)) return;
  const views = made === undefined ? state.views : { ...state.views, [kind]: made };
  hold.keep({ ...state, views, viewFailures });
}

/** Remembers that a view could not be made, since when, and why. */
function noteFailure(hold: FormHold, kind: string, failure: Omit<ViewFailure, 'at'>): void {
  const { state } = hold;
  const known = state.viewFailures[kind];
  if (known !== undefined && isDeepStrictEqual(known, { ...failure, at: known.at })) return;
  const at = known?.at ?? hold.now();
  hold.keep({ ...state, viewFailures: { ...state.viewFailures, [kind]: { ...failure, at } } });
}

/** Makes a view under its name, or under another one where something else has it, and remembers what came of it. */
async function save(
  hold: FormHold,
  kind: string,
  name: string,
  { sql, description, columns, digest }: ViewText,
): Promise<void> {
  const { jobs } = hold.store;
  let chosen = viewName(hold.state, kind) ?? name;
  let isMissing = true;
  try {
    for (let count = 2; ; count++) {
      const found = await jobs.table(chosen);
      const isOwn = found?.kind === 'view' && found.sql?.startsWith(VIEW_MARK) === true;
      isMissing = !isOwn;
      if (found === undefined || isOwn) break;
      chosen = `${name}_${count}`;
    }
    await jobs.saveView(chosen, sql, description, columns);
    noteMade(hold, kind, `${chosen} ${digest}`);
  } catch (error) {
    if (!(error instanceof BigQueryError)) throw error;
    const { what, remedy } = error;
    noteFailure(hold, kind, { name: chosen, isMissing, what: what.replace(/\.$/, ''), remedy });
  }
}
