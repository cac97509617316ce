import { type Html, html } from './html.ts';
import { stateIcon } from './page-icons.ts';
import type { HealthState } from '../mirror/health-text.ts';
import {
  absentNote,
  type FormReport,
  type ShownProblem,
  type StatusReport,
} from '../health/report.ts';
import { STATE_TITLES } from '../health/form-health.ts';
import { ago, count, exact, plural, soon } from '../base/format.ts';

/** A time as an age; the exact one in its title. */
export function timeAgo(iso: string | null, nowMs: number, none = 'never'): Html {
  if (iso === null) return html`<span class="quiet">${none}</span>`;
  return html`<time datetime="${iso}" title="${exact(iso)}">${ago(iso, nowMs)}</time>`;
}

/** A time to come. */
export function timeUntil(iso: string | null, nowMs: number, none = '–'): Html {
  if (iso === null) return html`<span class="quiet">${none}</span>`;
  return html`<time datetime="${iso}" title="${exact(iso)}">${soon(iso, nowMs)}</time>`;
}

/** Icon and word of a state. */
export function stateMark(state: HealthState, words: string = STATE_TITLES[state]): Html {
  return html`<span class="state ${state}">${stateIcon(state)} ${words}</span>`;
}

/** The same of what forms depend on, which says nothing of a form. */
export function signMark(state: HealthState, words: string): Html {
  return html`<span class="sign ${state}">${stateIcon(state)} ${words}</span>`;
}

/** What is wrong and what to do about it. `wide`: a box of its own, not part of a table. */
export function problemBox(problem: ShownProblem, { wide = false } = {}): Html {
  const { level, code, title, message, remedy, command, since } = problem;
  const state: HealthState = level === 'error' ? 'failed' : 'attention';
  return html`<div class="problem ${state}${wide ? ' wide' : ''}" role="note">
    ${stateIcon(state)}
    <div>
      <strong class="title">${title}</strong>
      <span class="code">${code}</span>
      ${
        since !== null &&
        html`<span class="code">since <time datetime="${since}">${exact(since)}</time></span>`
      }
      <p>${message}</p>
      ${remedy !== null && html`<p>${remedy}</p>`}
      ${command !== null && html`<code class="command">${command}</code>`}
    </div>
  </div>`;
}

/** Boxes for the problems that no shared one explains. */
export function problemBoxes(problems: readonly ShownProblem[]): readonly Html[] {
  return problems.filter(({ inhibited }) => !inhibited).map((problem) => problemBox(problem));
}

/** The address of a form's own page. */
export const formPath = (formId: string): string => `/forms/${encodeURIComponent(formId)}`;

/** The place of a target's rejections on a form's page. */
export const rejectedAnchor = (target: string): string => `rejected-${target}`;

/** What is worth knowing about a form that is not a problem. */
export function formNotes(report: FormReport, nowMs: number): Html {
  const { form, target, rejected, deletedRows } = report;
  const link = `${formPath(form.id)}#${rejectedAnchor(target)}`;
  return html`${rejected !== null && rejected > 0 && html`<a class="note" href="${link}">${count(rejected)} rejected</a>`}${
    deletedRows !== null &&
    deletedRows > 0 &&
    html`<span class="note">${count(deletedRows)} deleted at the source</span>`
  }${
    report.covers.absent > 0 &&
    html`<span class="note" title="${absentNote(report, nowMs)}"
      >${plural(report.covers.absent, 'deletion')} to look for</span
    >`
  }`;
}

/** What opens the form in its target: a tab of a spreadsheet, or the name of a table to copy. Null before there is one. */
export function targetLink({ url, table, form }: FormReport): Html | null {
  if (url !== null && /^https?:\/\//.test(url)) {
    return html`<a href="${url}" rel="noreferrer" aria-label="Open the sheet of ${form.name}"
      >open</a
    >`;
  }
  return table === null ? null : html`<code class="copy" title="Name of the table">${table}</code>`;
}

/** How far a running pass has come. */
export function runningMark({ running }: FormReport): Html | null {
  if (running === null) return null;
  const { seen, total, kind } = running;
  const known = Math.max(seen, total);
  if (known === 0) return html`<div class="small quiet">${kind} pass begins</div>`;
  return html`<div class="small quiet">${count(seen)} of ${count(known)}</div>
    ${progressBar(seen, known)}`;
}

/** A bar that screen readers can name. */
export const progressBar = (seen: number, known: number): Html =>
  html`<progress max="${known}" value="${seen}" aria-label="Submissions seen">
    ${count(seen)}
  </progress>`;

/** The line at the end of every page. */
export function pageFooter(report: StatusReport): Html {
  const { queue } = report;
  const jobs = queue && `${plural(queue.active, 'job')} running, ${count(queue.waiting)} waiting`;
  return html`<footer>
    <span
      >${queue === null ? 'The queue does not answer' : `Queue: ${queue.address}${queue.reachable ? `, ${jobs}` : ', does not answer'}`}</span
    >
    <span
      ><a href="/queue">Queue</a> · <a href="/api/status">JSON</a> ·
      <a href="/metrics">Metrics</a> · forms-mirror ${report.version}</span
    >
  </footer>`;
}
