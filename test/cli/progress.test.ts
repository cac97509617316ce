import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { Events } from '../../src/base/events.ts';
import { endedLine } from '../../src/cli/pass-report.ts';
import { showProgress } from '../../src/cli/progress.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import type { PassReport, SyncEvents } from '../../src/sync/events.ts';
import { RecordedStream } from '../support/cli-host.ts';

const SUBJECT = {
  form: { id: 'f1', slug: 'contact', name: 'Contact' },
  target: 'default',
  kind: 'full',
  passId: 'p1',
} as const;
const counts = { inserted: 0, updated: 0, unchanged: 0 };
const REPORT: PassReport = {
  ...SUBJECT,
  startedAt: '2026-11-20T12:00:00.000Z',
  endedAt: '2026-11-20T12:00:01.000Z',
  outcome: 'ok',
  requests: 14,
  total: 1_250,
  distinct: 1_250,
  inserted: 1_250,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  rejected: 2,
  withheld: 0,
  absent: 0,
  code: null,
  error: null,
  undecided: 0,
  doubles: 0,
  reason: null,
  marked: 0,
  notices: [],
  ms: 1_000,
  failure: null,
};

function setUp(isTTY: boolean) {
  const stderr = new RecordedStream(isTTY);
  const terminal = new Terminal(new RecordedStream(), stderr);
  const events = new Events<SyncEvents>();
  let now = 0;
  const clock: Clock = { now: () => now, sleep: async () => {} };
  const pass = (ms: number): void => void (now += ms);
  return { stderr, terminal, events, pass, progress: showProgress(terminal, events, clock) };
}

describe('progress without a terminal', () => {
  it('is a line at the start, one every few seconds, and one at the end', () => {
    const { stderr, events, pass, progress } = setUp(false);
    events.emit('pass.started', SUBJECT);
    for (let seen = 100; seen <= 1_200; seen += 100) {
      pass(1_000);
      events.emit('pass.progress', { ...SUBJECT, ...counts, seen, total: 1_250 });
    }
    events.emit('pass.ended', REPORT);
    progress[Symbol.dispose]();
    events.emit('pass.started', SUBJECT);
    expect(stderr.text.split('\n')).toEqual([
      'contact → default: reading everything',
      'contact → default: 500 of 1,250',
      'contact → default: 1,000 of 1,250',
      'contact → default: complete; 1,250 new, 2 rejected (14 requests, 1.0 s)',
      '',
    ]);
  });
});

describe('progress on a terminal', () => {
  it('is a bar for each pass, below the log lines; the terminal is restored afterwards', () => {
    const { stderr, terminal, events, progress } = setUp(true);
    events.emit('pass.started', SUBJECT);
    events.emit('pass.started', { ...SUBJECT, target: 'sheet' });
    events.emit('pass.progress', { ...SUBJECT, ...counts, seen: 500, total: 1_250 });
    terminal.say('a line of the log');
    events.emit('pass.ended', { ...REPORT, target: 'sheet' });
    progress[Symbol.dispose]();
    terminal.say('after');
    expect(stderr.text).toMatch(/contact → default +█+░+ +40%  500 of 1,250/);
    expect(stderr.text).toContain('a line of the log\u001B[K\n');
    expect(stderr.text.indexOf('\u001B[?25h')).toBeGreaterThan(stderr.text.indexOf('\u001B[?25l'));
    expect(stderr.text.endsWith('after\n')).toBe(true);
  });
});

it.each([
  ['ok', 'complete; nothing new'],
  ['incomplete', 'nothing written'],
  ['paused', 'paused; nothing written'],
  ['failed', 'nothing written'],
  ['busy', 'nothing written'],
] as const)('L17: says of a pass that ended %s and wrote nothing: %s', (outcome, words) => {
  const line = endedLine({ ...REPORT, inserted: 0, rejected: 0, outcome });
  expect(line).toContain(words);
  expect(line.includes('nothing new')).toBe(outcome === 'ok');
});
