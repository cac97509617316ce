import { type Html, html } from './html.ts';
import { formPath, progressBar, signMark, timeAgo } from './page-parts.ts';
import type { QueueReport, StatusReport } from '../health/report.ts';
import type { SourceCondition } from '../health/source-state.ts';
import type { RunningWork } from '../health/work.ts';
import type { HealthState } from '../mirror/health-text.ts';
import { count, plural } from '../base/format.ts';

/** How a condition of the source is coloured; its words are its own. */
const CONDITION_STATES: Readonly<Record<SourceCondition, HealthState>> = {
  answering: 'ok',
  slow: 'attention',
  throttling: 'attention',
  failing: 'failed',
  silent: 'failed',
  refusing: 'failed',
  unknown: 'waiting',
};

/** A page shows so many at most. */
const SHOWN_WORK = 12;

/** A line on what all forms depend on: source, queue, workers. */
export function plantLine({ source, queue, work, at }: StatusReport): Html {
  const nowMs = Date.parse(at);
  const { condition, title, since } = source;
  return html`<ul class="plant" aria-label="Source, queue and workers">
    <li>
      <b>Source</b>
      ${signMark(CONDITION_STATES[condition], title)}${since !== null && html` since ${timeAgo(since, nowMs)}`}
    </li>
    <li><b>Queue</b> ${queueMark(queue)}</li>
    <li><b>Workers</b> <span>${workersText(queue, work)}</span></li>
  </ul>`;
}

function queueMark(queue: QueueReport | null): Html {
  if (queue === null) return signMark('waiting', 'not read yet');
  if (!queue.reachable) return signMark('failed', 'does not answer');
  return html`${signMark('ok', 'answers')}
    <span>${plural(queue.active, 'job')} running, ${count(queue.waiting)} waiting</span>`;
}

function workersText(queue: QueueReport | null, work: readonly RunningWork[]): string {
  const named = queue?.workers ?? null;
  if (named === null) return queue?.backend === 'embedded' ? 'this process' : 'not known';
  const busy = new Set(work.map(({ worker }) => worker).filter((name) => name !== null)).size;
  return busy === 0
    ? count(named.length)
    : `${count(named.length)}, ${count(busy)} at work on forms`;
}

/** What all workers do now: what, where, since when, how far. */
export function workCard({ work, at }: StatusReport): Html | null {
  if (work.length === 0) return null;
  const nowMs = Date.parse(at);
  const shown = work.slice(0, SHOWN_WORK);
  const more = work.length - shown.length;
  return html`<section class="card">
    <header><h2>Running now</h2></header>
    <table class="list">
      <caption>
        What the workers do, the longest first${more > 0 && `; ${count(more)} more are not shown`}
      </caption>
      <thead>
        <tr>
          <th scope="col">Form</th>
          <th scope="col">Target</th>
          <th scope="col">Work</th>
          <th scope="col">Worker</th>
          <th scope="col">Since</th>
          <th scope="col">Progress</th>
        </tr>
      </thead>
      <tbody>
        ${shown.map((one) => workRow(one, nowMs))}
      </tbody>
    </table>
  </section>`;
}

const KINDS = {
  incremental: 'reading what is new',
  full: 'reading everything',
  compare: 'comparing some rows',
} as const;

function workRow(
  { step, kind, form, target, startedAt, worker, seen, total }: RunningWork,
  nowMs: number,
): Html {
  const what = step === 'pass' ? KINDS[kind ?? 'incremental'] : 'marking';
  const known = Math.max(seen, total);
  return html`<tr>
    <th scope="row">
      <a class="name" href="${formPath(form.id)}"><bdi>${form.name}</bdi></a>
    </th>
    <td data-label="Target">${target ?? 'all'}</td>
    <td data-label="Work">${what}</td>
    <td data-label="Worker">${worker ?? 'not known'}</td>
    <td data-label="Since">${timeAgo(startedAt, nowMs)}</td>
    <td data-label="Progress">
      ${known === 0 ? html`<span class="quiet">${step === 'pass' ? 'begins' : '–'}</span>` : html`${count(seen)} of ${count(known)}${progressBar(seen, known)}`}
    </td>
  </tr>`;
}
