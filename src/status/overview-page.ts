import { type Html, html } from './html.ts';
import { headline, summary } from './headline.ts';
import { STATES } from './mirror-view.ts';
import { STATE_WORDS, stateIcon } from './page-icons.ts';
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
import type { FormReport, StatusReport, TargetReport } from './report.ts';
import { outcomeWords } from './outcome-words.ts';
import { count } from './words.ts';

/** The page at `/`: how each form stands in each target. Pure. */
export function overviewMain(report: StatusReport): Html {
  const { state, problems, notices, targets, forms } = report;
  return html`<main>
    <section class="hero">
      <div class="medal ${state}">${stateIcon(state)}</div>
      <div>
        <h1>${headline(report)}</h1>
        <p class="quiet">${summary(report)}</p>
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

/** Before the first plan; what keeps the targets from being read is told all the same. */
function emptyState({ queue, at, targets }: StatusReport): Html {
  const next = queue?.schedules.find(({ kind }) => kind === 'incremental')?.nextRunAt ?? null;
  return html`${targets.map(({ problem }) => problem && problemBox(problem, { wide: true }))}
    <section class="card empty">
      <h2>The forms appear here as soon as they are read</h2>
      <p>
        The scheduler lists the forms of the workspace and begins a first pass for each of
        them.${next !== null && html` It looks again ${timeUntil(next, Date.parse(at))}.`}
      </p>
      <p>Should this page stay empty, this says what is missing:</p>
      <code class="command">forms-mirror check</code>
    </section>`;
}

const KINDS = {
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
  'google-sheets': 'Google Sheets',
} as const;

function targetCard(target: TargetReport, report: StatusReport): Html {
  const nowMs = Date.parse(report.at);
  const forms = report.forms
    .filter((form) => form.target === target.name)
    .toSorted(
      (a, b) =>
        STATES.indexOf(a.state) - STATES.indexOf(b.state) || a.form.name.localeCompare(b.form.name),
    );
  return html`<section class="card">
    <header>
      <h2>${target.name}</h2>
      <span class="small quiet"
        >${target.kind !== null && `${KINDS[target.kind]}: `}${target.address}</span
      >
      ${target.paused && html`<span class="right small state waiting">${stateIcon('waiting')} Paused</span>`}
      ${!target.readable && html`<span class="right small quiet">as of ${timeAgo(target.readAt, nowMs, 'never read')}</span>`}
    </header>
    ${target.problem !== null && problemBox(target.problem)}
    ${forms.length === 0 ? html`<p class="problem quiet">No form is mirrored here yet.</p>` : formsTable(forms, nowMs)}
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
        <th class="w-proven">Proven complete</th>
        <th class="w-next">Next run</th>
      </tr>
    </thead>
    ${forms.map((form) => formRows(form, nowMs))}
  </table>`;
}

function formRows(report: FormReport, nowMs: number): Html {
  const { form, state, rows, lastPass, provenAt, nextRunAt, problems } = report;
  const slug = form.slug === '' ? form.id : form.slug;
  // What has ended is no trouble any more; its own page still tells.
  const boxes = state === 'ended' ? [] : problemBoxes(problems);
  return html`<tbody class="${state}">
    <tr>
      <td>
        <a class="name" href="${formPath(form.id)}"><bdi>${form.name}</bdi></a>
        <span class="small quiet"><bdi>${slug}</bdi></span>
        <div>${formNotes(report)}</div>
      </td>
      <td>${stateMark(state, wordsFor(report))}${runningMark(report)}</td>
      <td class="number" data-label="Rows">${count(rows)}</td>
      <td class="time" data-label="Last pass">
        ${timeAgo(lastPass?.endedAt ?? null, nowMs, 'none yet')}${lastPass !== null && html`<br /><span class="small quiet">${lastPass.kind}, ${outcomeWords(lastPass.outcome)}</span>`}
      </td>
      <td class="time" data-label="Proven complete">${timeAgo(provenAt, nowMs)}</td>
      <td class="time" data-label="Next run">${timeUntil(nextRunAt, nowMs)}</td>
    </tr>
    ${
      boxes.length > 0 &&
      html`<tr class="why">
        <td colspan="6">${boxes}</td>
      </tr>`
    }
  </tbody>`;
}

/** More exact than the state alone. */
function wordsFor({ state, goneAt, running }: FormReport): string {
  if (state === 'ended') return goneAt === null ? 'No longer chosen' : 'Gone at the source';
  if (state === 'working' && running !== null) {
    return running.kind === 'full' ? 'Reading everything' : 'Reading what is new';
  }
  return STATE_WORDS[state];
}
