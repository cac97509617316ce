/*
 * All colours of the pages. A test computes the contrast of every pair that they are used in.
 */

/** Names of colours, and their values in a light and in a dark surrounding. */
export const PALETTE = {
  paper: { light: '#f6f5f2', dark: '#14161a' },
  card: { light: '#fffefc', dark: '#1b1e23' },
  soft: { light: '#f0eee9', dark: '#262a32' },
  line: { light: '#e3e0d8', dark: '#2f343d' },
  /** The edge of what can be typed into or pressed. */
  edge: { light: '#85888f', dark: '#757b87' },
  ink: { light: '#23262b', dark: '#e6e7ea' },
  quiet: { light: '#5a5f68', dark: '#a3a9b4' },
  link: { light: '#2a57a5', dark: '#8ab4f8' },
  ok: { light: '#1f6a40', dark: '#6fcf97' },
  'ok-wash': { light: '#e4f2e9', dark: '#1b3226' },
  attention: { light: '#824f00', dark: '#f0b95a' },
  'attention-wash': { light: '#fbf0da', dark: '#382b14' },
  failed: { light: '#b3261e', dark: '#ff9a92' },
  'failed-wash': { light: '#fbe7e4', dark: '#40201e' },
  working: { light: '#2a57a5', dark: '#8ab4f8' },
  'working-wash': { light: '#e5edfa', dark: '#1d2b45' },
  waiting: { light: '#5a5f68', dark: '#a3a9b4' },
  'waiting-wash': { light: '#eeece7', dark: '#272b32' },
  paused: { light: '#5a5f68', dark: '#a3a9b4' },
  'paused-wash': { light: '#eeece7', dark: '#272b32' },
  ended: { light: '#5a5f68', dark: '#a3a9b4' },
  'ended-wash': { light: '#eeece7', dark: '#272b32' },
} as const;

/** The name of a colour. */
export type Colour = keyof typeof PALETTE;

/** What stands on what, and the contrast that it needs (WCAG 2.2: 4.5 for text, 3 for shapes that carry meaning). */
export interface ColourPair {
  readonly front: Colour;
  readonly back: Colour;
  readonly least: number;
}

const GROUNDS = ['paper', 'card', 'soft'] as const;
const TONES = ['ok', 'attention', 'failed', 'working', 'waiting', 'paused', 'ended'] as const;

const text = (front: Colour, backs: readonly Colour[]): ColourPair[] =>
  backs.map((back) => ({ front, back, least: 4.5 }));

/** Every pair that the pages use. */
export const PAIRS: readonly ColourPair[] = [
  ...text('ink', [...GROUNDS, ...TONES.map((tone) => `${tone}-wash` as const)]),
  ...text('quiet', [...GROUNDS, ...TONES.map((tone) => `${tone}-wash` as const)]),
  ...text('link', [...GROUNDS, 'attention-wash', 'failed-wash']),
  ...TONES.flatMap((tone) => text(tone, [...GROUNDS, `${tone}-wash`])),
  ...(['paper', 'card', 'soft'] as const).map((back) => {
    return { front: 'edge', back, least: 3 } as const;
  }),
];

/** The colours as CSS variables. */
export function paletteStyle(surrounding: 'light' | 'dark'): string {
  return Object.entries(PALETTE)
    .map(([name, values]) => `--${name}:${values[surrounding]}`)
    .join(';');
}
