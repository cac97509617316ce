import type { PassRecord } from '../mirror/types.ts';
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
import { type FormReport, type ShownProblem, type StatusReport, stateOfAll } from './report.ts';
import type { RejectionList } from './source.ts';
import { count, plural, span } from './words.ts';

/** What `/forms/:id` shows of one target besides the report. Null: it could not be read. */
export interface FormHistory {
  readonly target: string;
  readonly passes: readonly PassRecord[] | null;
  readonly rejections: RejectionList | null;
}

/** The page of one form: how it stands in each target, its recent passes and what was rejected. Pure. */
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
      ><span class="right">${stateMark(form.state)}${runningMark(form)}</span>
    </header>
    ${shared !== null && problemBox(shared)} ${problemBoxes(form.problems)} ${facts(form, nowMs)}
    ${history?.passes === null && html`<p class="problem quiet">The passes cannot be read just now.</p>`}
    ${passes.length > 0 && passHistory(form.target, passes, nowMs)}
    ${rejectionPart(form, history?.rejections ?? null, nowMs)}
  </section>`;
}

function facts(form: FormReport, nowMs: number): Html {
  const { lagSeconds, droppedColumns } = form;
  const list: readonly (readonly [string, Html | string])[] = [
    ['Rows', count(form.rows)],
    ['Deleted at the source', count(form.deletedRows)],
    ['Rejected', count(form.rejected)],
    ['Deletions withheld', count(form.withheld)],
    ['Proven complete', timeAgo(form.provenAt, nowMs)],
    ['Everything read', timeAgo(form.fullProvenAt, nowMs)],
    ['Lag', lagSeconds === null ? '–' : span(lagSeconds * 1_000)],
    ['Next run', timeUntil(form.nextRunAt, nowMs)],
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
        <dt>Columns that somebody deleted and that stay away</dt>
        <dd>
          ${droppedColumns.join(', ')}.
          <code>forms-mirror sync --full --restore-columns</code> brings them back.
        </dd>
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
