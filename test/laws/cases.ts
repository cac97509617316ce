import * as fc from 'fast-check';
import type { FaultRule } from '../../src/sandbox/faults.ts';
import { CHANGES, COUNTED_CHANGES } from './changes.ts';
import { READINGS, type SandboxBehaviour } from '../../src/sandbox/forms-api/behaviour.ts';

/** A random reading of each point that the API leaves open. */
export const behaviours = fc.record(
  Object.fromEntries(
    Object.entries(READINGS).map(([point, readings]) => [point, fc.constantFrom(...readings)]),
  ),
) as fc.Arbitrary<SandboxBehaviour>;

/** What may happen in a case: of each kind, or often what moves counts. */
export const someChanges = fc.oneof(
  { weight: 2, arbitrary: fc.subarray([...CHANGES], { minLength: 1 }) },
  { weight: 1, arbitrary: fc.subarray([...COUNTED_CHANGES], { minLength: 2 }) },
);

/** Which write goes wrong, if any. */
export const crashes = fc.option(
  fc.record({ afterWrites: fc.nat(6), applied: fc.boolean(), dies: fc.boolean() }),
  { nil: undefined, freq: 2 },
);

/** How far apart the first submissions are dated: all on one day, or on many. */
export const spacings = fc.constantFrom(1_000, 5 * 3_600_000, 86_400_000);

/** Faults that a retry gets past: the client must retry, or the pass must report that it failed. */
export const FAULTS: readonly FaultRule[] = [
  { path: '/submissions', status: 500, times: 2 },
  { path: '/submissions', status: 429, retryAfter: 1, times: 1 },
  { path: '/submissions', cutBodyAt: 60, times: 1 },
  { path: '/submissions', dropConnection: true, times: 1 },
  { method: 'PATCH', status: 500, applied: true, times: 1 },
  { method: 'PATCH', dropConnection: true, applied: true, times: 2 },
  { path: '/forms', status: 503, body: '<html>busy</html>', times: 8 },
];

/** How large windows are: as they are, or so small that a few submissions are cut into many. */
export const windowSizes = fc.constantFrom(
  undefined,
  { aim: 3, most: 6 },
  { aim: 8, most: 15 },
  { aim: 20, most: 30 },
);

/** From which sizes on counts are narrowed: as they are, or so small that a few submissions are halved. */
export const comparisonSizes = fc.constantFrom(
  undefined,
  { leaf: 1, shortPages: 0 },
  { leaf: 5, shortPages: 0 },
  { leaf: 7, shortPages: 3 },
);
