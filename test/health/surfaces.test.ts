import { describe, expect, it } from 'vitest';
import { PROBLEMS, type ProblemCode } from '../../src/base/catalogue.ts';
import { exact } from '../../src/base/format.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { statusLines } from '../../src/cli/status.ts';
import { judge } from '../../src/health/judge.ts';
import { describeForm } from '../../src/health/mirror-words.ts';
import type { FormReport, HealthState, Report } from '../../src/health/report.ts';
import { Alerts } from '../../src/notify/alerts.ts';
import { Heartbeat } from '../../src/notify/heartbeat.ts';
import { plainText } from '../../src/notify/message.ts';
import { formMain } from '../../src/web/form-page.ts';
import { Metrics } from '../../src/web/metrics.ts';
import { overviewMain } from '../../src/web/overview.ts';
import { TestClock } from '../support/test-clock.ts';
import { NO_DETAILS } from '../web/fixtures.ts';
import {
  AWAY,
  factsOf,
  fails,
  FORM_A,
  HOUR,
  formCopy,
  keeping,
  MINUTE,
  NOW,
  pause,
  queueAway,
  run,
  silent,
  type Situation,
  UNHEARD,
} from './facts.ts';

/** Conditions by surfaces: each surface has the same word for a condition, which is in the catalog. */

interface Condition {
  readonly situation: Situation;
  /** Null: there is no problem. */
  readonly code: ProblemCode | null;
  readonly word: string;
  readonly state: HealthState;
  /** The subject, which determines where it is a problem: everything, the target or the form. */
  readonly about: 'all' | 'target' | 'form';
  /** The word for the form on the Mirror tab of its spreadsheet; null: the tab cannot know. */
  readonly tab: string | null;
}

const condition = (
  code: ProblemCode,
  state: HealthState,
  about: Condition['about'],
  situation: Situation,
): Condition => {
  const word = PROBLEMS[code].title;
  return { situation, code, word, state, about, tab: about === 'form' ? word : null };
};

const CONDITIONS: Readonly<Record<string, Condition>> = {
  'source down': condition(
    'FORMS_FAILED',
    'failed',
    'all',
    keeping({ source: { ...UNHEARD, atMs: NOW - 1 } }),
  ),
  'key revoked': {
    ...condition('FORMS_UNAUTHORIZED', 'failed', 'all', { a: fails('FORMS_UNAUTHORIZED') }),
    tab: PROBLEMS.FORMS_UNAUTHORIZED.title,
  },
  'form gone': condition('FORM_GONE', 'attention', 'form', {
    a: { runs: [run(HOUR, { outcome: 'gone' })], state: { goneAtMs: NOW - HOUR } },
  }),
  incomplete: condition('RUN_INCOMPLETE', 'attention', 'form', {
    a: { runs: [run(MINUTE, { outcome: 'incomplete', error: 'It moved.' })] },
  }),
  'deletions held': condition('DELETIONS_HELD', 'attention', 'form', {
    a: { tally: { held: 312 }, runs: [run(1_000, { outcome: 'held', held: 312 })] },
  }),
  'target down': condition('TARGET_UNREACHABLE', 'failed', 'target', { read: { problem: AWAY } }),
  'target full': condition('TARGET_FULL', 'failed', 'target', {
    a: fails('TARGET_FULL', MINUTE),
    b: fails('TARGET_FULL', MINUTE),
  }),
  'target full for one form': condition('TARGET_FULL', 'failed', 'form', {
    a: fails('TARGET_FULL', MINUTE),
  }),
  paused: {
    situation: { content: { pauses: [pause('frm_a')] } },
    code: null,
    word: 'Paused',
    state: 'paused',
    about: 'form',
    tab: 'Paused',
  },
  'queue down': condition('QUEUE_FAILED', 'failed', 'all', queueAway(NOW - HOUR)),
  stale: { ...condition('STALE', 'failed', 'form', { a: silent(HOUR) }), tab: 'Up to date' },
  'copy outdated': {
    ...condition('COPY_OUTDATED', 'failed', 'form', { a: { losses: ['4 rows are missing.'] } }),
    // Its store calls it after a commit, when nothing is missing.
    tab: 'Up to date',
  },
  healthy: {
    situation: {},
    code: null,
    word: 'Up to date',
    state: 'ok',
    about: 'form',
    tab: 'Up to date',
  },
};

