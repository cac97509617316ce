import { PROBLEMS } from '../base/catalogue.ts';
import { safeText } from '../base/errors.ts';
import { count, plural } from '../base/format.ts';
import {
  claimText,
  exactClaimText,
  type FormReport,
  HEALTH_STATES,
  type HealthState,
  type QueueState,
  type Report,
  stateOfAll,
  type TargetReport,
} from '../health/report.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { productOf } from '../targets/target-kinds.ts';
import { mirrorActions, remedyButton, targetActions } from './actions.ts';
import { type Html, html } from './html.ts';
import {
  formPath,
  pauseText,
  problemBox,
  progressOf,
  rejectedAnchor,
  stateIcon,
  stateMark,
  targetLink,
  timeAgo,
  timeUntil,
} from './parts.ts';

/** The part of the matrix that an address asks for: `/?q=…`, and all of it with `&all`. */
export interface ListQuery {
  /** Part of a form's name, slug or ID; empty: any. */
  readonly q: string;
  /** All matches, not only the worst of them. */
  readonly isAll: boolean;
}

const LONGEST_SEARCH = 200;

/** Reads a query; an invalid one asks for everything. Pure. */
export function readListQuery(query: unknown): ListQuery {
  const { q, all } = (query ?? {}) as Readonly<Record<string, unknown>>;
  return {
    q: typeof q === 'string' ? q.trim().slice(0, LONGEST_SEARCH) : '',
    isAll: all !== undefined,
  };
}

/** The forms on a page, the number of matches, and the number of forms. */
type FormList = ReturnType<typeof listForms>;

/** A page has at most this many cells for any number of targets, so that it stays small; but at least some forms. */
const CELLS_PER_PAGE = 60;
const LEAST_FORMS = 8;

/** The forms of a page, worst first, each with its copies. */
function listForms({ forms, targets }: Report, query: ListQuery) {
  const all = [...Map.groupBy(forms, ({ form }) => form.id).values()].map((copies) => {
    const [{ form }] = copies as [FormReport];
    return { form, state: stateOfAll(copies), copies };
  });
  const wanted = plain(query.q);
  const matching = all
    .filter(({ form: { id, slug, name } }) =>
      [id, slug, name].some((text) => plain(text).includes(wanted)),
    )
    .toSorted((a, b) => rank(a.state) - rank(b.state) || compareNames(a.form, b.form));
  const size = Math.max(LEAST_FORMS, Math.floor(CELLS_PER_PAGE / Math.max(1, targets.length)));
  const shown = query.isAll ? matching : matching.slice(0, size);
  return { shown, matching: matching.length, all: all.length };
}

const rank = (state: HealthState): number => HEALTH_STATES.indexOf(state);

/** One collator for all comparisons, because looking up a locale takes time. */
const COLLATOR = new Intl.Collator('en', { numeric: true });

const compareNames = (a: FormIdentity, b: FormIdentity): number =>
  COLLATOR.compare(a.name, b.name) || (a.id < b.id ? -1 : 1);

/** Without case and marks, so that `prihlaska` finds `Přihláška`; a search for `💬` finds that character. */
const plain = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

/**
 * The page at `/`: the health of each form in each target, worst first. `deliveryProblem`: why notifications are not delivered;
 * null: they are. Pure.
 */
export function overviewMain(
  report: Report,
  query: ListQuery,
  deliveryProblem: string | null,
): Html {
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
    ${targets.map(({ name, problem }) => problem && problemBox(problem, nowMs, remedyButton(problem, { target: name })))}
    ${plantLine(source, queue, nowMs)} ${forms.length === 0 ? EMPTY : formsCard(report, query)}`;
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

/** Up to this many forms are seen at a glance, so there is no search. */
const FEW_FORMS = 5;

function formsCard(report: Report, query: ListQuery): Html {
  const list = listForms(report, query);
  return html`<section class="card" aria-label="Forms">
    <header><h2>Forms</h2></header>
    ${(list.all > FEW_FORMS || query.q !== '') && search(query)}
    ${list.shown.length === 0 ? nothingFound(query) : matrix(report, list)}
    ${list.shown.length < list.matching && allLink(list, query)}
  </section>`;
}

const search = ({ q }: ListQuery): Html =>
  html`<form class="tools" role="search" action="/" method="get">
    <label
      >Name, slug or ID<br /><input
        type="search"
        id="q"
        name="q"
        value="${q}"
        maxlength="200"
        autocomplete="off"
    /></label>
    <button>Search</button>
  </form>`;

const nothingFound = ({ q }: ListQuery): Html =>
  html`<p class="empty">
    No form with <b>${q}</b> in its name, slug or ID. <a href="/">All forms</a>
  </p>`;

/** From this many targets on, the table scrolls within its card. */
const WIDEST = 6;

function matrix(report: Report, list: FormList): Html {
  const { targets } = report;
  const [shown, matching] = [list.shown.length, plural(list.matching, 'form')];
  const which = shown === list.matching ? matching : `${count(shown)} of ${matching}`;
  const nowMs = Date.parse(report.at);
  return html`<div class="scroll" role="region" aria-labelledby="forms-caption" tabindex="0">
    <table class="matrix t${Math.min(targets.length, WIDEST)}">
      <caption id="forms-caption">
        ${which}, worst first
      </caption>
      <thead>
        <tr>
          <th scope="col">Form</th>
          ${targets.map((target) => targetHeading(target, nowMs))}
        </tr>
      </thead>
      <tbody>
        ${list.shown.map((form) => formRow(form, targets, nowMs))}
      </tbody>
    </table>
  </div>`;
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
    ${pause !== null && html`<span class="fact">${pauseText(pause, nowMs)}</span>`}
    ${targetActions(target)}
  </th>`;
}

function formRow(
  { form, copies, state }: FormList['shown'][number],
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
    ${pause?.ofTarget === false && html`<span class="fact">${pauseText(pause, nowMs)}</span>`}
    <span class="fact"
      >${rows === null ? 'rows unknown' : plural(rows, 'row')}${(deletedRows ?? 0) > 0 && `, ${count(deletedRows ?? 0)} deleted at the source`}${(rejected ?? 0) > 0 && html`, <a href="${formPath(form.id)}#${rejectedAnchor(name)}">${count(rejected ?? 0)} rejected</a>`}${link && html` · ${link}`}</span
    >
    <span class="fact" title="${exactClaimText(claim)}">${claimText(claim, nowMs)}</span>
    ${state !== 'ended' && problems.filter((each) => each.title !== title).map((each) => html`<a class="fact" href="${formPath(form.id)}">${each.title}</a>`)}
  </td>`;
}

const allLink = ({ matching }: FormList, { q }: ListQuery): Html =>
  html`<p class="more">
    <a href="/?${new URLSearchParams({ ...(q !== '' && { q }), all: '' }).toString()}"
      >All ${plural(matching, 'form')}</a
    >
  </p>`;
