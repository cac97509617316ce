import { type Html, html } from './html.ts';
import { stateMark, timeAgo } from './page-parts.ts';
import type { FormDetails, ShownWindow } from '../health/facts.ts';
import { count, plural } from '../base/format.ts';

/** So many are shown unfolded. */
const SHOWN_AT_ONCE = 12;
/** A form may be cut into thousands. */
const MOST_WINDOWS = 200;

/** What a target holds of a form's fields and windows: names, counts and times, no answer. */
export function detailsParts(target: string, details: FormDetails, nowMs: number): Html {
  return html`${fieldsPart(target, details.fields)} ${windowsPart(target, details.windows, nowMs)}`;
}

function fieldsPart(target: string, fields: FormDetails['fields']): Html | null {
  if (fields.length === 0) return null;
  const table = html`<table class="list">
    <caption>
      Fields of ${target}, with the column that each one keeps
    </caption>
    <thead>
      <tr>
        <th scope="col">Label</th>
        <th scope="col">Field ID</th>
        <th scope="col">Column</th>
        <th scope="col">At the source</th>
      </tr>
    </thead>
    <tbody>
      ${fields.map(
        ({ id, label, column, removedAt }) =>
          html`<tr>
            <th scope="row"><bdi>${label}</bdi></th>
            <td class="id" data-label="Field ID">${id}</td>
            <td data-label="Column"><code>${column}</code></td>
            <td data-label="At the source">${removedAt === null ? 'yes' : 'no longer'}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
  return html`<h3 class="part">${plural(fields.length, 'field')}</h3>
    ${folded(`fields-${target}`, fields.length, 'All fields', table)}`;
}

/** A list that is long is folded. */
const folded = (id: string, length: number, words: string, table: Html): Html =>
  length <= SHOWN_AT_ONCE
    ? table
    : html`<details id="${id}">
        <summary>${words}</summary>
        ${table}
      </details>`;

function windowsPart(target: string, windows: readonly ShownWindow[], nowMs: number): Html | null {
  if (windows.length < 2) return null;
  const open = windows.filter((window) => window.open).length;
  const shown = windows.toReversed().slice(0, MOST_WINDOWS);
  const more = windows.length - shown.length;
  const table = html`<table class="list">
    <caption>
      Windows of time that the form is read in, newest
      first${more > 0 && `; ${count(more)} older ones are not shown`}
    </caption>
    <thead>
      <tr>
        <th scope="col">Submitted</th>
        <th scope="col" class="number">Submissions</th>
        <th scope="col">Compared row by row</th>
        <th scope="col">State</th>
      </tr>
    </thead>
    <tbody>
      ${shown.map((window) => windowRow(window, nowMs))}
    </tbody>
  </table>`;
  return html`<h3 class="part">
      ${plural(windows.length, 'window')}
      <span class="quiet">${open > 0 && `${count(open)} not proven by the pass under way`}</span>
    </h3>
    ${folded(`windows-${target}`, windows.length, 'All windows', table)}`;
}

function windowRow({ from, to, total, provenAt, open }: ShownWindow, nowMs: number): Html {
  return html`<tr>
    <th scope="row">${spanText(from, to)}</th>
    <td class="number" data-label="Submissions">${count(total)}</td>
    <td data-label="Compared row by row">${timeAgo(provenAt, nowMs, 'never')}</td>
    <td data-label="State">
      ${open ? stateMark('working', 'to be proven') : stateMark('ok', 'proven')}
    </td>
  </tr>`;
}

/** Windows begin and end at midnight UTC. */
const dayOf = (iso: string): string => iso.slice(0, 10);

function spanText(from: string | null, to: string | null): string {
  if (from === null) return to === null ? 'all' : `before ${dayOf(to)}`;
  return to === null ? `since ${dayOf(from)}` : `${dayOf(from)} to ${dayOf(to)}`;
}
