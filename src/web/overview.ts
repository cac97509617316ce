import { PROBLEMS } from '../base/catalogue.ts';
import { safeText } from '../base/errors.ts';
import { count, plural } from '../base/format.ts';
import {
  claimText,
  type FormReport,
  HEALTH_STATES,
  type HealthState,
  type QueueState,
  type Report,
  stateOfAll,
  type TargetReport,
} from '../health/report.ts';
import { pauseText } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { productOf } from '../targets/target-kinds.ts';
import { mirrorActions, targetActions } from './actions.ts';
import { type Html, html } from './html.ts';
import {
  formPath,
  problemBox,
  progressOf,
  entriesAnchor,
  stateIcon,
  stateMark,
  targetLink,
  timeAgo,
  timeUntil,
} from './parts.ts';

/** The forms, worst first, each with its copies. */
const listForms = ({ forms }: Report) =>
  [...Map.groupBy(forms, ({ form }) => form.id).values()]
    .map((copies) => {
      const [{ form }] = copies as [FormReport];
      return { form, state: stateOfAll(copies), copies };
    })
    .toSorted((a, b) => rank(a.state) - rank(b.state) || compareNames(a.form, b.form));

const rank = (state: HealthState): number => HEALTH_STATES.indexOf(state);

/** One collator for all comparisons, because looking up a locale takes time. */
const COLLATOR = new Intl.Collator('en', { numeric: true });

const compareNames = (a: FormIdentity, b: FormIdentity): number =>
  COLLATOR.compare(a.name, b.name) || (a.id < b.id ? -1 : 1);

/**
 * The page at `/`: the health of each form in each target, worst first. `deliveryProblem`: why notifications are not delivered;
 * null: they are. Pure.
 */
export function overviewMain(report: Report, deliveryProblem: string | null): Html {
  const { state, title, summary, problems, source, queue, targets, forms } = report;
  const nowMs = Date.parse(report.at);
  return html`<section class="hero">
      ${stateIcon(state)}
      <div class="lead">
        <h1>${title}</h1>
        <p class="quiet">${summary}</p>
      </div>
      ${mirrorActions(report)}
    </section>
    ${problems.map((problem) => problemBox(problem, nowMs))}
    ${deliveryProblem !== null && html`<p class="problem attention">${stateIcon('attention')} ${deliveryProblem}</p>`}
    ${targets.map(({ problem }) => problem && problemBox(problem, nowMs))}
    ${plantLine(source, queue, nowMs)} ${forms.length === 0 ? EMPTY : formsCard(report)}`;
}

/** Source and queue: all forms depend on them. */
function plantLine(source: Report['source'], queue: QueueState | null, nowMs: number): Html {
  return html`<ul class="plant" aria-label="Source and queue">
    <li><b>Source</b> last answered ${timeAgo(source.heardAt, nowMs)}</li>
    <li><b>Queue</b> ${queueText(queue, nowMs)}</li>
  </ul>`;
}

function queueText(queue: QueueState | null, nowMs: number): Html {
  if (queue === null) return stateMark('waiting', 'Not read yet');
  if (!queue.isReachable) return stateMark('failed', PROBLEMS.QUEUE_FAILED.title);
  const jobs = `${plural(queue.active, 'job')} running, ${count(queue.waiting)} waiting`;
  const next = queue.nextPollAt === null ? 'not known' : timeUntil(queue.nextPollAt, nowMs);
  return html`${jobs}, next poll ${next}`;
}

/** Shown before the first poll; a target that cannot be read is shown above. */
const EMPTY = html`<section class="card empty">
  <h2>The forms appear here as soon as a poll has listed them</h2>
  <p>If this page stays empty, this command tries the settings, the source and every target:</p>
  <p><code class="copy">forms-mirror check</code></p>
</section>`;

/** From this many targets on, the table scrolls within its card. */
const WIDEST = 6;

function formsCard(report: Report): Html {
  const { targets } = report;
  const forms = listForms(report);
  const nowMs = Date.parse(report.at);
  return html`<section class="card" aria-label="Forms">
    <header><h2>Forms</h2></header>
    <div class="scroll" role="region" aria-labelledby="forms-caption" tabindex="0">
      <table class="matrix t${Math.min(targets.length, WIDEST)}">
        <caption id="forms-caption">
          ${plural(forms.length, 'form')}, worst first
        </caption>
        <thead>
          <tr>
            <th scope="col">Form</th>
            ${targets.map((target) => targetHeading(target, nowMs))}
          </tr>
        </thead>
        <tbody>
          ${forms.map((form) => formRow(form, targets, nowMs))}
        </tbody>
      </table>
    </div>
  </section>`;
}

/** A column heading: the target, its address, when it was read, and its buttons. */
function targetHeading(target: TargetReport, nowMs: number): Html {
  const { name, kind, address, isReadable, readAt, pause } = target;
  const product = productOf(kind);
  const isLink = /^https?:\/\//.test(address);
  return html`<th scope="col">
    <b>${name}</b>
    <span class="fact"
      >${isLink ? html`<a href="${address}" rel="noreferrer">${product}</a>` : `${product}: ${address}`}</span
    >
    <span class="fact"
      >${
        readAt === null
          ? 'not read yet'
          : html`${isReadable ? 'read' : 'cannot be read; last read'} ${timeAgo(readAt, nowMs)}`
      }</span
    >
    ${pause !== null && html`<span class="fact">${pauseText(pause)}</span>`}
    ${targetActions(target)}
  </th>`;
}

function formRow(
  { form, copies, state }: ReturnType<typeof listForms>[number],
  targets: readonly TargetReport[],
  nowMs: number,
): Html {
  return html`<tr class="${state}">
    <th scope="row">
      <a class="name" href="${formPath(form.id)}"
        ><bdi>${safeText(form.name, LONGEST_NAME)}</bdi></a
      >
      <span class="fact"><bdi>${safeText(form.slug, LONGEST_NAME)}</bdi></span>
    </th>
    ${targets.map(({ name }) =>
      formCell(
        copies.find(({ target }) => target === name),
        name,
        nowMs,
      ),
    )}
  </tr>`;
}

/** Names can be very long; a page should not be. */
const LONGEST_NAME = 140;

/** One form in one target. */
function formCell(report: FormReport | undefined, name: string, nowMs: number): Html {
  if (report === undefined)
    return html`<td class="quiet" data-label="${name}">not mirrored here</td>`;
  const { form, state, title, rows, deletedRows, rejected, pause, problems, claim, running } =
    report;
  const link = targetLink(report);
  return html`<td data-label="${name}">
    ${stateMark(state, title)}
    ${running !== null && html`<span class="fact">${progressOf(running)}</span>`}
    ${pause !== null && pause.formId !== null && html`<span class="fact">${pauseText(pause)}</span>`}
    <span class="fact"
      >${rows === null ? 'rows unknown' : plural(rows, 'row')}${(deletedRows ?? 0) > 0 && `, ${count(deletedRows ?? 0)} deleted at the source`}${(rejected ?? 0) > 0 && html`, <a href="${formPath(form.id)}#${entriesAnchor('rejected', name)}">${count(rejected ?? 0)} rejected</a>`}${link && html` · ${link}`}</span
    >
    <span class="fact">${claimText(claim, nowMs)}</span>
    ${state !== 'ended' && problems.filter((each) => each.title !== title).map((each) => html`<a class="fact" href="${formPath(form.id)}">${each.title}</a>`)}
  </td>`;
}
