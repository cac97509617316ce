import { type Html, html } from './html.ts';

/** What an admin can have done. */
export type ActionName = 'look' | 'compare' | 'pause' | 'resume' | 'retry' | 'accept';

/** What an action is about; without form and target everything. */
export interface ActionSubject {
  readonly form?: string | undefined;
  readonly target?: string | undefined;
}

const WORDS: Readonly<Record<ActionName, string>> = {
  look: 'Look now',
  compare: 'Compare now',
  pause: 'Pause',
  resume: 'Resume',
  retry: 'Try again',
  accept: 'Accept deletions',
};

/** The page that asks before it is done. */
export function actionPath(name: ActionName, { form, target }: ActionSubject): string {
  const params = new URLSearchParams({ do: name });
  if (form !== undefined) params.set('form', form);
  if (target !== undefined) params.set('target', target);
  return `/act?${params.toString()}`;
}

/** See {@link actionMenu}. */
export interface ActionMenu {
  /** Unique on the page. */
  readonly id: string;
  /** What it is about, for screen readers: `all forms`, `"Contact"`. */
  readonly about: string;
  readonly subject: ActionSubject;
  readonly actions: readonly ActionName[];
  /** Unfolds to the left. */
  readonly end?: boolean;
}

/** Links to what can be done, folded. */
export function actionMenu({ id, about, subject, actions, end = false }: ActionMenu): Html {
  return html`<details class="menu${end ? ' end' : ''}" id="${id}">
    <summary aria-label="Actions for ${about}">Actions ▾</summary>
    <ul>
      ${actions.map((name) => html`<li><a href="${actionPath(name, subject)}">${WORDS[name]}</a></li>`)}
    </ul>
  </details>`;
}
