import { count, duration, plural } from '../base/format.ts';
import {
  claimText,
  exactClaimText,
  type FormReport,
  OUTCOME_TEXTS,
  type Report,
  stateOfAll,
  type TargetReport,
} from '../health/report.ts';
import { pauseText } from '../mirror/pauses.ts';
import type { Entry, EntryKind, Run } from '../mirror/port.ts';
import { acceptButton, formActions } from './actions.ts';
import { type Html, type HtmlPart, html } from './html.ts';
import {
  listTable,
  problemBox,
  progressOf,
  entriesAnchor,
  stateIcon,
  stateMark,
  targetLink,
  timeAgo,
} from './parts.ts';

/** What a target stores about one form, for the form's own page: names, counts and times, no answers. */
export interface FormDetails {
  /** The newest first. */
  readonly runs: readonly Run[];
  /** Submissions that could not be stored unchanged, and those whose status the source refused to change. */
  readonly entries: readonly Entry[];
}

/** A form in one target, with what the target stores about it; null: it did not answer in time. */
export interface DetailedForm {
  readonly report: FormReport;
  readonly details: FormDetails | null;
}

/** The page of one form: its health in each target, its recent runs, its rejected submissions. Pure. */
export function formMain(report: Report, forms: readonly DetailedForm[]): Html {
  const reports = forms.map((form) => form.report);
  const form = reports[0]?.form;
  const nowMs = Date.parse(report.at);
  return html`<section class="hero">
      ${stateIcon(stateOfAll(reports))}
      <div class="lead">
        <h1><bdi>${form?.name}</bdi></h1>
        <p class="quiet">
          <a href="/">All forms</a> · <bdi>${form?.slug}</bdi> · <span class="id">${form?.id}</span>
        </p>
      </div>
    </section>
    ${report.problems.map((problem) => problemBox(problem, nowMs))}
    ${forms.map((each) => {
      const target = report.targets.find(({ name }) => name === each.report.target);
      return targetCard(each, target, nowMs);
    })}`;
}

function targetCard(
  { report, details }: DetailedForm,
  target: TargetReport | undefined,
  nowMs: number,
): Html {
  const { state, title, pause, running, notices, location } = report;
  return html`<section class="card" aria-label="${report.target}">
    <header>
      <h2>${report.target}</h2>
      <span class="small quiet">${location} ${report.url !== null && targetLink(report)}</span>
      ${stateMark(state, title)} ${formActions(report)}
    </header>
    ${pause !== null && html`<p class="problem paused">${pauseText(pause)}</p>`}
    ${running !== null && html`<p class="problem working">${progressOf(running)}</p>`}
    ${target?.problem && problemBox(target.problem, nowMs)}
    ${report.problems.map((problem) => problemBox(problem, nowMs, acceptButton(problem, report)))}
    ${notices.map(
      ({ message, remedy }) =>
        html`<div class="problem waiting" role="note">
          ${stateIcon('attention')}
          <p>${message} ${remedy}</p>
        </div>`,
    )}
    ${facts(report, nowMs)}
    ${details === null ? html`<p class="problem waiting">${report.target} did not answer in time: its runs and rejected submissions are not shown.</p>` : detailParts(report.target, details, nowMs)}
  </section>`;
}

/** A count for people. */
const countText = (number: number | null): string => (number === null ? 'unknown' : count(number));

function facts(form: FormReport, nowMs: number): Html {
  const { claim, rows, deletedRows, rejected, forgotten, refused } = form;
  const list: readonly (readonly [string, HtmlPart])[] = [
    ['Rows', countText(rows)],
    ['Deleted at the source', countText(deletedRows)],
    ['Rejected', countText(rejected)],
    ['Held deletions', count(claim.held)],
    ['Claim', html`<span title="${exactClaimText(claim)}">${claimText(claim, nowMs)}</span>`],
    ...((forgotten ?? 0) > 0 ? [['Erased on request', countText(forgotten)] as const] : []),
    ...((refused ?? 0) > 0 ? [['Status changes refused', countText(refused)] as const] : []),
  ];
  return html`<dl class="facts">
    ${list.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

function detailParts(target: string, { runs, entries }: FormDetails, nowMs: number): Html {
  return html`${
    runs.length > 0 &&
    html`<h3>Recent runs</h3>
      ${runsTable(runs, nowMs)}`
  }
  ${LISTS.map(({ kind, name, caption }) => {
    const some = entries.filter((entry) => entry.kind === kind);
    if (some.length === 0) return null;
    return html`<h3 id="${entriesAnchor(kind, target)}">${plural(some.length, name)}</h3>
      ${entryTable(caption, some, nowMs)}`;
  })}`;
}

/** The lists of submissions on the page. */
const LISTS: readonly {
  readonly kind: EntryKind;
  readonly name: string;
  readonly caption: string;
}[] = [
  {
    kind: 'rejected',
    name: 'rejected submission',
    caption: 'Submissions and answers that could not be stored unchanged',
  },
  {
    kind: 'undecided',
    name: 'undecided row',
    caption: 'Rows that the source does not show, although it answers neither 404 nor 410 for them',
  },
  {
    kind: 'refused',
    name: 'refused status change',
    caption: 'Submissions whose status the source did not change',
  },
];

function runsTable(runs: FormDetails['runs'], nowMs: number): Html {
  const columns = [
    'Ended',
    'Outcome',
    'Inserted',
    'Updated',
    'Deleted',
    'Rejected',
    'Requests',
    'Took',
    'Compared',
  ];
  const rows = runs.map((run) => {
    const { text, state } = OUTCOME_TEXTS[run.outcome];
    const took = duration(run.endedAtMs - run.startedAtMs);
    const cells = [
      timeAgo(run.endedAtMs, nowMs),
      stateMark(state, text),
      run.inserted,
      run.updated,
      run.deleted,
      run.rejected,
      run.requests,
      took,
      run.isWhole ? 'every answer' : '–',
    ];
    return { cells, note: run.error };
  });
  return listTable('Newest first', columns, rows);
}

/** How many of them are shown. */
const SHOWN_ENTRIES = 50;

function entryTable(what: string, entries: readonly Entry[], nowMs: number): Html {
  const rows = entries.slice(0, SHOWN_ENTRIES).map(({ id, reason, status, atMs }) => ({
    cells: [html`<span class="id">${id}</span>`, reason, status, timeAgo(atMs, nowMs)],
  }));
  const [shown, all] = [rows.length, entries.length];
  const part = shown < all ? ` (${count(shown)} of ${count(all)})` : '';
  return listTable(`${what}${part}`, ['Submission', 'Reason', 'Status', 'Last seen'], rows);
}
