import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { Events } from '../../src/base/events.ts';
import type { QueueEventMap } from '../../src/queue/events.ts';
import { type FaultLog, createFaultLog } from '../../src/queue/fault-log.ts';

function watch(): {
  faults: FaultLog;
  told: string[];
  lines: () => string;
  pass: (ms: number) => void;
} {
  const told: string[] = [];
  const written: string[] = [];
  let now = 1_000_000;
  const events = new Events<QueueEventMap>();
  events.on('queue.fault', ({ fault }) => told.push(fault));
  const logger = pino({ level: 'warn' }, { write: (line: string) => void written.push(line) });
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  return {
    faults: createFaultLog(logger, events, clock),
    told,
    lines: () => written.join(''),
    pass: (ms) => {
      now += ms;
    },
  };
}

describe('the fault log', () => {
  it('tells a fault once in a while, however often it happens, and how often that was', () => {
    const { faults, told, lines, pass } = watch();
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    for (let i = 0; i < 500; i++) faults(refused);
    expect(told).toEqual(['Error ECONNREFUSED']);
    pass(31_000);
    faults(refused);
    expect(told).toHaveLength(2);
    expect(lines()).toContain('"before":499');
    faults(new TypeError('another'));
    expect(told).toHaveLength(3);
  });

  it('L11, L15: repeats no foreign message, only what kind of fault it is', () => {
    const { faults, told, lines } = watch();
    const leaky = Object.assign(new Error('Missing lock for job form-f1. redis://u:s3cret@h'), {
      params: ['{"answer":"Jana"}'],
    });
    faults(leaky);
    faults(new MirrorError('QUEUE_UNREACHABLE', 'It does not answer.'));
    faults('s3cret');
    expect(told).toEqual(['Error: lock lost', 'QUEUE_UNREACHABLE', 'string']);
    expect(lines()).not.toMatch(/s3cret|Jana/);
  });
});
