import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_TIMINGS,
  jobIdOf,
  jobOptions,
  kindOf,
  queueName,
  syncData,
} from '../../src/queue/jobs.ts';
import { propertyRuns } from '../support/property.ts';

describe('names of queues and jobs', () => {
  it('are valid in BullMQ, and differ for different forms, targets and kinds', () => {
    const id = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(id, id, (one, other) => {
        for (const name of [jobIdOf(one), queueName('sync', one), queueName('comparison', one)]) {
          expect(name).not.toContain(':');
          expect(String(Number.parseInt(name, 10))).not.toBe(name);
          expect(name.isWellFormed()).toBe(true);
        }
        expect(jobIdOf(one) === jobIdOf(other)).toBe(one === other);
        expect(queueName('sync', one) === queueName('sync', other)).toBe(one === other);
        expect(queueName('sync', one)).not.toBe(queueName('comparison', other));
        expect(['poll', 'write-back']).not.toContain(queueName('sync', one));
      }),
      propertyRuns(200),
    );
  });
});

describe('a job', () => {
  it('L11, L15: leaves nothing behind, not even a stack trace', () => {
    expect(jobOptions(DEFAULT_TIMINGS)).toEqual({
      attempts: 5,
      backoff: { type: 'exponential', delay: 5_000, jitter: 0.5 },
      stackTraceLimit: 0,
      removeOnComplete: true,
      removeOnFail: true,
    });
  });

  it('waits behind no comparison, unless it is one', () => {
    expect(kindOf({ formId: 'f', target: 'a', isComparison: false })).toBe('sync');
    expect(kindOf({ formId: 'f', target: 'a', isComparison: true })).toBe('comparison');
  });

  it('contains an order unchanged, and nothing else', () => {
    const order = {
      formId: 'f',
      target: 'a',
      isComparison: true,
      polled: { atMs: 1, statuses: null },
    };
    const whole = { ...order, acceptDeletes: 3 };
    expect(syncData.parse(JSON.parse(JSON.stringify(whole)))).toEqual(whole);
    for (const odd of [
      { acceptDeletes: 0 },
      { isComparison: 'yes' },
      { answers: {} },
      { polled: { atMs: 1 } },
    ]) {
      expect(syncData.safeParse({ ...whole, ...odd }).success).toBe(false);
    }
  });
});
