import type { PassRecord } from '../mirror/types.ts';
import { formActions } from './action-links.ts';
import { type Html, html } from './html.ts';
import { passHistory } from './pass-history.ts';
import { stateIcon } from './page-icons.ts';
import {
  problemBox,
  problemBoxes,
  rejectedAnchor,
  runningMark,
  stateMark,
  timeAgo,
  timeUntil,
} from './page-parts.ts';
import {
  type FormReport,
  type ShownProblem,
  type StatusReport,
  absentNote,
  countText,
  missingTime,
  stateOfAll,
} from '../health/report.ts';
import type { RejectionList } from '../health/facts.ts';
import { count, plural, span } from '../base/format.ts';
import { exceptText } from '../health/coverage.ts';

/** What `/forms/:id` shows of one target besides the report. Null: it could not be read. */
export interface FormHistory {
  readonly target: string;
  readonly passes: readonly PassRecord[] | null;
  readonly rejections: RejectionList | null;
}

/** The page of one form: its health in each target, its recent passes and what was rejected. Pure. */
export function formMain(
  report: StatusReport,
  forms: readonly FormReport[],
  histories: readonly FormHistory[],
): Html {
  const [first] = forms;
  const state = stateOfAll(forms);
  const nowMs = Date.parse(report.at);
  return html`<main>
    <section class="hero">
      <div class="medal ${state}">${stateIcon(state)}</div>
      <div>
        <h1><bdi>${first?.form.name}</bdi></h1>
        <p class="quiet">
          <a href="/">All forms</a> · <bdi>${first?.form.slug}</bdi> ·
          <span class="id">${first?.form.id}</span>
        </p>
      </div>
    </section>
    ${report.problems.map((problem) => problemBox(problem, { wide: true }))}
    ${forms.map((form) => {
      const history = histories.find(({ target }) => target === form.target);
      const target = report.targets.find(({ name }) => name === form.target);
      return targetCard(form, target?.problem ?? null, history, nowMs);
    })}
  </main>`;
}

function targetCard(
  form: FormReport,
  shared: ShownProblem | null,
  history: FormHistory | undefined,
  nowMs: number,
): Html {
  const passes = history?.passes ?? [];
  return html`<section class="card">
    <header>
      <h2>${form.target}</h2>
      <span class="small quiet">${form.location}</span
      ><span class="right">${stateMark(form.state, form.title)}${runningMark(form)}</span>
    </header>
    <p class="problem">${formActions(form)}</p>
    ${shared !== null && problemBox(shared)} ${problemBoxes(form.problems)} ${facts(form, nowMs)}
    ${form.covers.absent > 0 && html`<p class="problem quiet">${absentNote(form, nowMs)}</p>`}
    ${history?.passes === null && html`<p class="problem quiet">The passes cannot be read just now.</p>`}
    ${passes.length > 0 && passHistory(form.target, passes, nowMs)}
    ${rejectionPart(form, history?.rejections ?? null, nowMs)}
  </section>`;
}

function facts(form: FormReport, nowMs: number): Html {
  const { lagSeconds, droppedColumns } = form;
  const notices = form.notices.filter(({ code }) => code !== 'COLUMNS_DELETED');
  const list: readonly (readonly [string, Html | string])[] = [
    ['Rows', countText(form.rows)],
    ['Deleted at the source', countText(form.deletedRows)],
    ['Rejected', countText(form.rejected)],
    ['Deletions withheld', countText(form.withheld)],
    ['Deletions to look for', countText(form.rows === null ? null : form.covers.absent)],
    [
      'Submissions as of',
      html`${timeAgo(form.covers.membership, nowMs, missingTime(form))}${exceptText(form.covers)}`,
    ],
    ['Statuses as of', timeAgo(form.covers.statuses, nowMs, missingTime(form))],
    ['Answers as of', timeAgo(form.covers.answers, nowMs, missingTime(form))],
    ['Lag', lagSeconds === null ? '–' : span(lagSeconds * 1_000)],
    ['Next run', timeUntil(form.nextRunAt, nowMs)],
    ...((form.forgotten ?? 0) > 0
      ? [['Forgotten on request', countText(form.forgotten)] as const]
      : []),
  ];
  return html`<dl class="facts">
    ${list.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
    ${
      droppedColumns.length > 0 &&
      html`<div class="long">
        <dt>Columns that were deleted in the sheet and are not made again</dt>
        <dd>
          ${droppedColumns.join(', ')}.
          <code>forms-mirror sync --full --restore-columns</code> brings them back.
        </dd>
      </div>`
    }
    ${
      notices.length > 0 &&
      html`<div class="long">
        <dt>What to know of the target</dt>
        ${notices.map(({ message, remedy }) => html`<dd>${message} ${remedy}</dd>`)}
      </div>`
    }
  </dl>`;
}

function rejectionPart(
  form: FormReport,
  rejections: RejectionList | null,
  nowMs: number,
): Html | null {
  if (rejections === null) {
    return form.rejected === 0
      ? null
      : html`<p class="problem quiet" id="${rejectedAnchor(form.target)}">
          What was rejected cannot be read just now.
        </p>`;
  }
  const { total, items } = rejections;
  if (total === 0) return null;
  const more = items.length < total ? `the newest ${count(items.length)} of ${count(total)}` : '';
  return html`<h3 class="part" id="${rejectedAnchor(form.target)}">
      ${plural(total, 'rejected submission')} <span class="quiet">${more}</span>
    </h3>
    <table class="list">
      <thead>
        <tr>
          <th>Submission</th>
          <th>Reason</th>
          <th>Stored</th>
          <th>First met</th>
          <th>Last met</th>
        </tr>
      </thead>
      <tbody>
        ${items.map(
          (item) =>
            html`<tr>
              <td class="id" data-label="Submission">${item.submissionId}</td>
              <td class="full" data-label="Reason">${item.reason}</td>
              <td data-label="Stored">${item.stored ? 'yes, with the defect shown' : 'no'}</td>
              <td data-label="First met">${timeAgo(item.firstSeenAt, nowMs)}</td>
              <td data-label="Last met">${timeAgo(item.lastSeenAt, nowMs)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}
