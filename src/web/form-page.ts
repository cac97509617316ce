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
  targetLink,
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
import type { FormDetails, RejectionList } from '../health/facts.ts';
import { actionMenu, formActions } from './action-menu.ts';
import { detailsParts } from './form-details.ts';
import { workCard } from './running-work.ts';
import { count, plural, span } from '../base/format.ts';
import { exceptText } from '../health/coverage.ts';

/** What `/forms/:id` shows of one target besides the report. Null: it could not be read. */
export interface FormHistory {
  readonly target: string;
  readonly passes: readonly PassRecord[] | null;
  readonly rejections: RejectionList | null;
  readonly details: FormDetails | null;
}

/** The page of one form: its health in each target, its recent passes and what was rejected. Pure. */
export function formMain(
  report: StatusReport,
  forms: readonly FormReport[],
  histories: readonly FormHistory[],
  { actions = false }: { readonly actions?: boolean } = {},
): Html {
  const [first] = forms;
  const state = stateOfAll(forms);
  const nowMs = Date.parse(report.at);
  const work = report.work.filter(({ form }) => form.id === first?.form.id);
  return html`<main id="main" tabindex="-1">
    <section class="hero">
      <div class="medal ${state}">${stateIcon(state)}</div>
      <div>
        <h1><bdi>${first?.form.name}</bdi></h1>
        <p class="quiet">
          <a href="/">All forms</a> · <bdi>${first?.form.slug}</bdi> ·
          <span class="id">${first?.form.id}</span>
        </p>
      </div>
      ${actions && forms.length > 1 && first !== undefined && menuOf(forms, { form: first.form.id })}
    </section>
    ${report.problems.map((problem) => problemBox(problem, { wide: true }))}
    ${workCard({ ...report, work })}
    ${forms.map((form) => {
      const history = histories.find(({ target }) => target === form.target);
      const target = report.targets.find(({ name }) => name === form.target);
      return targetCard(form, { shared: target?.problem ?? null, history, nowMs, actions });
    })}
  </main>`;
}

/** What can be done with the form, in all of its targets or in one. */
function menuOf(
  forms: readonly FormReport[],
  subject: { readonly form: string; readonly target?: string },
): Html | null {
  return actionMenu({
    id: `menu-${subject.target ?? 'all'}`,
    about: subject.target === undefined ? 'this form' : `this form in ${subject.target}`,
    actions: formActions(forms, subject),
    end: true,
  });
}

interface CardContext {
  /** What is wrong with the target as a whole. */
  readonly shared: ShownProblem | null;
  readonly history: FormHistory | undefined;
  readonly nowMs: number;
  readonly actions: boolean;
}

function targetCard(form: FormReport, { shared, history, nowMs, actions }: CardContext): Html {
  const passes = history?.passes ?? [];
  const place = { form: form.form.id, target: form.target };
  return html`<section class="card" aria-label="${form.target}">
    <header>
      <h2>${form.target}</h2>
      <span class="small quiet">${placeText(form)}</span
      ><span class="right">${stateMark(form.state, form.title)}${runningMark(form)}</span>
      ${actions && menuOf([form], place)}
    </header>
    ${form.pause?.reason && html`<p class="problem quiet">${form.pause.reason}</p>`}
    ${shared !== null && problemBox(shared)} ${problemBoxes(form.problems)} ${facts(form, nowMs)}
    ${form.covers.absent > 0 && html`<p class="problem quiet">${absentNote(form, nowMs)}</p>`}
    ${history?.passes === null && html`<p class="problem quiet">The passes cannot be read just now.</p>`}
    ${passes.length > 0 && passHistory(form.target, passes, nowMs)}
    ${rejectionPart(form, history?.rejections ?? null, nowMs)}
    ${history?.details === null && html`<p class="problem quiet">Fields and windows cannot be read just now.</p>`}
    ${history?.details && detailsParts(form.target, history.details, nowMs)}
  </section>`;
}

/** Where it is, with what opens it or names it. */
function placeText(form: FormReport): Html | string | null {
  const { location, table } = form;
  const link = targetLink(form);
  if (link === null || location === null) return location;
  const named = `table ${table ?? ''}`;
  if (!location.startsWith(named)) return html`${location} · ${link}`;
  return html`table ${link}${location.slice(named.length)}`;
}

function facts(form: FormReport, nowMs: number): Html {
  const { lagSeconds, notices } = form;
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
          The rejected submissions cannot be read now.
        </p>`;
  }
  const { total, items } = rejections;
  if (total === 0) return null;
  const more = items.length < total ? `the newest ${count(items.length)} of ${count(total)}` : '';
  return html`<h3 class="part" id="${rejectedAnchor(form.target)}">
      ${plural(total, 'rejected submission')} <span class="quiet">${more}</span>
    </h3>
    <table class="list">
      <caption>
        Submissions and answers that could not be stored unchanged, newest first
      </caption>
      <thead>
        <tr>
          <th scope="col">Submission</th>
          <th scope="col">Reason</th>
          <th scope="col">Stored</th>
          <th scope="col">First met</th>
          <th scope="col">Last met</th>
        </tr>
      </thead>
      <tbody>
        ${items.map(
          (item) =>
            html`<tr>
              <th scope="row" class="id">${item.submissionId}</th>
              <td class="full" data-label="Reason">${item.reason}</td>
              <td data-label="Stored">${item.stored ? 'yes, with the defect shown' : 'no'}</td>
              <td data-label="First met">${timeAgo(item.firstSeenAt, nowMs)}</td>
              <td data-label="Last met">${timeAgo(item.lastSeenAt, nowMs)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}
