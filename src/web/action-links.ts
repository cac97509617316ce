import type { FormReport, StatusReport, TargetReport } from '../health/report.ts';
import type { ActionName } from './action-order.ts';
import { type Html, html } from './html.ts';

/** The address of the page that asks whether an action is meant. */
export function actPath(
  action: ActionName,
  place: { readonly form?: string; readonly target?: string } = {},
): string {
  return `/act?${new URLSearchParams({ do: action, ...place }).toString()}`;
}

const links = (all: readonly (readonly [string, string])[]): Html =>
  html`<span class="small"
    >${all.map(([path, words], at) => html`${at > 0 && ' · '}<a href="${path}">${words}</a>`)}</span
  >`;

/** What can be done with everything. */
export function mirrorActions({ targets }: StatusReport): Html {
  const isAll = targets.length > 0 && targets.every(({ pause }) => pause !== null);
  return links([
    [actPath('look'), 'Look now'],
    [actPath('compare'), 'Compare everything'],
    isAll ? [actPath('resume'), 'Resume everything'] : [actPath('pause'), 'Pause everything'],
  ]);
}

const reasonOf = (pause: FormReport['pause']): Html | null =>
  pause?.reason ? html`<span class="small quiet">${pause.reason} · </span>` : null;

/** What can be done with a target; and why it is paused. */
export function targetActions({ name: target, pause }: TargetReport): Html {
  if (pause !== null)
    return html`${reasonOf(pause)}${links([[actPath('resume', { target }), 'Resume']])}`;
  return links([
    [actPath('compare', { target }), 'Compare'],
    [actPath('pause', { target }), 'Pause'],
  ]);
}

/** What can be done with a form in a target; and why it is paused. */
export function formActions({ form, target, state, pause, withheld, problems }: FormReport): Html {
  if (state === 'ended') return html``;
  const place = { form: form.id, target };
  if (pause !== null) {
    const resumed = pause.ofTarget
      ? ([actPath('resume', { target }), `Resume target ${target}`] as const)
      : ([actPath('resume', place), 'Resume'] as const);
    return html`${reasonOf(pause)}${links([resumed])}`;
  }
  return links([
    ...(problems.length > 0 ? [[actPath('retry', place), 'Try again'] as const] : []),
    ...((withheld ?? 0) > 0 ? [[actPath('accept', place), 'Accept deletions'] as const] : []),
    [actPath('look', place), 'Look now'],
    [actPath('compare', place), 'Compare'],
    [actPath('pause', place), 'Pause'],
  ]);
}
