import { afterAll, expect, it } from 'vitest';
import { bigQueryPoints } from '../../../scripts/try/bigquery-points.ts';
import { lookAt, summary } from '../../../scripts/try/points.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { clientOf, newPlace, stopEmulator, storeAt } from './place.ts';

afterAll(stopEmulator);

it('finds that each point holds on the emulator', async () => {
  const { dataset, url } = await newPlace();
  const points = bigQueryPoints(await clientOf(dataset), () => storeAt(url, systemClock, 'full'));
  const findings = await lookAt(points, () => {});
  expect(findings.filter(({ result }) => result !== 'holds')).toEqual([]);
  expect(summary(findings).code).toBe(0);
});
