import type { PassRecord } from '../mirror/types.ts';
import { type Html, html } from './html.ts';
import { OUTCOMES } from '../health/pass-summary.ts';
import { count, duration, exact, plural } from '../base/format.ts';

/** How long a pass took. */
export const msOf = ({ startedAt, endedAt }: PassRecord): number =>
  Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));

/** Rows that it wrote. */
const writtenBy = ({ inserted, updated, deleted }: PassRecord): number =>
  inserted + updated + deleted;

const BAR = 8;
const BAND = 50;
/** Room above the tallest bar. */
const GAP = 8;
/** Few passes stand at the right end, as wide as many. */
const LEAST_BARS = 30;

interface Measure {
  readonly name: string;
  readonly of: (pass: PassRecord) => number;
  readonly text: (value: number) => string;
}

const MEASURES: readonly Measure[] = [
  { name: 'Duration', of: msOf, text: duration },
  { name: 'Rows written', of: writtenBy, text: count },
  { name: 'Requests', of: ({ requests }) => requests, text: count },
];

/**
 * The passes of a form over time, newest at the right: how long each took, how many rows it wrote, how many requests it sent;
 * its colour shows how it ended. Heights are logarithmic. The table of the passes has the same in numbers.
 */
export function passTimeline(passes: readonly PassRecord[], tableId: string): Html {
  const bars = Math.max(LEAST_BARS, passes.length);
  const width = bars * BAR;
  const height = MEASURES.length * BAND;
  const most = MEASURES.map(({ of }) => Math.max(0, ...passes.map(of)));
  const inOrder = passes.toReversed();
  const left = bars - passes.length;
  const measures = MEASURES.map(({ name, text }, at) => `${name}: up to ${text(most[at] ?? 0)}`);
  const label = `The last ${plural(passes.length, 'pass', 'passes')}, oldest to newest. ${measures.join('. ')}.`;
  return html`<figure class="timeline">
    <figcaption class="small quiet">
      Oldest to newest, heights logarithmic; the table below has the numbers.
    </figcaption>
    <ul aria-hidden="true">
      ${MEASURES.map(({ name, text }, at) => html`<li>${name}<br />to ${text(most[at] ?? 0)}</li>`)}
    </ul>
    <svg
      viewBox="0 0 ${width} ${height}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${label}"
      aria-describedby="${tableId}"
    >
      ${MEASURES.map((_, at) => html`<path d="M0 ${(at + 1) * BAND - 0.5}h${width}" />`)}
      ${inOrder.map((pass, at) => barsOf(pass, (left + at) * BAR, most))}
    </svg>
  </figure>`;
}

function barsOf(pass: PassRecord, x: number, most: readonly number[]): Html {
  const { state, text } = OUTCOMES[pass.outcome];
  const facts = MEASURES.map((measure) => `${measure.name} ${measure.text(measure.of(pass))}`);
  const title = `${exact(pass.endedAt)}: ${pass.kind}, ${text}. ${facts.join(', ')}`;
  const rects = MEASURES.map(({ of }, at) => {
    const value = of(pass);
    if (value === 0) return null;
    const part = Math.log1p(value) / Math.log1p(Math.max(1, most[at] ?? 0));
    const tall = Math.max(3, Math.round((BAND - GAP) * part));
    return html`<rect
      x="${x + 1}"
      y="${(at + 1) * BAND - tall}"
      width="${BAR - 2}"
      height="${tall}"
    />`;
  });
  return html`<g class="${state}"><title>${title}</title>${rects}</g>`;
}
