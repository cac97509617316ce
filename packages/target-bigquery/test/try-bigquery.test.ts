import { afterAll, expect, it } from 'vitest';
import { bigQueryPoints } from '../../../scripts/try/bigquery-points.ts';
import { lookAt } from '../../../scripts/try/points.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { clientOf, newPlace, stopEmulator, storeAt } from './place.ts';

afterAll(stopEmulator);

it('sees the points hold against the emulator', async () => {
  const { dataset, url } = await newPlace();
  const points = bigQueryPoints(await clientOf(dataset), () => storeAt(url, systemClock, 'full'));
  const findings = await lookAt(points, () => {});
  const others = findings.filter(({ result }) => result !== 'holds').map(({ says }) => says);
  // The emulator counts no bytes.
  expect(others).toEqual(['A query with months as literals reads only these months.']);
});
