import { describe, expect, it } from 'vitest';
import { PROBLEMS, type ProblemCode } from '../../src/base/catalogue.ts';
import type { FormReport, Problem, Report } from '../../src/health/report.ts';
import { Alerts } from '../../src/notify/alerts.ts';
import type { Message } from '../../src/notify/message.ts';
import { documentPart, replaceDocumentPart, UPDATING } from '../support/readme.ts';
import { TestClock } from '../support/test-clock.ts';
import { NOW, PAUSE, failing, form, forms, problem, report, target, time } from './reports.ts';

/** The announcements, second by second, with a clock of the test. Health is read every half minute, as in `start`. */

const LOOK_S = 30;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A mirror and the receivers of one channel. */
class Life {
  readonly #clock = new TestClock();
  readonly alerts = new Alerts({}, null, this.#clock);
  readonly messages: { readonly atS: number; readonly message: Message }[] = [];
  /** Whether the channel accepts messages. */
  takes = true;

  look(atS: number, seen: Report): void {
    this.#clock.now = () => NOW + atS * 1_000;
    // Like a restart.
    const { kept } = new Alerts(JSON.parse(JSON.stringify(this.alerts.kept)), null, this.#clock);
    this.alerts.kept = kept;
    for (const { content: message, taken } of this.alerts.due(seen)) {
      if (!this.takes) continue;
      this.messages.push({ atS, message });
      taken();
    }
  }

  /** Runs through `[fromS, toS)`. */
  live(fromS: number, toS: number, seen: (atS: number) => Partial<Report>): this {
    for (let atS = fromS; atS < toS; atS += LOOK_S) this.look(atS, report(seen(atS)));
    return this;
  }

  /** `90 error FORMS_FAILED the whole mirror: The Forms API fails`. */
  get lines(): string[] {
    return this.messages.map(({ atS, message: { level, headline } }) => {
      const [code = 'ROWS_REJECTED'] =
        Object.entries(PROBLEMS).find(([, { title }]) => headline.includes(title)) ?? [];
      return `${atS} ${level} ${code} ${headline.replace('forms-mirror, ', '')}`;
    });
  }
}

/** There is a problem until `endS`; then ten minutes without one. */
const lived = (endS: number, seen: (atS: number) => Partial<Report>): string[] =>
  new Life().live(0, endS + 600, (atS) => (atS < endS ? seen(atS) : {})).lines;

const inForms = (
  count: number,
  code: ProblemCode,
  changes: Partial<Problem> = {},
  others: Partial<FormReport> = {},
): Partial<Report> => ({
  forms: forms(count, { problems: [problem(code, changes)], ...others }),
});

/** Deletions of the first `held` forms are held. */
const firstHeld = (count: number, held: number): Partial<Report> => ({
  forms: Array.from({ length: count }, (_, at) =>
    form(at, { problems: at < held ? [problem('DELETIONS_HELD')] : [] }),
  ),
});

describe('an incident', () => {
  it.each(
    Object.entries<readonly [Partial<Report>, string]>({
      'an outage lasts a minute': [failing('FORMS_FAILED'), '60 error FORMS_FAILED'],
      'it began before it was seen': [failing('FORMS_FAILED', { since: time(-70) }), '0 error'],
      'a key is refused for 20 s': [failing('FORMS_UNAUTHORIZED'), '30 error FORMS_UNAUTHORIZED'],
      'deletions are held': [inForms(1, 'DELETIONS_HELD'), '0 warning DELETIONS_HELD Form 0 → db'],
      'a run is not proven for 10 min': [inForms(1, 'RUN_INCOMPLETE'), '600 warning'],
      'a setting is wrong': [{ problems: [problem('SETTINGS')] }, '0 error SETTINGS the whole'],
      'the queue is gone': [
        {
          problems: [problem('QUEUE_FAILED')],
          queue: { ...report().queue!, isReachable: false },
        },
        '60 error QUEUE_FAILED',
      ],
    }),
  )('is announced once and resolved once: %s', (_what, [seen, first]) => {
    const [announced, resolved, ...others] = lived(1_200, () => seen);
    expect(announced).toContain(first);
    // After a minute without a problem.
    expect(resolved).toMatch(/^1260 ok .* resolved after 2[01] min \(was: /);
    expect(others).toEqual([]);
  });

  it.each<[string, (atS: number) => Partial<Report>]>([
    ['that is over within its grace', (atS) => (atS < 60 ? failing('FORMS_FAILED') : {})],
    ['of which nobody is to be notified', () => inForms(3, 'WRITE_BACK_REFUSED')],
    [
      'of forms that wait for the source',
      () => inForms(3, 'RUN_INCOMPLETE', {}, { state: 'waiting' }),
    ],
    [
      'of a form that fails for less than five minutes',
      (atS) => (atS < 300 ? inForms(1, 'FORMS_FAILED') : {}),
    ],
    ['of a paused form', () => inForms(1, 'TARGET_FAILED', {}, { pause: PAUSE })],
    ['of a form that is no longer mirrored', () => inForms(1, 'STALE', {}, { state: 'ended' })],
    [
      'of forms in a target that cannot be read',
      () => ({
        ...inForms(5, 'TARGET_FAILED'),
        targets: [target({ isReadable: false, readAt: null })],
      }),
    ],
    [
      'of a target that is paused',
      () => ({ targets: [target({ pause: PAUSE, problem: problem('TARGET_FULL') })] }),
    ],
  ])('is not announced: %s', (_what, seen) => {
    expect(lived(3_000, seen)).toEqual([]);
  });

  it('is one, with any code, as long as it may end without help; a refused key is another', () => {
    const codes = ['TARGET_UNREACHABLE', 'TARGET_FAILED'] as const;
    const one = lived(1_200, (atS) => ({
      targets: [target({ problem: problem(codes[Math.floor(atS / 600)]!) })],
    }));
    expect(one).toEqual([
      '60 error TARGET_UNREACHABLE target db: The target does not answer',
      '1260 ok TARGET_UNREACHABLE target db: resolved after 20 min (was: The target does not answer)',
    ]);
    const two = lived(1_200, (atS) => failing(atS < 600 ? 'FORMS_FAILED' : 'FORMS_UNAUTHORIZED'));
    expect(two.map((line) => line.split(' ').slice(1, 3).join(' '))).toEqual([
      'error FORMS_FAILED',
      'error FORMS_UNAUTHORIZED',
      'ok FORMS_UNAUTHORIZED',
      'ok FORMS_FAILED',
    ]);
  });

  it('is one while a server goes down and comes back repeatedly', () => {
    const away = { targets: [target({ problem: problem('TARGET_UNREACHABLE') })] };
    const lines = lived(1_800, (atS) => (atS % 90 < 60 ? away : {}));
    expect(lines.map((line) => line.split(' ')[1])).toEqual(['error', 'ok']);
  });

  it('is repeated once a day while it lasts, except that a form is gone', () => {
    expect(lived(2 * DAY + HOUR, () => failing('FORMS_FAILED'))).toEqual([
      '60 error FORMS_FAILED the whole mirror: The Forms API fails',
      `${DAY + 60} error FORMS_FAILED the whole mirror: still: The Forms API fails`,
      `${2 * DAY + 60} error FORMS_FAILED the whole mirror: still: The Forms API fails`,
      expect.stringContaining('resolved after 2 d 1 h'),
    ]);
    expect(lived(2 * DAY, () => inForms(1, 'FORM_GONE'))).toHaveLength(2);
  });

  it('leaves out failures of single forms, which have five minutes until the next run', () => {
    const down = { targets: [target({ problem: problem('TARGET_UNREACHABLE') })] };
    const left = inForms(2, 'TARGET_FAILED', { since: time(0) });
    const before = inForms(1, 'TARGET_FAILED');
    const life = new Life()
      .live(0, 60, () => before)
      .live(60, 660, () => ({ ...down, forms: forms(2, { state: 'waiting' }) }))
      .live(660, 960, () => left);
    const short = (line: string): string => line.split(' ').slice(0, 3).join(' ');
    expect(life.lines.map(short)).toEqual([
      '120 error TARGET_UNREACHABLE',
      '720 ok TARGET_UNREACHABLE',
    ]);
    life.live(960, 1_200, () => left);
    expect(life.lines.slice(2)).toEqual(['960 error TARGET_FAILED 2 forms: The target fails']);
  });

  it('is neither resolved nor repeated while its state is unknown', () => {
    const life = new Life()
      .live(0, 60, () => inForms(1, 'DELETIONS_HELD'))
      .live(60, 90, () => ({}));
    const unknown: Partial<Report>[] = [
      { targets: [target({ isReadable: false, readAt: null })], forms: [] },
      { targets: [target({ pause: PAUSE })] },
      { forms: [form(0, { pause: PAUSE })] },
      { forms: [form(0, { state: 'ended' })] },
    ];
    for (const [at, seen] of unknown.entries())
      life.live(90 + at * DAY, 400 + at * DAY, () => seen);
    expect(life.lines).toHaveLength(1);
    life.live(5 * DAY, 5 * DAY + 100, () => ({}));
    expect(life.lines[1]).toContain('ok DELETIONS_HELD Form 0 → db: resolved after 5 d');
    // After a restart the state of a source is unknown until it was asked.
    const source = { heardAt: time(-60) };
    const other = new Life()
      .live(0, 120, () => failing('FORMS_FAILED'))
      .live(120, 900, () => ({ source }));
    expect(other.lines).toHaveLength(1);
  });

  it('about a form that has left the mirror ends without a message', () => {
    const life = new Life()
      .live(0, 60, () => inForms(1, 'DELETIONS_HELD'))
      .live(60, 900, () => ({ forms: [] }));
    expect(life.lines).toHaveLength(1);
    expect(life.alerts.kept).toEqual({});
  });
});

describe('a message that was not delivered', () => {
  it('is due as long as its problem lasts, and causes no message that it is over', () => {
    const life = new Life();
    life.takes = false;
    life.live(0, 600, () => failing('FORMS_FAILED'));
    life.takes = true;
    life.live(600, 630, () => failing('FORMS_FAILED'));
    expect(life.lines).toEqual(['600 error FORMS_FAILED the whole mirror: The Forms API fails']);
    const other = new Life();
    other.takes = false;
    other.live(0, 600, () => failing('FORMS_FAILED'));
    other.takes = true;
    expect(other.live(600, 1_200, () => ({})).lines).toEqual([]);
  });
});

describe('problems of single forms', () => {
  const held = (count: number): Partial<Report> => firstHeld(12, count);

  it('are one message, after the first, with the names of some', () => {
    const life = new Life().live(0, 60, () => held(1)).live(60, 400, () => held(12));
    expect(life.lines).toEqual([
      '0 warning DELETIONS_HELD Form 0 → db: Deletions are held',
      '300 warning DELETIONS_HELD 11 forms: Deletions are held',
    ]);
    const { body } = life.messages[1]!.message;
    expect(body[0]).toMatch(/^Form 1 → db, .* Form 10 → db, …$/);
  });
});

describe('rejected submissions', () => {
  const rejected = (count: number | null): Partial<Report> => ({
    forms: [form(0, { rejected: count })],
  });

  it('are announced when they rise, once a day, and when none is left', () => {
    const life = new Life()
      .live(0, 60, () => rejected(3))
      .live(60, 120, () => rejected(5))
      .live(120, 180, () => rejected(2))
      .live(180, 240, () => rejected(null))
      .live(DAY, DAY + 60, () => rejected(4))
      .live(3 * DAY, 3 * DAY + 60, () => rejected(4))
      .live(4 * DAY, 4 * DAY + 90, () => rejected(0));
    expect(life.lines).toEqual([
      '0 warning ROWS_REJECTED Form 0 → db: Submissions were rejected',
      `${DAY} warning ROWS_REJECTED Form 0 → db: still: Submissions were rejected`,
      `${4 * DAY + 60} ok ROWS_REJECTED Form 0 → db: resolved after 4 d (was: Submissions were rejected)`,
    ]);
  });
});

/** From the first problem in a report; `until` minutes later there is none. */
const CASES: readonly (readonly [
  what: string,
  seen: (count: number, atS: number) => Partial<Report>,
])[] = [
  ['the source is down', (count) => ({ ...failing('FORMS_FAILED'), ...waiting(count) })],
  ['the key is revoked', (count) => ({ ...failing('FORMS_UNAUTHORIZED'), ...waiting(count) })],
  ['the database hangs', (count) => onTarget(count, 'TARGET_UNREACHABLE', false)],
  ['the disk of the target is full', (count) => onTarget(count, 'TARGET_FULL', true)],
  [
    'Redis is gone',
    () => ({
      problems: [problem('QUEUE_FAILED')],
      queue: { ...report().queue!, isReachable: false },
    }),
  ],
  ['the workspace was emptied: deletions of each form are held', heldOneByOne],
];

const waiting = (count: number): Partial<Report> => ({ forms: forms(count, { state: 'waiting' }) });

const onTarget = (count: number, code: ProblemCode, isReadable: boolean): Partial<Report> => ({
  targets: [target({ isReadable, problem: problem(code) })],
  ...waiting(count),
});

/** One form after another, all within a minute; the same when they are accepted. */
function heldOneByOne(count: number, atS: number): Partial<Report> {
  const shown = Math.ceil((count * Math.min(atS + LOOK_S, 2 * LOOK_S)) / (2 * LOOK_S));
  return firstHeld(count, shown);
}

const HEAD = [
  '| fault | first message, after it shows on the page | messages until it is over, 5 forms | 200 forms |',
  '|---|---|---|---|',
];

describe('with five forms and with two hundred', () => {
  const rows = CASES.map(([what, seen]) => {
    const of = (count: number): string[] =>
      lived(600, (atS) => seen(count, atS)).map((line) => line.split(' ')[0] ?? '');
    const [few, many] = [of(5), of(200)];
    return { what, few, many };
  });

  it.each(rows)('$what: one message, and one when it is over', ({ what, few, many }) => {
    const most = what.includes('each form') ? 4 : 2;
    expect(few.length).toBeGreaterThanOrEqual(2);
    expect(Math.max(few.length, many.length)).toBeLessThanOrEqual(most);
    expect(few[0]).toBe(many[0]);
  });

  it('as docs/operating.md says', () => {
    const table = [
      ...HEAD,
      ...rows.map(({ what, few, many }) => {
        const first = few[0] === '0' ? 'at once' : `${few[0]} s`;
        return `| ${what} | ${first} | ${few.length} | ${many.length} |`;
      }),
    ].join('\n');
    if (UPDATING) replaceDocumentPart('docs/operating.md', 'time-to-message', table);
    expect(documentPart('docs/operating.md', 'time-to-message')).toBe(table);
  });
});
