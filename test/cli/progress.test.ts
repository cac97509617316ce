import { describe, expect, it } from 'vitest';
import { progressOf, runLines } from '../../src/cli/sync-report.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import { blankRun, type RunReport } from '../../src/sync/run-form.ts';
import { RecordedStream } from '../support/cli-host.ts';
import { TestClock } from '../support/test-clock.ts';

const REPORT: RunReport = {
  ...blankRun({ id: 'f1', slug: 'contact', name: 'Contact' }, 'default', null, 0, 1_000),
  requests: 14,
  inserted: 1_250,
  rejected: 2,
  claim: {
    submissionsAsOfMs: 0,
    statusesAsOfMs: 0,
    answersAsOfMs: 0,
    held: 0,
    undecided: 0,
    rejected: 2,
  },
};

describe('progress', () => {
  it('is a line every few seconds, and one at the end', async () => {
    const stderr = new RecordedStream();
    const terminal = new Terminal(new RecordedStream(), stderr);
    const clock = new TestClock();
    const onProgress = progressOf('contact → default', { terminal, clock });
    for (let seen = 100; seen <= 1_200; seen += 100) {
      await clock.sleep(1_000);
      onProgress?.(seen, 1_250);
    }
    expect(stderr.text.split('\n')).toEqual([
      'contact → default: 500 of 1,250',
      'contact → default: 1,000 of 1,250',
      '',
    ]);
    expect(runLines(REPORT)).toMatchObject([
      {
        sign: 'ok',
        text: 'contact → default: complete, except for 2 rejected; 1,250 new (14 requests, 1.0 s)',
      },
    ]);
  });
});

it.each([
  ['ok', 'complete; nothing written'],
  ['incomplete', 'nothing written'],
  ['paused', 'paused; nothing written'],
  ['failed', 'nothing written'],
  ['busy', 'nothing written'],
] as const)('L17: describes a run that ended %s and wrote nothing: %s', (outcome, words) => {
  const line =
    runLines({ ...REPORT, inserted: 0, rejected: 0, claim: null, outcome })[0]?.text ?? '';
  expect(line).toContain(words);
});
