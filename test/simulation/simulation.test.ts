import { afterAll, describe, expect, it } from 'vitest';
import { type StoreKind, stopServers } from './stores.ts';
import { broken } from './story.ts';

/** `npm run simulate` draws others. */
const SEEDS = Array.from({ length: 24 }, (_, index) => index + 1);

/**
 * Seeds with which `npm run soak` found a fault of the program, with the additions to their histories, as with
 * `--with`.
 */
const ONCE_BROKEN: readonly (readonly [StoreKind, number, ...(readonly string[])])[] = [
  ['sqlite', 950001596],
  ['sqlite', 960005173],
  ['sqlite', 970301018],
  ['sqlite', 7000852],
  ['sqlite', 7100194],
  ['sqlite', 7301106],
  ['sheets', 8500101],
  ['sheets', 44041718],
  ['sqlite', 733364341],
  ['sqlite', 329302180],
  ['sheets', 970600036],
  ['sheets', 810012],
  ['sqlite', 618478512],
  ['sqlite', 5100145],
  ['sqlite', 808320980],
  ['sqlite', 98913],
  ['sqlite', 534526892],
  ['sqlite', 954179980],
  ['sqlite', 439081121],
  ['sqlite', 543571908],
  ['sqlite', 455014925],
  ['sqlite', 911424932],
  ['sqlite', 286],
  ['sqlite', 349],
  ['sqlite', 5001454],
  ['sqlite', 95000588],
  ['sqlite', 60000172, 'total=text'],
  ['sqlite', 38740729],
  ['sqlite', 5, 'edit', 'crash'],
  ['sheets', 4325, 'people=4'],
  ['sheets', 4344, 'people=4'],
  ['sheets', 8068, 'refusing-trigger'],
  ['sqlite', 17, 'formFilter=ignored', 'itemForm=missing', 'unknownForm=404'],
];

afterAll(stopServers);

describe.each(['sqlite', 'sheets'] as const)('over %s', (store) => {
  it.each(SEEDS)('every law is kept in the history of seed %i', async (seed) => {
    expect(await broken(store, seed)).toBe('');
  });
});

it.each(ONCE_BROKEN.map(([store, seed, ...more]) => ({ store, seed, more })))(
  'over $store, every law is kept again in the history of seed $seed $more',
  async ({ store, seed, more }) => {
    expect(await broken(store, seed, more)).toBe('');
  },
);
