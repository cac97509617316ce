import { type Html, html } from './html.ts';
import type { HealthState } from '../mirror/health-text.ts';

/** Shapes as well as colours tell the states apart. 20 × 20, drawn in the current colour. */
const SHAPES: Readonly<Record<HealthState, Html>> = {
  ok: html`<circle cx="10" cy="10" r="8" fill="currentColor" opacity=".16" /><path
      d="M6 10.4l2.8 2.8L14.2 7.4"
    />`,
  working: html`<g class="turning"
    ><path d="M16.5 10a6.5 6.5 0 0 1-11.6 4M3.5 10a6.5 6.5 0 0 1 11.6-4" /><path
      d="M15.4 3v3.2h-3.2M4.6 17v-3.2h3.2"
  /></g>`,
  attention: html`<path d="M10 2.6l7.8 13.8H2.2z" fill="currentColor" fill-opacity=".16" /><path
      d="M10 7.8v4.2M10 14.2v.1"
    />`,
  failed: html`<circle cx="10" cy="10" r="8" fill="currentColor" opacity=".16" /><path
      d="M7 7l6 6M13 7l-6 6"
    />`,
  waiting: html`<circle cx="10" cy="10" r="7.4" /><path d="M10 6v4.2l2.8 1.8" />`,
  paused: html`<circle cx="10" cy="10" r="7.4" /><path d="M8 7v6M12 7v6" />`,
  ended: html`<circle cx="10" cy="10" r="7.4" /><path d="M6.6 10h6.8" />`,
};

/** The shapes of all states, which every page holds once and {@link stateIcon} refers to. */
export const ICON_SHEET: Html = html`<svg class="icons" aria-hidden="true">
  ${Object.entries(SHAPES).map(
    ([state, shape]) => html`<symbol id="i-${state}" viewBox="0 0 20 20">${shape}</symbol>`,
  )}
</svg>`;

/** The icon of a state, for sighted readers only: its words are beside it. */
export function stateIcon(state: HealthState): Html {
  return html`<svg class="i" aria-hidden="true"><use href="#i-${state}" /></svg>`;
}

/** The program's sign: a page and its reflection. */
export const BRAND_ICON = html`<svg
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="1.8"
  stroke-linejoin="round"
  aria-hidden="true"
>
  <rect x="3" y="4" width="8" height="16" rx="2" />
  <path d="M15 4h4a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2h-4" stroke-dasharray="2.6 2.6" />
  <path d="M5.6 9h2.8M5.6 12.5h2.8" stroke-linecap="round" />
</svg>`;

const DOT_COLOURS: Readonly<Record<HealthState, string>> = {
  ok: '#2a7f4f',
  working: '#2f5fb3',
  attention: '#d98a00',
  failed: '#c5392f',
  waiting: '#8a8e96',
  paused: '#8a8e96',
  ended: '#8a8e96',
};

/** A dot in the state's colour, for the browser's tab: a `data:` address. */
export function favicon(state: HealthState): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.5" fill="${DOT_COLOURS[state]}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
