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
  /** The target's name. */
  readonly name: string;
  readonly nowMs: number;
  /** How many problems may still be shown in full. */
  readonly budget: { left: number };
}

/** A column's head: the target, where it is, and when it is written next. */
export function targetHeading(target: TargetReport, report: StatusReport): Html {
  const nowMs = Date.parse(report.at);
  const { name, kind, address, paused, readable, readAt } = target;
  const next = report.forms.find((form) => form.target === name && form.nextRunAt !== null);
  return html`<th scope="col">
    <b>${name}</b>
    ${paused && html` <span class="state waiting">${stateIcon('waiting')} Paused</span>`}
    <span class="fact">${kind !== null && `${productOf(kind)}: `}${address}</span>
    ${next !== undefined && html`<span class="fact">next run ${timeUntil(next.nextRunAt, nowMs)}</span>`}
    ${!readable && html`<span class="fact">as of ${timeAgo(readAt, nowMs, 'never read')}</span>`}
    ${!isKnown(target) && !report.forms.some((form) => form.target === name) && html`<span class="fact">What is mirrored here is not known.</span>`}
  </th>`;
}

/** One form in one target. */
export function formCell(report: FormReport | undefined, context: CellContext): Html {
  if (report === undefined) {
    return html`<td class="none" data-label="${context.name}">not mirrored here</td>`;
  }
  const { nowMs, name } = context;
  const { state, title, rows, covers } = report;
  const missing = missingTime(report);
  return html`<td data-label="${name}">
    ${stateMark(state, title)}${runningMark(report)}
    <span class="fact"
      >${rows === null ? 'rows unknown' : plural(rows, 'row')}${openLink(report)}</span
    >
    <span class="fact"
      >submissions: ${timeAgo(covers.membership, nowMs, missing)}${exceptText(covers)} ·
      ${
        covers.statuses === covers.answers
          ? 'statuses and answers: '
          : html`statuses: ${timeAgo(covers.statuses, nowMs, missing)} · answers: `
      }${timeAgo(covers.answers, nowMs, missing)}</span
    >${formNotes(report, nowMs)}${problems(report, context)}
  </td>`;
}

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
