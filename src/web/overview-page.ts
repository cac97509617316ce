import { type Html, html } from './html.ts';
import { HEALTH_STATES } from '../mirror/health-text.ts';
import { actionMenu, formActions, mirrorActions } from './action-menu.ts';
import {
  type FormList,
  type ListedForm,
  type ListQuery,
  WHOLE_LIST,
  listForms,
  listPath,
} from './form-list.ts';
import { formCell, targetHeading } from './matrix-cell.ts';
import { stateIcon } from './page-icons.ts';
import { formPath, problemBox, timeUntil } from './page-parts.ts';
import { plantLine, workCard } from './running-work.ts';
import { headline, summary } from '../health/headline.ts';
import type { StatusReport } from '../health/report.ts';
import { STATE_TITLES } from '../health/form-health.ts';
import { count, plural } from '../base/format.ts';

/** What the page shows, and whether it offers to do something. */
export interface OverviewOptions {
  readonly query?: ListQuery;
  /** Links to what an admin can have done: look now, pause, … */
  readonly actions?: boolean;
  /** Alerts go somewhere, which can be tried. */
  readonly alerts?: boolean;
}

/** The page at `/`: the health of each form in each target, worst first. Pure. */
export function overviewMain(
  report: StatusReport,
  { query = WHOLE_LIST, actions = false, alerts = false }: OverviewOptions = {},
): Html {
  const { state, problems, notices, forms, targets } = report;
  return html`<main id="main" tabindex="-1">
    <section class="hero">
      <div class="medal ${state}">${stateIcon(state)}</div>
      <div>
        <h1>${headline(report)}</h1>
        <p class="quiet">${summary(report)}</p>
      </div>
      ${
        actions &&
        actionMenu({
          id: 'menu-all',
          about: 'all forms',
          actions: mirrorActions(report, alerts),
          end: true,
        })
      }
    </section>
    ${problems.map((problem) => problemBox(problem, { wide: true }))}
    ${notices.map(
      (notice) =>
        html`<div class="problem attention wide" role="note">
          ${stateIcon('attention')}
          <p>${notice}</p>
        </div>`,
    )}
    ${targets.map(({ problem }) => problem && problemBox(problem, { wide: true }))}
    ${plantLine(report)} ${workCard(report)}
    ${forms.length === 0 ? emptyState(report) : formsCard(report, query, actions)}
  </main>`;
}

/** Before the first plan; what keeps the targets from being read is shown above. */
function emptyState({ queue, at }: StatusReport): Html {
  const next = queue?.schedules.find(({ kind }) => kind === 'incremental')?.nextRunAt ?? null;
  return html`<section class="card empty">
    <h2>The forms appear here as soon as they are read</h2>
    <p>
      The scheduler lists the forms of the workspace and starts a first pass for each of
      them.${next !== null && html` It looks again ${timeUntil(next, Date.parse(at))}.`}
    </p>
    <p>If this page stays empty, this command says what is missing:</p>
    <code class="command">forms-mirror check</code>
  </section>`;
}

function formsCard(report: StatusReport, query: ListQuery, actions: boolean): Html {
  const list = listForms(report, query);
  return html`<section class="card" aria-label="Forms">
    <header><h2>Forms</h2></header>
    ${(list.all > FEW_FORMS || isFiltered(query)) && tools(list, query)}
    ${list.shown.length === 0 ? nothingFound(query) : matrix(report, list, actions)}
    ${list.pages > 1 && pager(list, query)}
  </section>`;
}

/** So many are seen at a glance: there is nothing to search. */
const FEW_FORMS = 5;

const isFiltered = ({ q, state }: ListQuery): boolean => q !== '' || state !== null;

function tools(list: FormList, query: ListQuery): Html {
  const { q, state } = query;
  return html`<div class="tools">
    <form class="tools-form" role="search" action="/" method="get">
      <label
        >Name, slug or ID
        <input type="search" id="q" name="q" value="${q}" maxlength="200" autocomplete="off"
      /></label>
      ${state !== null && html`<input type="hidden" name="state" value="${state}" />`}
      <button>Search</button>
    </form>
    <nav class="chips" aria-label="Only forms in a state">
      ${chip(listPath({ q, state: null, page: 1 }), 'All', state === null)}
      ${HEALTH_STATES.map((one) => {
        const number = list.inState.get(one) ?? 0;
        if (number === 0 && state !== one) return null;
        const words = html`${stateIcon(one)} ${STATE_TITLES[one]} ${count(number)}`;
        return chip(listPath({ q, state: one, page: 1 }), words, state === one, one);
      })}
    </nav>
  </div>`;
}

