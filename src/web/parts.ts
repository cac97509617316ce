import type { FastifyReply } from 'fastify';
import { ago, count, exact, lasting, soon } from '../base/format.ts';
import {
  type FormReport,
  type HealthState,
  type Problem,
  type Report,
  type RunningJob,
} from '../health/report.ts';
import type { EntryKind } from '../mirror/port.ts';
import { Html, type HtmlPart, html } from './html.ts';
import { STYLE } from './style.ts';

/* The frame of every page, and the parts that several pages share. */

/** The content of a page. */
export interface Page {
  readonly title: string;
  readonly main: Html;
  readonly report: Report;
  /** It does not refresh itself. */
  readonly isStill?: boolean;
}

const REFRESH_MS = 10_000;

/** Updates the page in place while it is visible and nothing is selected. Keeps the focus. Shows when the mirror does not answer. */
const REFRESH_SCRIPT = `
const busy = () => document.hidden || String(getSelection());
const named = (one) => one.id ? '#' + CSS.escape(one.id) : one.matches('main a') ? 'main a[href="' + CSS.escape(one.getAttribute('href')) + '"]' : null;
const refresh = async () => {
  if (busy()) return;
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' }, signal: AbortSignal.timeout(8000) });
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (busy()) return;
    const focused = named(document.activeElement);
    document.title = page.title;
    for (const part of ['main', '#fresh', 'footer']) {
      const [old, fresh] = [document.querySelector(part), page.querySelector(part)];
      if (old && fresh && old.outerHTML !== fresh.outerHTML) old.replaceWith(fresh);
    }
    if (focused && document.activeElement === document.body) document.querySelector(focused)?.focus({ preventScroll: true });
    document.body.classList.remove('lost');
  } catch {
    document.body.classList.add('lost');
  }
};
setInterval(refresh, ${REFRESH_MS});
document.addEventListener('visibilitychange', refresh);
`;

/** Responds with a whole page. */
export const sendPage = (reply: FastifyReply, page: Page): FastifyReply =>
  reply.type('text/html; charset=utf-8').send(pageFrame(page, reply.cspNonce).text);

/** `nonces`: those in this response's Content-Security-Policy. */
function pageFrame(
  { title, main, report, isStill = false }: Page,
  nonces: { readonly script: string; readonly style: string },
): Html {
  const script = html`<script nonce="${nonces.script}">
    ${new Html(REFRESH_SCRIPT)};
  </script>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · forms-mirror</title>
        <style nonce="${nonces.style}">
          ${new Html(STYLE)}
        </style>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/">forms-mirror</a>
          <span class="small quiet"
            ><span id="fresh">As of <time datetime="${report.at}">${exact(report.at)}</time></span
            ><span id="lost" role="status"
              >The mirror does not answer. This page may be out of date.</span
            ></span
          >
        </header>
        <main id="main" tabindex="-1">${main}</main>
        <footer>
          <span>${report.queue !== null && `Queue: ${report.queue.address}`}</span>
          <span
            ><a href="/queue">Jobs</a> · <a href="/api/status">JSON</a> ·
            <a href="/metrics">Metrics</a> · forms-mirror ${report.version}</span
          >
        </footer>
        ${!isStill && script}
      </body>
    </html> `;
}

/** States differ by shape as well as by color. */
const SIGNS: Readonly<Record<HealthState, string>> = {
  failed: '✕',
  attention: '!',
  working: '↻',
  waiting: '…',
  paused: '‖',
  ok: '✓',
  ended: '–',
};

/** The sign of a state, for sighted readers only, because its text is beside it. */
export const stateIcon = (state: HealthState): Html =>
  html`<i class="${state}" aria-hidden="true">${SIGNS[state]}</i>`;

/** Sign and words of a state. */
export const stateMark = (state: HealthState, words: string): Html =>
  html`<span class="state ${state}">${stateIcon(state)} ${words}</span>`;

/** A time as an age, with the exact time in its title. */
export function timeAgo(time: string | number | null, nowMs: number): Html {
  if (time === null) return html`<span class="quiet">never</span>`;
  return timeText(time, (iso) => ago(iso, nowMs));
}

/** How long something has lasted. */
const lastingFor = (since: string, nowMs: number): Html =>
  html` ${timeText(since, (iso) => lasting(iso, nowMs))}`;

/** A future time. */
export const timeUntil = (time: string, nowMs: number): Html =>
  timeText(time, (iso) => soon(iso, nowMs));

function timeText(time: string | number, words: (iso: string) => string): Html {
  const iso = typeof time === 'string' ? time : new Date(time).toISOString();
  return html`<time datetime="${iso}" title="${exact(iso)}">${words(iso)}</time>`;
}

/** The address of a form's own page. */
export const formPath = (formId: string): string => `/forms/${encodeURIComponent(formId)}`;

/** The place of a target's list of submissions on a form's page. */
export const entriesAnchor = (kind: EntryKind, target: string): string => `${kind}-${target}`;

/** A problem and its remedy, with the `button` that does it, if there is one. */
export function problemBox(problem: Problem, nowMs: number, button: Html | null = null): Html {
  const { level, code, title, message, remedy, since } = problem;
  const state: HealthState = level === 'error' ? 'failed' : 'attention';
  return html`<div class="problem ${state}" role="note">
    ${stateIcon(state)}
    <div>
      <b>${title}</b> <span class="id">${code}</span
      ><span class="small quiet">${since !== null && html` ·${lastingFor(since, nowMs)}`}</span>
      <p>${message}</p>
      ${remedy !== null && html`<p>${remedy}</p>`} ${button}
    </div>
  </div>`;
}

/** Opens the form in its target: a link to the tab of a spreadsheet, or the name of a table to copy. Null before there is one. */
export function targetLink({ url, table, form }: FormReport): Html | null {
  if (url !== null && /^https?:\/\//.test(url))
    return html`<a href="${url}" rel="noreferrer" aria-label="Open the sheet of ${form.name}"
      >open</a
    >`;
  return table === null ? null : html`<code class="copy" title="Name of the table">${table}</code>`;
}

/** The progress of a run. */
export function progressOf({ seen, total }: RunningJob): Html {
  const known = Math.max(seen, total);
  if (known === 0) return html`<span class="quiet">begins</span>`;
  return html`${count(seen)} of ${count(known)}
    <progress max="${known}" value="${seen}" aria-label="Submissions seen"></progress>`;
}

/** A row of {@link listTable}. A number is formatted for people, and aligned to the right. */
export interface ListRow {
  /** The first one is the subject of the row. */
  readonly cells: readonly HtmlPart[];
  /** A line below, as wide as the table. */
  readonly note?: string | null;
}

/** A table that becomes a list of facts on a phone. */
export function listTable(
  caption: string,
  columns: readonly string[],
  rows: readonly ListRow[],
): Html {
  return html`<table>
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        ${columns.map((name, at) => html`<th scope="col" ${numberClass(rows[0]?.cells[at])}>${name}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(({ cells: [first, ...others], note = null }) => [
        html`<tr>
          <th scope="row">${first}</th>
          ${others.map((cell, at) => html`<td data-label="${columns[at + 1]}" ${numberClass(cell)}>${typeof cell === 'number' ? count(cell) : cell}</td>`)}
        </tr>`,
        note !== null &&
          html`<tr class="note">
            <td colspan="${columns.length}">${note}</td>
          </tr>`,
      ])}
    </tbody>
  </table>`;
}

const numberClass = (cell: HtmlPart): Html | null =>
  typeof cell === 'number' ? html` class="number"` : null;
