import { describe, expect, it } from 'vitest';
import { PROBLEMS } from '../../src/base/catalogue.ts';
import { judge } from '../../src/health/judge.ts';
import {
  exceptText,
  type FormReport,
  type Problem,
  type Report,
  type ShownClaim,
  STATE_TITLES,
} from '../../src/health/report.ts';
import { settingsProblems } from '../../src/health/problem-facts.ts';
import { ago } from '../../src/base/format.ts';
import {
  agreement,
  AWAY,
  before,
  busy,
  DAY,
  factsOf,
  failed,
  fails,
  FULL,
  FORM_A,
  FORM_B,
  type FormChanges,
  formCopy,
  HOUR,
  job,
  keeping,
  kept,
  MINUTE,
  NOW,
  pause,
  planOf,
  queueAway,
  run,
  silent,
  type Situation,
  targetOf,
  UNHEARD,
  UNMATCHED,
  WRITTEN,
} from './facts.ts';

/** `FORMS_FAILED error` */
const short = ({ code, level }: Problem): string => `${code} ${level}`;
const shortOf = (problems: readonly Problem[]): string => `[${problems.map(short).join(', ')}]`;

const formOf = (report: Report, { id } = FORM_A, target = 'db'): FormReport => {
  const found = report.forms.find((one) => one.form.id === id && one.target === target);
  if (found === undefined) throw new Error(`no ${id} in ${target}`);
  return found;
};

/** `20 s, 20 s, 2 h, except for 3 held deletions`: how old submissions, statuses and answers are. */
function claimed(claim: ShownClaim): string {
  const { submissionsAsOf, statusesAsOf, answersAsOf } = claim;
  if (submissionsAsOf === null) return 'nothing';
  const times = [submissionsAsOf, statusesAsOf, answersAsOf].map((time) =>
    time === null ? 'never' : ago(time, NOW),
  );
  return times.join(', ').replaceAll(' ago', '') + exceptText(claim);
}

/**
 * `waiting: Stale [STALE error]; claims nothing`, without the parts that are the same without a problem, and without the text of
 * its first problem.
 */
function formText({ state, title, problems, claim }: FormReport): string {
  const found = problems.length === 0 ? '' : ` ${shortOf(problems)}`;
  const isPlain = title === STATE_TITLES[state] || title === problems[0]?.title;
  const claims = claimed(claim) === '20 s, 20 s, 2 h' ? '' : `; claims ${claimed(claim)}`;
  return `${state}${isPlain ? '' : `: ${title}`}${found}${claims}`;
}

/** Differences from a report without problems. */
function text({ state, title, problems, source, targets, forms }: Report): string {
  const texts = forms.map((form) => [form.form.slug, formText(form)] as const);
  const [a, b, c] = texts.map(([, said]) => said);
  const ofForms = a === b && c === undefined ? [['both', a ?? 'ok'] as const] : texts;
  return [
    state === 'ok' ? state : `${state}: ${title}`,
    ...(problems.length === 0 ? [] : [`all ${shortOf(problems)}`]),
    ...(source.heardAt === null ? ['source never heard'] : []),
    ...targets.flatMap(({ name, problem }) => (problem ? [`${name} ${shortOf([problem])}`] : [])),
    ...ofForms.filter(([, said]) => said !== 'ok').map((part) => part.join(' ')),
  ].join(' | ');
}

