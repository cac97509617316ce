import type { PassRecord } from '../mirror/types.ts';
import { type Html, html } from './html.ts';
import { OUTCOMES } from '../health/pass-summary.ts';
import { stateMark, timeAgo } from './page-parts.ts';
import { msOf, passTimeline } from './pass-timeline.ts';
import { count, duration, plural } from '../base/format.ts';

/** The passes of a form into a target, newest first: at a glance, then one by one, the older ones folded. */
export function passHistory(target: string, passes: readonly PassRecord[], nowMs: number): Html {
  const [shown, rest] = [passes.slice(0, SHOWN_AT_ONCE), passes.slice(SHOWN_AT_ONCE)];
  const id = `passes-of-${target}`;
  return html`<h3 class="part">Recent passes</h3>
    ${passTimeline(passes, id)}${passList(shown, nowMs, id, `The newest passes into ${target}`)}${
      rest.length > 0 &&
      html`<details id="passes-${target}">
        <summary>${plural(rest.length, 'earlier pass', 'earlier passes')}</summary>
        ${passList(rest, nowMs, `${id}-before`, `Earlier passes into ${target}`)}
      </details>`
    }`;
}

const SHOWN_AT_ONCE = 12;

function passList(passes: readonly PassRecord[], nowMs: number, id: string, caption: string): Html {
  return html`<table class="list" id="${id}">
    <caption>
      ${caption}, newest first
    </caption>
    <thead>
      <tr>
        <th scope="col">Ended</th>
        <th scope="col">Pass</th>
        <th scope="col">Outcome</th>
        <th scope="col" class="number">Seen</th>
        <th scope="col" class="number">New</th>
        <th scope="col" class="number">Changed</th>
        <th scope="col" class="number">Deleted</th>
        <th scope="col" class="number">Rejected</th>
        <th scope="col" class="number">Requests</th>
        <th scope="col" class="number">Took</th>
      </tr>
    </thead>
    <tbody>
      ${passes.map((pass) => passRow(pass, nowMs))}
    </tbody>
  </table>`;
}

function passRow(pass: PassRecord, nowMs: number): Html {
  const seen =
    pass.total === null ? count(pass.distinct) : `${count(pass.distinct)} of ${count(pass.total)}`;
  const numbers: readonly (readonly [string, string])[] = [
    ['Seen', seen],
    ['New', count(pass.inserted)],
    ['Changed', count(pass.updated)],
    ['Deleted', count(pass.deleted)],
    ['Rejected', count(pass.rejected)],
    ['Requests', count(pass.requests)],
    ['Took', duration(msOf(pass))],
  ];
  return html`<tr>
      <th scope="row" data-label="Ended">${timeAgo(pass.endedAt, nowMs)}</th>
      <td data-label="Pass">${pass.kind}</td>
      <td data-label="Outcome">
        ${stateMark(OUTCOMES[pass.outcome].state, OUTCOMES[pass.outcome].text)}
      </td>
      ${numbers.map(
        ([name, value]) =>
          html`<td class="number${value === '0' ? ' zero' : ''}" data-label="${name}">
            ${value}
          </td>`,
      )}
    </tr>
    ${
      pass.error !== null &&
      html`<tr class="why">
        <td class="full small quiet" colspan="10">${pass.error}</td>
      </tr>`
    }`;
}
