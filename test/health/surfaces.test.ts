import { describe, expect, it } from 'vitest';
import { PROBLEMS, type ProblemCode } from '../../src/base/catalogue.ts';
import { statusLines } from '../../src/cli/status.ts';
import { judge } from '../../src/health/judge.ts';
import { describeForm } from '../../src/health/mirror-words.ts';
import type { FormReport, Report } from '../../src/health/report.ts';
import { Alerts } from '../../src/notify/alerts.ts';
import { Heartbeat } from '../../src/notify/heartbeat.ts';
import { plainText } from '../../src/notify/message.ts';
import { formMain } from '../../src/web/form-page.ts';
import { Metrics } from '../../src/web/metrics.ts';
import { overviewMain, readListQuery } from '../../src/web/overview.ts';
import { TestClock } from '../support/test-clock.ts';
import { NO_DETAILS } from '../web/fixtures.ts';
import {
  AWAY,
  factsOf,
  fails,
  FORM_A,
  HOUR,
  heldForm,
  keeping,
  MINUTE,
  NOW,
  pause,
  queueAway,
  run,
  silent,
  type Situation,
  UNHEARD,
  WAIT,
} from './facts.ts';

/*
 * Conditions by surfaces: each surface calls a condition by the same word, which the catalogue has.
 */

interface Condition {
  readonly situation: Situation;
  /** Null: nothing is wrong. */
  readonly code: ProblemCode | null;
  readonly word: string;
  /** What it is about, and so where it shows: all, the target or the form. */
  readonly about: 'all' | 'target' | 'form';
  /** Whether the heartbeat goes on. */
  readonly beats: boolean;
  /** The same of a form, on the Mirror tab of its own spreadsheet; null: the tab does not see it. */
  readonly tab?: string;
}

const wordOf = (code: ProblemCode): string => PROBLEMS[code].title;
const condition = (
  code: ProblemCode,
  about: Condition['about'],
  situation: Situation,
  more: Partial<Condition> = {},
): Condition => {
  const beats = PROBLEMS[code].severity === 'warning';
  return { situation, code, word: wordOf(code), about, beats, ...more };
};

const died = { code: 'NOT_RUNNING', message: 'start has died.', sinceMs: NOW - HOUR } as const;
const GONE = { runs: [run(HOUR, { outcome: 'gone' })], state: { goneAtMs: NOW - HOUR } };
const SHOWN: Readonly<Record<string, Condition>> = {
  'the source is down': condition(
    'FORMS_FAILED',
    'all',
    keeping({ source: { ...UNHEARD, atMs: NOW - 1 } }),
  ),
  'the key is revoked': condition('FORMS_UNAUTHORIZED', 'all', {
    a: fails('FORMS_UNAUTHORIZED'),
  }),
  'the source throttles': condition('SOURCE_WAITING', 'all', {
    troubles: [{ ...WAIT, sinceMs: NOW - 2 * MINUTE }],
  }),
  'a form is gone': condition('FORM_GONE', 'form', { a: GONE }),
  'a run is incomplete': condition('RUN_INCOMPLETE', 'form', {
    a: { runs: [run(HOUR, { outcome: 'incomplete', error: 'It moved.' })] },
  }),
  'deletions are held': condition('DELETIONS_HELD', 'form', {
    a: { tally: { held: 312 }, runs: [run(1_000, { outcome: 'held', held: 312 })] },
  }),
  'the target is down': condition('TARGET_UNREACHABLE', 'target', { read: { failure: AWAY } }),
  'the target is full': condition('TARGET_FULL', 'target', {
    a: fails('TARGET_FULL', MINUTE),
    b: fails('TARGET_FULL', MINUTE),
  }),
  'the queue is down': condition('QUEUE_FAILED', 'all', queueAway(NOW - HOUR)),
  'the process has died': condition('NOT_RUNNING', 'all', {
    queue: null,
    troubles: [died],
  }),
  'a form is stale': condition('STALE', 'form', { a: silent(HOUR) }),
  'the copy is outdated': condition('COPY_OUTDATED', 'form', {
    a: { losses: ['4 rows are missing.'] },
  }),
};

const formOf = ({ forms }: Report): FormReport => forms.find(({ form }) => form.id === FORM_A.id)!;