/** What has happened to a form, and what the report says about it if there is no other problem. */
const FORM_CASES: Readonly<Record<string, readonly [FormChanges, string]>> = {
  'nothing is wrong': [{}, 'ok'],
  'the last run failed with a code of an unknown build': [
    { runs: [run(1_000, { outcome: 'failed', code: 'NO_SUCH', error: 'odd' })] },
    'failed [INTERNAL error]',
  ],
  'runs were cut short by a stop, a pause and another process': [
    { runs: (['stopped', 'paused', 'busy'] as const).map((outcome) => run(1, { outcome })) },
    'ok',
  ],
  'a run was stopped after one that failed': [
    { runs: [run(1, { outcome: 'stopped' }), failed(2, 'TARGET_FULL')] },
    'failed [TARGET_FULL error]',
  ],
  'L8: deletions are held, though runs go well': [
    { tally: { held: 312, undecided: 1 }, runs: [run(1_000, { outcome: 'held', held: 312 })] },
    'attention [DELETIONS_HELD warning]; claims 20 s, 20 s, 2 h, except for 312 held deletions and 1 undecided',
  ],
  'L17: submissions could not be stored, or not as the source has them': [
    { tally: { rejected: 2 } },
    'ok; claims 20 s, 20 s, 2 h, except for 2 rejected',
  ],
  'L17: a run read every answer, and failed before source and copy agreed': [
    {
      ...silent(MINUTE),
      runs: [failed(1_000, 'TARGET_DENIED')],
      state: { ranges: [{ fromMs: null, toMs: null, readAtMs: NOW - 2_000, isDue: false }] },
    },
    'failed [TARGET_DENIED error]; claims 1 min, 1 min, 1 min',
  ],
  'L17: people removed rows, however well runs went': [
    { losses: ['4 rows are missing.'] },
    'failed [COPY_OUTDATED error]; claims nothing',
  ],
  'a form has been gone for more than a week': [
    { runs: [run(8 * DAY, { outcome: 'gone' })], state: { goneAtMs: NOW - 8 * DAY } },
    'ended [FORM_GONE warning]; claims nothing',
  ],
  'a form is gone whose deletions were held': [
    { tally: { held: 9 }, state: { goneAtMs: NOW - DAY }, runs: [] },
    'attention [FORM_GONE warning]; claims nothing',
  ],
  'L17: a form is stale after two missed polls and five minutes': [
    silent(8 * MINUTE),
    'failed [STALE error]; claims 8 min, 8 min, 2 h',
  ],
  'L17: a long run has just ended: it shows how the source was when it began': [
    { ...silent(3 * HOUR), runs: [run(5_000, { startedAtMs: NOW - 3 * HOUR })] },
    'ok; claims 3 h, 3 h, 3 h',
  ],
  'statuses are never counted: they are as old as the answers': [
    { state: { statusesAsOfMs: null } },
    'ok; claims 20 s, 2 h, 2 h',
  ],
  'L17: a claim is dated ahead of now': [
    silent(-50 * MINUTE),
    'waiting: Waiting for the next run; claims nothing',
  ],
  'L17: a failure is not hidden by runs that are dated ahead of now': [
    {
      ...silent(-50 * MINUTE),
      runs: [run(-50 * MINUTE), run(-49 * MINUTE), failed(MINUTE, 'TARGET_FULL')],
    },
    'failed [TARGET_FULL error]; claims nothing',
  ],
  'its last change is dated ahead of now': [
    { state: { commitUs: (NOW + HOUR) * 1_000 } },
    'attention [CLOCK warning]',
  ],
  'L17: nothing was heard since a run that proved nothing': [
    { agoMs: HOUR, runs: [run(8 * MINUTE, { outcome: 'incomplete' }), run(HOUR)] },
    'failed [STALE error, RUN_INCOMPLETE warning]; claims 1 h, 1 h, 2 h',
  ],
};
/** What has happened, and what the report says about everything and about each form with a problem. */
const CASES: Readonly<Record<string, readonly [Situation, string]>> = {
  'a copy was gone and was filled again within the week': [
    { a: { refilledAtMs: NOW - 6 * DAY }, b: { refilledAtMs: NOW - 8 * DAY } },
    'attention: 1 form: The copy was missing and had to be filled again | a attention [COPY_REFILLED warning]',
  ],
  'a form was gone before it was ever copied: it is never stale': [
    {
      content: { forms: [formCopy(FORM_B)] },
      ...keeping({ runs: [kept(DAY, { outcome: 'gone', code: 'FORM_GONE' })] }),
    },
    'attention: 1 form: Gone at the source | a attention [FORM_GONE warning]; claims nothing',
  ],
  'the source has answered a poll since': [
    {
      a: fails('FORMS_FAILED', 9_000),
      b: fails('FORMS_FAILED', 8_000),
      plan: planOf([FORM_A, FORM_B], 7_000),
    },
    'failed: 2 forms: The Forms API fails | both failed [FORMS_FAILED error]',
  ],
  'the source would not list its forms': [
    keeping({ source: { ...UNHEARD, atMs: NOW - 1 } }),
    'failed: The Forms API fails | all [FORMS_FAILED error] | both waiting: The Forms API fails',
  ],
  'another build wrote the target': [
    { a: fails('OTHER_SCHEMA') },
    'failed: Another build wrote the target | db [OTHER_SCHEMA error] | both waiting: Another build wrote the target',
  ],
  'the settings name what does not exist: announced once, not for each form that it holds up': [
    {
      plan: planOf(),
      problems: settingsProblems([UNMATCHED]),
      a: fails('SETTINGS'),
    },
    'failed: A setting is wrong | all [SETTINGS error] | a waiting: A setting is wrong | b waiting: A setting is wrong | new waiting: A setting is wrong; claims nothing',
  ],
  'failures cannot be kept: the forms are well': [
    { problems: [FULL] },
    'failed: Failures cannot be recorded | all [DATA_DIR error]',
  ],
  'forms are stale as the queue is away': [
    { a: silent(HOUR), ...queueAway(NOW - HOUR) },
    'failed: The queue does not work | all [QUEUE_FAILED error] | a waiting: The queue does not work; claims 1 h, 1 h, 2 h | b waiting: The queue does not work',
  ],
  'the schedule has a night without runs': [
    { a: silent(20 * HOUR), nextPollMs: (ms) => ms + 12 * HOUR },
    'ok | a ok; claims 20 h, 20 h, 20 h',
  ],
  'an old form is being copied': [
    { a: silent(HOUR), queue: busy(job()) },
    'working: 1 form: A run is in progress | a working; claims 1 h, 1 h, 2 h',
  ],
  'L17: a poll has agreed since, of one form, on statuses too': [
    {
      a: silent(2 * HOUR),
      content: { agreements: [agreement(5_000)] },
    },
    'ok | a ok; claims 5 s, 5 s, 2 h',
  ],
  'L17: a poll has agreed on numbers only, and not of the other form': [
    {
      a: silent(HOUR),
      b: silent(HOUR),
      content: { agreements: [{ ...agreement(5_000), statusesAtMs: null }] },
    },
    'failed: 1 form: Stale | a ok; claims 5 s, 1 h, 2 h | b failed [STALE error]; claims 1 h, 1 h, 2 h',
  ],
  'L17: the last poll has found a form changed, which waits for its run': [
    {
      a: silent(2 * HOUR),
      content: {
        agreements: [{ ...agreement(5_000), formIds: [] }, agreement(MINUTE)],
      },
    },
    'ok | a ok; claims 1 min, 1 min, 2 h',
  ],
  'L17: settings changed since a poll agreed, so nothing is claimed, and nothing is stale': [
    {
      a: { ...silent(2 * HOUR), losses: ['Other fields are selected.'] },
      content: { agreements: [agreement(5_000)] },
    },
    'failed: 1 form: The copy must be read again | a failed [COPY_OUTDATED error]; claims nothing',
  ],
  'L17: a poll under the right clock dates the claim of the forms that it speaks for': [
    {
      a: silent(-50 * MINUTE),
      b: silent(-50 * MINUTE),
      content: { agreements: [agreement(MINUTE)] },
    },
    'waiting: 2 forms: Waiting for the next run | both waiting: Waiting for the next run; claims nothing',
  ],
  'L17: an agreement and a plan that are dated ahead of now show no answer of the source': [
    {
      a: fails('FORMS_FAILED', 9_000),
      b: fails('FORMS_FAILED', 8_000),
      plan: planOf([FORM_A, FORM_B], -HOUR),
    },
    'failed: The Forms API fails | all [FORMS_FAILED error] | both waiting: The Forms API fails',
  ],
  'L17: an agreement that is dated ahead of now takes nothing from what runs have proven': [
    { content: { agreements: [agreement(-HOUR)] } },
    'ok',
  ],
  'L17: a planned form was never copied': [
    { plan: planOf() },
    'waiting: 1 form: Waiting for the first run | new waiting: Waiting for the first run; claims nothing',
  ],
  'L17: a planned form was never copied for an hour': [
    {
      plan: planOf([FORM_A, FORM_B], 1_000, HOUR),
      content: { forms: [formCopy(FORM_B)] },
    },
    'failed: 1 form: Stale | a failed [STALE error]; claims nothing',
  ],
  'a first copy has to wait for that of another form': [
    {
      plan: planOf([FORM_A, FORM_B], 1_000, HOUR),
      content: { forms: [formCopy(FORM_B)] },
      queue: busy(job({ formId: 'frm_b' })),
    },
    'waiting: 1 form: Waiting for the first run | a waiting: Waiting for the first run; claims nothing | b working',
  ],
  'the newest plan no longer has a form': [
    { plan: planOf([FORM_B], 10_000) },
    'ok | a ended: No longer selected',
  ],
  'a form failed before it was deselected, and was never copied': [
    {
      plan: planOf([FORM_B]),
      content: { forms: [formCopy(FORM_B)] },
      ...keeping({ runs: [kept(HOUR)] }),
    },
    'ok',
  ],
  'all forms have ended': [
    { isChosen: () => false },
    'ended: Nothing is mirrored any more | both ended: No longer selected',
  ],
  'L17: the target is empty, and a form was gone long before': [
    {
      plan: null,
      content: { forms: [] },
      ...keeping({ runs: [kept(8 * DAY, { outcome: 'gone', code: 'FORM_GONE' })] }),
    },
    'waiting: The targets hold no copy',
  ],
  'L17: what was copied is not known': [
    { read: { value: null, readAtMs: 0 } },
    'waiting: The mirrored forms are not known | source never heard',
  ],
  'a target is paused: nothing of it is stale, nor a failure of the target from before': [
    {
      a: { runs: [failed(3 * DAY, 'TARGET_FULL')], ...silent(3 * DAY) },
      b: { runs: [failed(3 * DAY, 'TARGET_FULL')], ...silent(3 * DAY) },
      content: { pauses: [pause(null)] },
    },
    'paused: 2 forms: Paused | source never heard | both paused [TARGET_FULL error]; claims 3 d, 3 d, 3 d',
  ],
  'a form was paused before its first run': [
    { content: { forms: [formCopy(FORM_B)], pauses: [pause('frm_a')] } },
    'paused: 1 form: Paused | frm_a paused; claims nothing',
  ],
};

