import { actionMenu, targetActions } from './action-menu.ts';
import { type Html, html } from './html.ts';
import { productOf } from '../targets/target-kinds.ts';
import { exceptText } from '../health/coverage.ts';
import { stateIcon } from './page-icons.ts';
import {
  formNotes,
  formPath,
  problemBox,
  runningMark,
  stateMark,
  targetLink,
  timeAgo,
  timeUntil,
} from './page-parts.ts';
import {
  type FormReport,
  type StatusReport,
  type TargetReport,
  isKnown,
  missingTime,
} from '../health/report.ts';
import { plural } from '../base/format.ts';

/** What a cell needs to know of its page. */
export interface CellContext {
  /** The target's name, and when it was last read (ISO). */
  readonly name: string;
  readonly readAt: string | null;
  readonly nowMs: number;
  /** How many problems may still be shown in full. */
  readonly budget: { left: number };
}

/** A column's head: the target, where it is, when it is written next, and what can be done with it. */
export function targetHeading(
  target: TargetReport,
  report: StatusReport,
  { actions, at }: { readonly actions: boolean; readonly at: number },
): Html {
  const nowMs = Date.parse(report.at);
  const { name, paused, readable, readAt } = target;
  const next = report.forms.find((form) => form.target === name && form.nextRunAt !== null);
  return html`<th scope="col">
    <b>${name}</b>
    ${paused && html` <span class="state waiting">${stateIcon('waiting')} Paused</span>`}
    <span class="fact">${addressText(target)}</span>
    ${next !== undefined && html`<span class="fact">next run ${timeUntil(next.nextRunAt, nowMs)}</span>`}
    ${!readable && html`<span class="fact">as of ${timeAgo(readAt, nowMs, 'never read')}</span>`}
    ${!isKnown(target) && !report.forms.some((form) => form.target === name) && html`<span class="fact">What is mirrored here is not known.</span>`}
    ${actions && actionMenu({ id: `menu-t${at}`, about: `target ${name}`, actions: targetActions(target) })}
  </th>`;
}

/** Where the target is: a link where a browser opens it. */
function addressText({ kind, address }: TargetReport): Html | string | null {
  const product = kind === null ? null : productOf(kind);
  if (address !== null && /^https?:\/\//.test(address)) {
    return html`<a href="${address}" rel="noreferrer">${product ?? address}</a>`;
  }
  return product === null ? address : `${product}: ${address ?? ''}`;
}

/** One form in one target. */
export function formCell(report: FormReport | undefined, context: CellContext): Html {
  if (report === undefined) {
    return html`<td class="none" data-label="${context.name}">not mirrored here</td>`;
  }
  const { nowMs, name, readAt } = context;
  const { state, title, rows, pause } = report;
  return html`<td data-label="${name}">
    ${stateMark(state, title)}${runningMark(report)}${pauseReason(pause)}
    <span class="fact"
      >${rows === null ? 'rows unknown' : plural(rows, 'row')}${isRowsOld(report, readAt) && html`, counted ${timeAgo(readAt, nowMs)}`}${openLink(report)}</span
    >
    <span class="fact">${coverage(report, nowMs)}</span
    >${formNotes(report, nowMs)}${problems(report, context)}
  </td>`;
}

/** Why a person paused it; a whole target says so in its heading. */
export const pauseReason = (pause: FormReport['pause']): Html | null =>
  pause?.reason ? html`<span class="fact">${pause.reason}</span>` : null;

/** Reading a spreadsheet has its price: its rows may have been counted before its last pass ended. */
const isRowsOld = ({ lastPass }: FormReport, readAt: string | null): boolean =>
  lastPass !== null && readAt !== null && Date.parse(lastPass.endedAt) > Date.parse(readAt);

/** What is claimed, each with since when; what is as old stands together. */
function coverage(report: FormReport, nowMs: number): Html {
  const { membership, statuses, answers } = report.covers;
  const except = exceptText(report.covers);
  const parts: { names: string[]; readonly at: string | null; readonly but: string }[] = [];
  for (const [name, at, but] of [
    ['submissions', membership, except],
    ['statuses', statuses, ''],
    ['answers', answers, ''],
  ] as const) {
    const last = parts.at(-1);
    if (last !== undefined && last.at === at && last.but === but) last.names.push(name);
    else parts.push({ names: [name], at, but });
  }
  return html`${parts.map(({ names, at, but }, index) => {
    const words = `${index > 0 ? ' · ' : ''}${listed(names)}: `;
    return html`${words}${timeAgo(at, nowMs, missingTime(report))}${but}`;
  })}`;
}

/** `statuses and answers` */
const listed = (names: readonly string[]): string =>
  names.length === 1
    ? names.join('')
    : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;

function openLink(report: FormReport): Html | null {
  const link = targetLink(report);
  return link && html` · ${link}`;
}

/** What has ended needs no attention any more; its own page still shows why. */
function problems(report: FormReport, { budget }: CellContext): readonly Html[] {
  if (report.state === 'ended') return [];
  return report.problems
    .filter(({ inhibited }) => !inhibited)
    .map((problem) => {
      if (budget.left-- > 0) return problemBox(problem);
      return html`<span class="fact"
        >${problem.title}: <a href="${formPath(report.form.id)}">what to do</a></span
      >`;
    });
}
