import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/logger.ts';
import { createErrorLog } from '../../src/queue/error-log.ts';
import { TestClock } from '../support/test-clock.ts';

function watch() {
  const lines: string[] = [];
  const logger = createLogger('warn', { write: (line) => void lines.push(line) });
  const clock = new TestClock();
  const logged = (): string[] => lines.map((line) => (JSON.parse(line) as { error: string }).error);
  return { onError: createErrorLog(logger, clock), clock, logged, lines: () => lines.join('') };
}

describe('the error log', () => {
  it('logs an error from time to time, regardless of how often it happens, with the count', async () => {
    const { onError, clock, logged, lines } = watch();
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    for (let i = 0; i < 500; i++) onError(refused);
    expect(logged()).toEqual(['Error ECONNREFUSED']);
    await clock.sleep(31_000);
    onError(refused);
    expect(logged()).toHaveLength(2);
    expect(lines()).toContain('"suppressed":499');
    onError(new TypeError('another'));
    expect(logged()).toHaveLength(3);
  });

  it('L11, L15: repeats no foreign message, only the kind of error', () => {
    const { onError, logged, lines } = watch();
    const leaky = Object.assign(new Error('Missing lock for job form-f1. redis://u:s3cret@h'), {
      params: ['{"answer":"Jana"}'],
    });
    onError(leaky);
    onError(new MirrorError('QUEUE_FAILED', 'It does not answer.'));
    onError('s3cret');
    const full = "OOM command not allowed when used memory > 'maxmemory'. script: s3cret";
    onError(Object.assign(new Error(full), { name: 'ReplyError' }));
    expect(logged()).toEqual(['Error', 'QUEUE_FAILED', 'string', 'ReplyError OOM']);
    expect(lines()).not.toMatch(/s3cret|Jana/);
  });
});
