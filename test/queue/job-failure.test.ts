import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { jobFailure } from '../../src/queue/job-outcome.ts';

const coded = (code: string, message = 'secret'): Error =>
  Object.assign(new Error(message), { code });

describe('what made a job fail', () => {
  it.each([
    coded('ECONNREFUSED'),
    coded('57P01', 'terminating connection due to administrator command'),
    coded('08006'),
    new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')], 'secret'),
    new Error('Connection terminated unexpectedly'),
    new Error('Connection is closed.'),
    new Error('timeout exceeded when trying to connect'),
  ])('is the queue when its connection is lost: %s', (error) => {
    const known = jobFailure(error);
    expect(known).toMatchObject({ code: 'QUEUE_FAILED', retryable: true, cause: error });
    expect(known.message).toMatch(/^The queue does not answer/);
    expect(known.message).not.toContain('secret');
  });

  it('is what source and targets say of theirs', () => {
    const known = new MirrorError('TARGET_UNREACHABLE', 'The target does not answer.', {
      cause: coded('ECONNREFUSED'),
    });
    expect(jobFailure(known)).toBe(known);
  });

  it.each([new TypeError('secret'), coded('23505'), 'secret'])(
    'is a defect of ours otherwise: %s',
    (error) => {
      expect(jobFailure(error)).toMatchObject({ code: 'INTERNAL', retryable: false });
    },
  );

  it('is a stop where somebody asked for it', () => {
    expect(jobFailure(new DOMException('x', 'AbortError'))).toMatchObject({ code: 'CANCELLED' });
  });
});