/** What people read of a report in each place, as text. */
const SURFACES: Readonly<Record<string, (report: Report) => string | Promise<string>>> = {
  'the page': (report) => {
    return textOf(overviewMain(report, readListQuery({}), null).text);
  },
  "the form's page": (report) =>
    textOf(formMain(report, [{ report: formOf(report), details: NO_DETAILS }]).text),
  JSON: (report) => JSON.stringify(report),
  status: (report) =>
    statusLines(report)
      .map(({ text, remedy }) => `${text} ${remedy ?? ''}`)
      .join('\n'),
};

const textOf = (html: string): string => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

/** The messages that such a report leads to within a day. */
function messagesOf(report: Report): string[] {
  const clock = new TestClock(NOW);
  const alerts = new Alerts({}, null, clock);
  const texts: string[] = [];
  for (let atMs = NOW; atMs <= NOW + 2 * HOUR; atMs += 30_000) {
    clock.now = () => atMs;
    for (const { content, taken } of alerts.due(report)) {
      texts.push(plainText(content));
      taken();
    }
  }
  return texts;
}

const metricsOf = (report: Report): Promise<string> =>
  new Metrics({ version: '1.2.3', role: 'start' }).text(true, report);

describe.each(Object.entries(SHOWN))('%s', (_name, { situation, code, word, about, beats }) => {
  const report = judge(factsOf(situation));

  it.each(Object.entries(SURFACES))('has its word on %s', async (_surface, textIn) => {
    expect(await textIn(report)).toContain(word);
  });

  it('is one problem, of what it is about', async () => {
    const place = {
      all: 'form="",target=""',
      target: 'form="",target="db"',
      form: 'form="frm_a",target="db"',
    }[about];
    const lines = (await metricsOf(report)).split('\n');
    expect(lines.filter((line) => line.startsWith('forms_mirror_problem{'))).toEqual([
      `forms_mirror_problem{code="${code}",${place}} 1`,
    ]);
  });

  it('is one message', () => {
    const messages = messagesOf(report);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(word);
  });

  it('stops the heartbeat only where something has failed', () => {
    const heartbeat = new Heartbeat(new TestClock(NOW), () => false);
    expect(heartbeat.due(report)).toHaveLength(beats ? 1 : 0);
  });
});

describe('200 stale forms', () => {
  const forms = Array.from({ length: 200 }, (_, at) =>
    heldForm({ id: `frm_${at}`, slug: `form-${at}`, name: `Form ${at}` }, silent(HOUR)),
  );
  const report = judge(factsOf({ held: { forms } }));

  it('are one headline, one message and one line of check, with their number', () => {
    expect(report.title).toBe('200 forms stale');
    expect(messagesOf(report)).toEqual([
      expect.stringMatching(/^🔴 forms-mirror, 200 forms: Stale\./u),
    ]);
  });
});

describe('a pause', () => {
  const report = judge(factsOf({ held: { pauses: [pause('frm_a')] } }));

  it.each(Object.entries(SURFACES))('has its word on %s', async (_surface, textIn) => {
    expect(await textIn(report)).toMatch(/paused since|Paused/);
  });

  it('is no problem: no metric, no message, and the heartbeat goes on', async () => {
    expect(await metricsOf(report)).not.toContain('forms_mirror_problem{');
    expect(messagesOf(report)).toEqual([]);
    expect(report.state).not.toBe('failed');
  });
});

describe('a healthy mirror', () => {
  const report = judge(factsOf());

  it.each(Object.entries(SURFACES))('is up to date on %s', async (_surface, textIn) => {
    expect(await textIn(report)).toContain('Up to date');
  });

  it('is no problem anywhere', async () => {
    expect(await metricsOf(report)).not.toContain('forms_mirror_problem{');
    expect(messagesOf(report)).toEqual([]);
  });
});

it.each([
  ['FORM_GONE', GONE],
  ['RUN_INCOMPLETE', { runs: [run(HOUR, { outcome: 'incomplete' })] }],
  ['DELETIONS_HELD', { tally: { held: 312 } }],
] as const)('the Mirror tab of a sheet calls %s as the others do', (code, changes) => {
  const { stored } = heldForm(FORM_A, changes);
  const { health } = describeForm('db', MINUTE)(stored, stored.runs, () => null, NOW);
  expect(health.title).toBe(wordOf(code));
  expect(health.staleTitle).toBe(wordOf('STALE'));
});