const formOf = ({ forms }: Report): FormReport => forms.find(({ form }) => form.id === FORM_A.id)!;

/** The text of a report in each place. */
const SURFACES: Readonly<Record<string, (report: Report) => string>> = {
  headline: (report) => /<h1>(.*?)<\/h1>/.exec(pageOf(report))?.[1] ?? '',
  'form cell': (report) => stateIn(/<td data-label="db">.*?<\/td>/.exec(pageOf(report))?.[0] ?? ''),
  'form page': (report) => {
    const copy = { report: formOf(report), details: NO_DETAILS };
    return stateIn(formMain(report, [copy]).text.replaceAll(/\s+/g, ' '));
  },
  JSON: (report) => report.title,
  status: (report) => statusLines(report)[0]?.text ?? '',
  'status of the form': (report) =>
    statusLines(report).find(({ text }) => text.startsWith('a → db: '))?.text ?? '',
};

const pageOf = (report: Report): string => overviewMain(report, null).text.replaceAll(/\s+/g, ' ');
/** The text of the first state. */
const stateIn = (html: string): string =>
  /<span class="state \w+"><i [^>]*>.<\/i> (.*?)<\/span>/.exec(html)?.[1] ?? '';

/** The messages that such a report causes within two hours. */
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

const SIGNS = {
  all: 'form="",target=""',
  target: 'form="",target="db"',
  form: 'form="frm_a",target="db"',
};

describe.each(Object.entries(CONDITIONS))('%s', (_name, one) => {
  const { situation, code, word, state, about, tab } = one;
  const report = judge(factsOf(situation));

  it.each(Object.entries(SURFACES))('has its word: %s', (_surface, textIn) => {
    expect(textIn(report)).toMatch(new RegExp(word));
  });

  it('is its state, in the mirror and in /health', () => {
    expect(report.state).toBe(state);
  });

  it('is one problem in the metrics, with its subject', async () => {
    const lines = (await metricsOf(report)).split('\n');
    expect(lines.filter((line) => line.startsWith('forms_mirror_problem{'))).toEqual(
      code === null ? [] : [`forms_mirror_problem{code="${code}",${SIGNS[about]}} 1`],
    );
  });

  it('is one message, or none if there is no problem', () => {
    const messages = messagesOf(report);
    expect(messages).toHaveLength(code === null ? 0 : 1);
    expect(messages.join('')).toContain(code === null ? '' : word);
  });

  it('stops the heartbeat only if something has failed', async () => {
    let calls = 0;
    const heartbeat = new Heartbeat({
      url: new URL('https://hc.example.com/x'),
      fetch: async () => new Response(String(calls++)),
      clock: new TestClock(NOW),
      logger: silentLogger,
      signal: new AbortController().signal,
    });
    await heartbeat.look(report, false);
    expect(calls).toBe(state === 'failed' ? 0 : 1);
  });

  it('has its word on the Mirror tab, if the tab can know it', () => {
    if (tab === null) return;
    const stored = formCopy(FORM_A, situation.a);
    const { pauses = [] } = situation.content ?? {};
    const recordOf = (key: string): unknown => (key === 'pauses' ? pauses : null);
    const describe = describeForm('db', MINUTE, () => true);
    const shown = describe(stored, recordOf, NOW, exact);
    expect(shown.title).toContain(tab);
    // Office users have no command line, but they know whom to ask.
    expect(Object.values(shown).join(' ')).not.toMatch(/forms-mirror|--\w|[A-Z]{3,}_[A-Z]+ ?=/);
    const isWell = shown.state === 'ok' || shown.state === 'waiting';
    expect(shown.remedy?.includes('admin') ?? false).toBe(!isWell);
    // L17: a sheet is not written while nothing changes. Its text stays true until its own clock calls it stale.
    expect(describe(stored, recordOf, NOW + 30 * MINUTE, exact)).toEqual(shown);
  });
});

describe('200 stale forms', () => {
  const forms = Array.from({ length: 200 }, (_, at) =>
    formCopy({ id: `frm_${at}`, slug: `form-${at}`, name: `Form ${at}` }, silent(HOUR)),
  );
  const report = judge(factsOf({ content: { forms } }));

  it('are one headline and one message, with their number', () => {
    expect(report.title).toBe('200 forms: Stale');
    expect(messagesOf(report)).toEqual([
      expect.stringMatching(/^🔴 forms-mirror, 200 forms: Stale\./u),
    ]);
  });
});
