import { expect, it } from 'vitest';
import { capacityText } from '../../../../src/targets/google-sheets/state/capacity.ts';

const IN_USE = "(12.3% of Google's 10 million cells are in use)";

it.each<[string, number | undefined, number | undefined]>([
  [`Room for about 480,000 more submissions ${IN_USE}`, 487_654, undefined],
  [
    `Room for about 480,000 more submissions; full in about 14 months at the rate of late ${IN_USE}`,
    487_654,
    440,
  ],
  [
    `Room for about 900 more submissions; full in about 45 days at the rate of late ${IN_USE}`,
    904,
    45,
  ],
  [`Room for about 1 more submission; full in less than a day at the rate of late ${IN_USE}`, 1, 0],
  [`Room for about 62 more submissions; full in about 1 day at the rate of late ${IN_USE}`, 62, 1],
  [
    `Room for about 1,000,000 more submissions; full in about 3 years at the rate of late ${IN_USE}`,
    1_000_000,
    1_400,
  ],
  [
    `Room for about 0 more submissions; full in more than ten years at the rate of late ${IN_USE}`,
    0,
    4_000,
  ],
  ["12.3% of Google's 10 million cells are in use", undefined, undefined],
])('%s', (text, rowsLeft, daysLeft) => {
  expect(capacityText({ cells: 1_230_000, share: 0.123, rowsLeft, daysLeft })).toBe(text);
});