const HELD = { outcome: 'held', held: 9 } as const;

describe('the judge', () => {
  it.each(Object.entries(FORM_CASES))('about one form: %s', (_name, [a, expected]) => {
    const report = judge(factsOf({ a }));
    const form = formOf(report);
    expect(formText(form)).toBe(expected);
    // There is no other problem, and the mirror is no better than its form.
    const { state } = form;
    expect(report).toMatchObject({ problems: [], targets: [{ problem: null }] });
    expect(formText(formOf(report, FORM_B))).toBe('ok');
    expect(report.state).toBe(state === 'ended' ? 'ok' : state);
  });

  it.each(Object.entries(CASES))('%s', (_name, [situation, expected]) => {
    expect(text(judge(factsOf(situation)))).toBe(expected);
  });

  it('says as of when everything is healthy', () => {
    expect(judge(factsOf())).toMatchObject({
      title: 'Up to date: submissions and statuses as of 20 s ago, answers as of 2 h ago',
      summary: '2 forms in 1 target · 200 submissions',
      source: { heardAt: before(20_000) },
    });
  });

  it.each<[FormChanges, Partial<Problem>]>([
    [
      { runs: [failed(1_000, 'TARGET_FULL', 'No room.'), failed(HOUR, 'TARGET_FULL'), run(DAY)] },
      {
        title: PROBLEMS.TARGET_FULL.title,
        message: 'No room.',
        remedy: PROBLEMS.TARGET_FULL.remedy,
        since: before(HOUR),
      },
    ],
    [
      // L8: the command accepts only the deletions of this form in this target.
      { tally: { held: 9 }, runs: [run(1, HELD), run(HOUR, HELD), run(DAY)] },
      {
        message: expect.stringMatching(/^9 rows are missing .* not marked deleted\.$/),
        remedy: expect.stringMatching(/on purpose, accept them:$/),
        command: 'forms-mirror sync --full --accept-deletes --form a --target db',
        since: before(HOUR),
      },
    ],
    [
      { writeBack: { ...WRITTEN, code: 'FORMS_REFUSED', error: 'refused (405)' } },
      {
        title: 'Status changes failed',
        message: 'refused (405)',
        remedy: expect.stringContaining('MARK_STATUS'),
        since: before(HOUR),
      },
    ],
    [
      {
        state: { goneAtMs: NOW - DAY },
        runs: [run(DAY, { outcome: 'gone', error: 'It answers 404.' })],
      },
      { message: 'It answers 404.', since: before(DAY) },
    ],
    [
      { state: { goneAtMs: NOW - DAY } },
      { message: 'The form "Form A" (frm_a) answers 404 or 410. Rows that were copied stay.' },
    ],
  ])('says what happened, since when, and what to do: %#', (a, expected) => {
    expect(formOf(judge(factsOf({ a }))).problems).toMatchObject([expected]);
  });

  it('L17: reports refused status changes only as long as the target lists some', () => {
    const ofStatuses = (refused: number) =>
      formOf(judge(factsOf({ a: { writeBack: WRITTEN, tally: { refused } } }))).problems;
    expect(ofStatuses(1)).toMatchObject([
      { code: 'WRITE_BACK_REFUSED', message: expect.stringContaining('1 submission could') },
    ]);
    // The submission changed, or was forgotten, and no write-back was needed since then.
    expect(ofStatuses(0)).toEqual([]);
  });

  it('says once what concerns all forms', () => {
    const runs = [failed(8_000, 'FORMS_FAILED', 'is 502'), failed(HOUR, 'FORMS_FAILED')];
    const problem = { message: 'is 502', since: before(HOUR) };
    const report = judge(factsOf({ a: fails('FORMS_FAILED', 9_000), b: { runs } }));
    expect(report.problems).toMatchObject([problem]);
  });

  it('puts errors before warnings', () => {
    const a = { ...fails('TARGET_FULL'), tally: { held: 9, refused: 1 }, writeBack: WRITTEN };
    const report = judge(factsOf({ a, problems: [FULL] }));
    expect(formOf(report).problems.map(({ level }) => level)).toEqual([
      'error',
      'warning',
      'warning',
    ]);
  });

  it('has numbers, times and places of each form', () => {
    const rows = { NEW: 60, DONE: 40 };
    const a = {
      tally: { rows, deleted: 3, rejected: 2, undecided: 1, forgotten: 4, refused: 5 },
      writeBack: WRITTEN,
    };
    expect(formOf(judge(factsOf({ a, queue: busy(job()) })))).toMatchObject({
      rows: 100,
      deletedRows: 3,
      rejected: 2,
      forgotten: 4,
      refused: 5,
      running: { startedAt: before(30_000), seen: 5, total: 9 },
      lastRun: { outcome: 'ok', startedAt: before(20_800), endedAt: before(20_000), code: null },
      location: 'table a',
      table: 'a',
      url: null,
    });
    expect(formOf(judge(factsOf({ a: { state: { goneAtMs: NOW } } }))).goneAt).toBe(before(0));
  });

  it.each<[string, Situation, boolean]>([
    ['nothing is wrong', {}, true],
    ['one form is stale', { a: silent(HOUR) }, false],
    ['one form was never copied', { plan: planOf() }, false],
    ['a first copy runs', { plan: planOf(), queue: busy(job({ formId: 'frm_new' })) }, false],
    ['a later run of a form runs', { queue: busy(job()) }, true],
    ['no run is proven', { a: { runs: [run(MINUTE, { outcome: 'incomplete' })] } }, false],
    ['deletions are held', { a: { tally: { held: 60 } } }, false],
    ['one form is paused', { content: { pauses: [pause('frm_a')] } }, false],
    ['one form is gone', { a: { state: { goneAtMs: NOW - DAY } } }, false],
    ['one form is gone for long', { a: { state: { goneAtMs: NOW - 8 * DAY } } }, true],
    ['nothing was copied', { content: { forms: [] } }, false],
    ['nothing is chosen any more', { isChosen: () => false }, false],
  ])('L17: says whether every form is up to date: %s', (_name, situation, expected) => {
    expect(judge(factsOf(situation)).state === 'ok').toBe(expected);
  });

  it('L17: gives no numbers for a form in a target that was never read, and 0 for one that is empty', () => {
    const some = keeping({ runs: [kept(1_000)] });
    const never = judge(factsOf({ ...some, read: { value: null, readAtMs: 0, problem: AWAY } }));
    const numbers = (n: number | null) => {
      return { rows: n, deletedRows: n, rejected: n, forgotten: n, refused: n };
    };
    expect(formOf(never)).toMatchObject({ state: 'waiting', ...numbers(null) });
    expect(never.targets[0]).toMatchObject({ isReadable: false, readAt: null });
    expect(never.summary).toBe('1 form in 1 target · submissions unknown');
    const unheard = judge(factsOf({ read: { value: null, readAtMs: 0, problem: AWAY } }));
    expect(unheard.summary).toBe('1 target · forms unknown');
    expect(formOf(judge(factsOf({ ...some, content: { forms: [] } })))).toMatchObject(numbers(0));
  });

  it('L12: blames only the target that fails, and counts submissions once', () => {
    const targets = [targetOf(), targetOf({}, { name: 'sheet', problem: AWAY })];
    const report = judge(factsOf({ targets }));
    expect(report.targets).toMatchObject([
      { name: 'db', state: 'ok', isReadable: true, readAt: before(0), problem: null },
      { name: 'sheet', state: 'failed', isReadable: false },
    ]);
    expect(formOf(report).state).toBe('ok');
    expect(formOf(report, FORM_A, 'sheet').state).toBe('waiting');
    expect(report.title).toBe('sheet: The target does not answer');
    expect(report.summary).toMatch(/^2 forms in 2 targets · 200 submissions/);
  });

  it('says who paused a form, and how to resume', () => {
    const one = judge(factsOf({ content: { pauses: [pause('frm_a', null)] } }));
    const said = { since: before(HOUR), by: 'command line, ann@ops-1', reason: null };
    const command = 'forms-mirror resume --form a --target db';
    expect(formOf(one).pause).toEqual({ ...said, formId: 'frm_a', command });
    const whole = judge(factsOf({ content: { pauses: [pause(null)] } }));
    const ofTarget = { formId: null, command: 'forms-mirror resume --target db' };
    expect([whole.targets[0]?.pause, formOf(whole).pause]).toMatchObject([ofTarget, ofTarget]);
    const empty = judge(factsOf({ content: { forms: [], pauses: [pause(null)] } }));
    expect(empty.targets[0]?.state).toBe('paused');
  });
});
