import { mirrorActions, targetActions } from './action-links.ts';
import { type Html, html } from './html.ts';
import { HEALTH_STATES } from '../mirror/health-text.ts';
import { productOf } from '../targets/target-kinds.ts';
import { stateIcon } from './page-icons.ts';
import { exceptText } from '../health/coverage.ts';
import {
  formNotes,
  formPath,
  problemBox,
  problemBoxes,
  runningMark,
  stateMark,
  timeAgo,
  timeUntil,
} from './page-parts.ts';
import {
  type FormReport,
  type StatusReport,
  type TargetReport,
  countText,
  headline,
  lastPassText,
  isKnown,
  missingTime,
  summary,
} from '../health/report.ts';

/** The page at `/`: the health of each form in each target. Pure. */
export function overviewMain(report: StatusReport): Html {
  const { state, problems, notices, targets, forms } = report;
  return html`<main>
    <section class="hero">
      <div class="medal ${state}">${stateIcon(state)}</div>
      <div>
        <h1>${headline(report)}</h1>
        <p class="quiet">${summary(report)}</p>
        <p>${mirrorActions(report)}</p>
      </div>
    </section>
    ${problems.map((problem) => problemBox(problem, { wide: true }))}
    ${notices.map(
      (notice) =>
        html`<div class="problem attention wide" role="note">
          ${stateIcon('attention')}
          <p>${notice}</p>
        </div>`,
    )}
    ${forms.length === 0 ? emptyState(report) : targets.map((target) => targetCard(target, report))}
  </main>`;
}

/** Before the first plan; what keeps the targets from being read is shown nevertheless. */
function emptyState({ queue, at, targets }: StatusReport): Html {
  const next = queue?.schedules.find(({ kind }) => kind === 'incremental')?.nextRunAt ?? null;
  return html`${targets.map(({ problem }) => problem && problemBox(problem, { wide: true }))}
    <section class="card empty">
      <h2>The forms appear here as soon as they are read</h2>
      <p>
        The scheduler lists the forms of the workspace and starts a first pass for each of
        them.${next !== null && html` It looks again ${timeUntil(next, Date.parse(at))}.`}
      </p>
      <p>If this page stays empty, this command says what is missing:</p>
      <code class="command">forms-mirror check</code>
    </section>`;
}

function targetCard(target: TargetReport, report: StatusReport): Html {
  const nowMs = Date.parse(report.at);
  const forms = report.forms
    .filter((form) => form.target === target.name)
    .toSorted(
      (a, b) =>
        HEALTH_STATES.indexOf(a.state) - HEALTH_STATES.indexOf(b.state) ||
        a.form.name.localeCompare(b.form.name),
    );
  return html`<section class="card">
    <header>
      <h2>${target.name}</h2>
      <span class="small quiet"
        >${target.kind !== null && `${productOf(target.kind)}: `}${target.address}</span
      >
      ${target.paused && html`<span class="right small state waiting">${stateIcon('waiting')} Paused</span>`}
      ${targetActions(target)}
      ${!target.readable && html`<span class="right small quiet">as of ${timeAgo(target.readAt, nowMs, 'never read')}</span>`}
    </header>
    ${target.problem !== null && problemBox(target.problem)}
    ${forms.length === 0 ? html`<p class="problem quiet">${isKnown(target) ? 'No form is mirrored here yet.' : 'What is mirrored here is not known.'}</p>` : formsTable(forms, nowMs)}
  </section>`;
}

function formsTable(forms: readonly FormReport[], nowMs: number): Html {
  return html`<table class="forms">
    <thead>
      <tr>
        <th class="w-form">Form</th>
        <th class="w-state">State</th>
        <th class="number">Rows</th>
        <th class="w-pass">Last pass</th>
        <th class="w-proven">Submissions as of</th>
        <th class="w-proven">Statuses and answers as of</th>
        <th class="w-next">Next run</th>
      </tr>
    </thead>
    ${forms.map((form) => formRows(form, nowMs))}
  </table>`;
}

function formRows(report: FormReport, nowMs: number): Html {
  const { form, state, title, rows, lastPass, covers, nextRunAt, problems } = report;
  const slug = form.slug === '' ? form.id : form.slug;
  const missing = missingTime(report);
  const except = exceptText(covers);
  // What has ended needs no attention any more; its own page still shows why.
  const boxes = state === 'ended' ? [] : problemBoxes(problems);
  return html`<tbody class="${state}">
    <tr>
      <td>
        <a class="name" href="${formPath(form.id)}"><bdi>${form.name}</bdi></a>
        <span class="small quiet"><bdi>${slug}</bdi></span>
        <div>${formNotes(report, nowMs)}</div>
      </td>
      <td>${stateMark(state, title)}${runningMark(report)}</td>
      <td class="number" data-label="Rows">${countText(rows)}</td>
      <td class="time" data-label="Last pass">
        ${timeAgo(lastPass?.endedAt ?? null, nowMs, rows === null ? missing : 'none yet')}${lastPass !== null && html`<br /><span class="small quiet">${lastPass.kind}, ${lastPassText(report)}</span>`}
      </td>
      <td class="time" data-label="Submissions as of">
        ${timeAgo(covers.membership, nowMs, missing)}${except !== '' && html`<br /><span class="small quiet">${except.trim()}</span>`}
      </td>
      <td class="time" data-label="Statuses and answers as of">
        ${timeAgo(covers.statuses, nowMs, missing)}${covers.answers !== covers.statuses && html`<br /><span class="small quiet">answers: ${timeAgo(covers.answers, nowMs, missing)}</span>`}
      </td>
      <td class="time" data-label="Next run">${timeUntil(nextRunAt, nowMs)}</td>
    </tr>
    ${
      boxes.length > 0 &&
      html`<tr class="why">
        <td colspan="7">${boxes}</td>
      </tr>`
    }
  </tbody>`;
}
