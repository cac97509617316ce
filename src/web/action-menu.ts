import type { FormReport, StatusReport, TargetReport } from '../health/report.ts';
import type { ActionName } from './action-order.ts';
import { type Html, html } from './html.ts';

/** What an action is about; without form and target everything. */
export interface ActionSubject {
  readonly form?: string | undefined;
  readonly target?: string | undefined;
}

/** An action that can be asked for now. */
export interface OfferedAction {
  readonly name: ActionName;
  readonly subject: ActionSubject;
  /** Other words than those of {@link WORDS}. */
  readonly words?: string;
}

const WORDS: Readonly<Record<ActionName, string>> = {
  look: 'Look now',
  compare: 'Compare now',
  pause: 'Pause',
  resume: 'Resume',
  retry: 'Try again',
  accept: 'Accept deletions',
  alert: 'Send a test alert',
};

/** The page that asks before it is done. */
export function actPath(name: ActionName, { form, target }: ActionSubject = {}): string {
  const params = new URLSearchParams({ do: name });
  if (form !== undefined) params.set('form', form);
  if (target !== undefined) params.set('target', target);
  return `/act?${params.toString()}`;
}

/** What can be done with everything. `alerts`: there are channels to try. */
export function mirrorActions({ targets }: StatusReport, alerts: boolean): OfferedAction[] {
  const subject = {};
  const paused = targets.filter(({ pause }) => pause !== null).length;
  return [
    { name: 'look', subject },
    { name: 'compare', subject },
    ...(paused < targets.length ? [{ name: 'pause', subject } as const] : []),
    ...(paused > 0 ? [{ name: 'resume', subject } as const] : []),
    ...(alerts ? [{ name: 'alert', subject } as const] : []),
  ];
}

/** What can be done with a target. */
export function targetActions({ name: target, pause }: TargetReport): OfferedAction[] {
  const subject = { target };
  if (pause !== null) return [{ name: 'resume', subject }];
  return [
    { name: 'compare', subject },
    { name: 'pause', subject },
  ];
}

/** What can be done with a form, in one of its targets or in all. */
export function formActions(
  all: readonly FormReport[],
  subject: { readonly form: string; readonly target?: string },
): OfferedAction[] {
  const forms = all.filter(({ state }) => state !== 'ended');
  const live = forms.filter(({ pause }) => pause === null);
  const ofTarget = forms.filter(({ pause }) => pause?.ofTarget === true);
  const isPaused = forms.some(({ pause }) => pause?.ofTarget === false);
  const offered = (name: ActionName, isOffered: boolean): OfferedAction[] =>
    isOffered ? [{ name, subject }] : [];
  return [
    ...offered('look', live.length > 0),
    ...offered('compare', live.length > 0),
    ...offered(
      'retry',
      live.some(({ problems }) => problems.length > 0),
    ),
    ...acceptActions(live, subject),
    ...offered('pause', live.length > 0),
    ...offered('resume', isPaused),
    ...ofTarget.map(({ target }) => {
      return { name: 'resume', subject: { target }, words: `Resume target ${target}` } as const;
    }),
  ];
}

/** A person accepts the number of one target: that of another would stand for what nobody has seen there. */
function acceptActions(
  live: readonly FormReport[],
  subject: { readonly form: string; readonly target?: string },
): OfferedAction[] {
  const withheld = live.filter((form) => (form.withheld ?? 0) > 0);
  return withheld.map(({ target }): OfferedAction => {
    const words = withheld.length > 1 ? `Accept deletions in ${target}` : WORDS.accept;
    return { name: 'accept', subject: { ...subject, target }, words };
  });
}

/** See {@link actionMenu}. */
export interface ActionMenu {
  /** Unique on the page. */
  readonly id: string;
  /** What it is about, for screen readers: `all forms`, `"Contact"`. */
  readonly about: string;
  readonly actions: readonly OfferedAction[];
  /** Unfolds to the left. */
  readonly end?: boolean;
}

/** Links to what can be done, folded; nothing where nothing can. */
export function actionMenu({ id, about, actions, end = false }: ActionMenu): Html | null {
  if (actions.length === 0) return null;
  return html`<details class="menu${end ? ' end' : ''}" id="${id}">
    <summary aria-label="Actions for ${about}">Actions ▾</summary>
    <ul>
      ${actions.map(({ name, subject, words }) => html`<li><a href="${actPath(name, subject)}">${words ?? WORDS[name]}</a></li>`)}
    </ul>
  </details>`;
}
