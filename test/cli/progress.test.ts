import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { Events } from '../../src/base/events.ts';
import { runLines, showProgress } from '../../src/cli/sync-report.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import { blankRun, type RunReport } from '../../src/sync/run-form.ts';
import { RecordedStream } from '../support/cli-host.ts';

const SUBJECT = {
  form: { id: 'f1', slug: 'contact', name: 'Contact' },
  target: 'default',
  isFull: true,
} as const;
const REPORT: RunReport = {
  ...blankRun(SUBJECT.form, SUBJECT.target, null, 0, 1_000),
  requests: 14,
  inserted: 1_250,
  rejected: 2,
};

function setUp() {
  const stderr = new RecordedStream();
  const terminal = new Terminal(new RecordedStream(), stderr);
  const events = new Events<SyncEvents>();
  let now = 0;
  const clock: Clock = { now: () => now, sleep: async () => {} };
  const pass = (ms: number): void => void (now += ms);
  showProgress(terminal, events, clock);
  return { stderr, events, pass };
}

describe('progress', () => {
  it('is a line every few seconds, and one at the end', () => {
    const { stderr, events, pass } = setUp();
    events.emit('run.started', SUBJECT);
    for (let seen = 100; seen <= 1_200; seen += 100) {
      pass(1_000);
      events.emit('run.progress', { ...SUBJECT, seen, total: 1_250 });
    }
    expect(stderr.text.split('\n')).toEqual([
      'contact → default: 500 of 1,250',
      'contact → default: 1,000 of 1,250',
      '',
    ]);
    expect(runLines(REPORT)).toMatchObject([
      {
        sign: 'ok',
        text: 'contact → default: complete; 1,250 new, 2 rejected (14 requests, 1.0 s)',
      },
    ]);
  });
});

it.each([
  ['ok', 'complete; nothing new'],
  ['incomplete', 'nothing written'],
  ['paused', 'paused; nothing written'],
  ['failed', 'nothing written'],
  ['busy', 'nothing written'],
] as const)('L17: says of a run that ended %s and wrote nothing: %s', (outcome, words) => {
  const line = runLines({ ...REPORT, inserted: 0, rejected: 0, outcome })[0]?.text ?? '';
  expect(line).toContain(words);
  expect(line.includes('nothing new')).toBe(outcome === 'ok');
});
