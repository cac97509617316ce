import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { type ErrorListener, createErrorLog } from '../../src/queue/events.ts';

function watch(): {
  onError: ErrorListener;
  logged: string[];
  lines: () => string;
  pass: (ms: number) => void;
} {
  const logged: string[] = [];
  const written: string[] = [];
  let now = 1_000_000;
  const write = (line: string): void => {
    written.push(line);
    logged.push((JSON.parse(line) as { error: string }).error);
  };
  const logger = pino({ level: 'warn' }, { write });
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  return {
    onError: createErrorLog(logger, clock),
    logged,
    lines: () => written.join(''),
    pass: (ms) => {
      now += ms;
    },
  };
}

describe('the error log', () => {
  it('logs an error once in a while, however often it happens, and how often that was', () => {
    const { onError, logged, lines, pass } = watch();
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    for (let i = 0; i < 500; i++) onError(refused);
    expect(logged).toEqual(['Error ECONNREFUSED']);
    pass(31_000);
    onError(refused);
    expect(logged).toHaveLength(2);
    expect(lines()).toContain('"suppressed":499');
    onError(new TypeError('another'));
    expect(logged).toHaveLength(3);
  });

  it('L11, L15: repeats no foreign message, only what kind of error it is', () => {
    const { onError, logged, lines } = watch();
    const leaky = Object.assign(new Error('Missing lock for job form-f1. redis://u:s3cret@h'), {
      params: ['{"answer":"Jana"}'],
    });
    onError(leaky);
    onError(new MirrorError('QUEUE_FAILED', 'It does not answer.'));
    onError('s3cret');
    expect(logged).toEqual(['Error', 'QUEUE_FAILED', 'string']);
    expect(lines()).not.toMatch(/s3cret|Jana/);
  });
});
