import { afterAll, expect, it } from 'vitest';
import { bigQueryPoints } from '../../../scripts/try/bigquery-points.ts';
import { lookAt, summary } from '../../../scripts/try/points.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { clientOf, newPlace, stopEmulator, storeAt } from './place.ts';

afterAll(stopEmulator);

/** The emulator does not compute which months a statement reads. */
const ONLY_AT_GOOGLE = 'A query with months as literals reads only these months.';

it('finds that each point holds on the emulator that it can show', async () => {
  const { dataset, url } = await newPlace();
  const points = bigQueryPoints(await clientOf(dataset), () => storeAt(url, systemClock, 'full'));
  const findings = await lookAt(points, () => {});
  expect(findings.filter(({ result }) => result !== 'holds')).toMatchObject([
    { says: ONLY_AT_GOOGLE, result: 'open' },
  ]);
  expect(summary(findings).code).toBe(1);
});
