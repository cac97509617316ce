import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isStorable, passOptions, passQueue, passJobId } from '../../src/queue/jobs.ts';
import { DEFAULT_TIMINGS } from '../../src/queue/timings.ts';
import { propertyRuns } from '../support/property.ts';

describe('names of queues and jobs', () => {
  it('are what BullMQ takes, and differ for different forms, targets and kinds', () => {
    const id = fc.string({ unit: 'binary', minLength: 1 }).filter(isStorable);
    fc.assert(
      fc.property(id, id, (one, other) => {
        for (const name of [
          passJobId(one),
          passQueue('full', one),
          passQueue('incremental', one),
        ]) {
          expect(name).not.toContain(':');
          expect(String(Number.parseInt(name, 10))).not.toBe(name);
          expect(name.isWellFormed()).toBe(true);
        }
        expect(passJobId(one) === passJobId(other)).toBe(one === other);
        expect(passQueue('full', one) === passQueue('full', other)).toBe(one === other);
        expect(passQueue('full', one)).not.toBe(passQueue('incremental', other));
      }),
      propertyRuns(200),
    );
  });

  it('leave out IDs that PostgreSQL cannot store', () => {
    expect(isStorable('f-Příliš žluťoučký 🐎')).toBe(true);
    expect(isStorable('nul \0')).toBe(false);
    expect(isStorable('half \ud83d')).toBe(false);
  });

  it('L15: a pass carries nothing but IDs, and leaves nothing behind', () => {
    const data = {
      formId: 'f1',
      target: 'a',
      kind: 'full',
      compareCounts: false,
      busy: 0,
      failed: 0,
      againAt: null,
    } as const;
    expect(passOptions(data, DEFAULT_TIMINGS)).toEqual({
      jobId: 'form-f1',
      attempts: 15,
      backoff: { type: 'full-jitter' },
      stackTraceLimit: 0,
      removeOnComplete: true,
      removeOnFail: true,
    });
  });
});

describe('the default times', () => {
  it('have a killed job taken over in some ten seconds, and stop within a container’s grace', () => {
    expect(DEFAULT_TIMINGS.lockDurationMs).toBeLessThanOrEqual(10_000);
    expect(DEFAULT_TIMINGS.stalledIntervalMs).toBeLessThanOrEqual(5_000);
    // Docker kills after ten seconds.
    expect(DEFAULT_TIMINGS.stopMs).toBeLessThan(10_000);
  });
});
