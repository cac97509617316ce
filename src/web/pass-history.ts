import type { PassRecord } from '../mirror/types.ts';
import { type Html, html } from './html.ts';
import { OUTCOMES } from '../health/pass-summary.ts';
import { stateMark, timeAgo } from './page-parts.ts';
import { count, duration, exact, plural } from '../base/format.ts';

/** The passes of a form into a target, newest first: at a glance, then one by one, the older ones folded. */
export function passHistory(target: string, passes: readonly PassRecord[], nowMs: number): Html {
  const [shown, rest] = [passes.slice(0, SHOWN_AT_ONCE), passes.slice(SHOWN_AT_ONCE)];
  return html`<h3 class="part">Recent passes <span class="quiet">oldest to newest</span></h3>
    ${strip(passes)}${passList(shown, nowMs)}${
      rest.length > 0 &&
      html`<details id="passes-${target}">
        <summary>${plural(rest.length, 'earlier pass', 'earlier passes')}</summary>
        ${passList(rest, nowMs)}
      </details>`
    }`;
}

const BAR = 8;
const STRIP_HEIGHT = 34;
const SHOWN_AT_ONCE = 12;

const msOf = ({ startedAt, endedAt }: PassRecord): number =>
  Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));

/** A bar for each pass: its colour shows how it ended, its height how long it took (logarithmic). */
function strip(passes: readonly PassRecord[]): Html {
  const longest = Math.max(1, ...passes.map((pass) => Math.log1p(msOf(pass))));
  const bars = passes.toReversed().map((pass, at) => {
    const height = Math.round(6 + (STRIP_HEIGHT - 6) * (Math.log1p(msOf(pass)) / longest));
    const title = `${exact(pass.endedAt)}: ${pass.kind}, ${OUTCOMES[pass.outcome].text}, ${duration(msOf(pass))}`;
    return html`<rect
      class="${OUTCOMES[pass.outcome].state}"
      x="${at * BAR}"
      y="${STRIP_HEIGHT - height}"
      width="${BAR - 2}"
      height="${height}"
      rx="2"
      ><title>${title}</title></rect
    >`;
  });
  return html`<svg
    class="strip"
    viewBox="0 0 ${passes.length * BAR} ${STRIP_HEIGHT}"
    preserveAspectRatio="xMinYMax meet"
    role="img"
    aria-label="How the last ${plural(passes.length, 'pass', 'passes')} ended"
  >
    ${bars}
  </svg>`;
}

function passList(passes: readonly PassRecord[], nowMs: number): Html {
  return html`<table class="list">
    <thead>
      <tr>
        <th>Ended</th>
        <th>Pass</th>
        <th>Outcome</th>
        <th class="number">Seen</th>
        <th class="number">New</th>
        <th class="number">Changed</th>
        <th class="number">Deleted</th>
        <th class="number">Rejected</th>
        <th class="number">Requests</th>
        <th class="number">Took</th>
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
      <td data-label="Ended">${timeAgo(pass.endedAt, nowMs)}</td>
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