const chip = (path: string, words: Html | string, isCurrent: boolean, state = ''): Html =>
  isCurrent
    ? html`<a class="${state}" href="${path}" aria-current="true">${words}</a>`
    : html`<a class="${state}" href="${path}">${words}</a>`;

function nothingFound({ q, state }: ListQuery): Html {
  const where = state === null ? ' here' : ` in the state "${STATE_TITLES[state]}"`;
  return html`<div class="empty">
    <p>
      No form${q !== '' && html` that has <b>${q}</b> in its name, slug or ID`} is${where}.
      <a href="/">All forms</a>
    </p>
  </div>`;
}

function matrix(report: StatusReport, list: FormList, actions: boolean): Html {
  const { targets } = report;
  const nowMs = Date.parse(report.at);
  const last = list.first + list.shown.length - 1;
  const which =
    list.pages === 1
      ? plural(list.matching, 'form')
      : `Forms ${count(list.first)} to ${count(last)} of ${count(list.matching)}`;
  // Problems in full for the first few; then by name, with what to do on the form's own page.
  const budget = { left: FULL_PROBLEMS };
  return html`<div class="scroll" role="region" aria-labelledby="forms-caption" tabindex="0">
    <table class="matrix t${Math.min(targets.length, WIDEST)}">
      <caption id="forms-caption">
        ${which}, worst first${targets.length > 1 && `, in ${plural(targets.length, 'target')}`}
      </caption>
      <thead>
        <tr>
          <th scope="col">Form</th>
          ${targets.map((target, at) => targetHeading(target, report, { actions, at }))}
        </tr>
      </thead>
      <tbody>
        ${list.shown.map((form, at) => formRow(form, { targets, nowMs, budget, actions, at }))}
      </tbody>
    </table>
  </div>`;
}

/** Problems of single forms that a page shows in full. */
const FULL_PROBLEMS = 8;
/** From so many targets on the table scrolls within its card. */
const WIDEST = 6;

interface RowContext {
  readonly targets: StatusReport['targets'];
  readonly nowMs: number;
  readonly budget: { left: number };
  readonly actions: boolean;
  /** Its place on the page. */
  readonly at: number;
}

function formRow({ form, cells, state }: ListedForm, context: RowContext): Html {
  const { targets, nowMs, budget, actions, at } = context;
  const slug = form.slug === '' ? form.id : form.slug;
  return html`<tr class="${state}">
    <th scope="row">
      <a class="name" href="${formPath(form.id)}"><bdi>${shortened(form.name)}</bdi></a>
      <span class="fact"><bdi>${shortened(slug)}</bdi></span
      >${
        actions &&
        actionMenu({
          id: `menu-${at}`,
          about: `“${shortened(form.name)}”`,
          actions: formActions(
            cells.filter((cell) => cell !== undefined),
            { form: form.id },
          ),
        })
      }
    </th>
    ${targets.map(({ name, readAt }, column) =>
      formCell(cells[column], { name, readAt, nowMs, budget }),
    )}
  </tr>`;
}

/** Names are as long as people like; a page is not. */
const LONGEST_NAME = 140;
const shortened = (text: string): string =>
  text.length <= LONGEST_NAME ? text : `${text.slice(0, LONGEST_NAME - 1).toWellFormed()}…`;

function pager({ page, pages }: FormList, query: ListQuery): Html {
  const to = (number: number): string => listPath({ ...query, page: number });
  return html`<nav class="pager" aria-label="Pages">
    <span>${page > 1 && html`<a rel="prev" href="${to(page - 1)}">‹ Previous</a>`}</span>
    <span>Page ${page} of ${pages}</span>
    <span>${page < pages && html`<a rel="next" href="${to(page + 1)}">Next ›</a>`}</span>
  </nav>`;
}
