import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { type HealthSources, Watch } from '../../src/health/collect.ts';
import { type TargetContent, readTarget } from '../../src/health/facts.ts';
import type { QueueState, Report } from '../../src/health/report.ts';
import { parseSelection, storedUnder } from '../../src/mirror/selection.ts';
import type { StoredForm } from '../../src/mirror/port.ts';
import type { Target } from '../../src/sync/target.ts';
import { factsOf, FORM_A, formCopy, HOUR, MINUTE, NOW, QUEUE, targetOf } from './facts.ts';
import { settle, VirtualClock } from '../support/virtual-clock.ts';

const { plan, kept, isChosen, nextPollMs } = factsOf();
const FILES = { kept, problem: null };
type Writable<T> = { -readonly [key in keyof T]: T[key] };
const away = { code: 'QUEUE_FAILED', message: 'The queue does not answer.', sinceMs: NOW } as const;
const AWAY = { ...QUEUE, isReachable: false, problem: away };

/** A watch of the targets `db` and `sheet`. Its readings can be changed at any time, and are counted. */
function watching() {
  const [clock, reads] = [new VirtualClock(NOW), { db: 0, sheet: 0, queue: 0 }];
  const read = {
    db: async (): Promise<TargetContent> => targetOf().value!,
    sheet: async (): Promise<TargetContent> => ({ ...targetOf().value!, forms: [] }),
    queue: async (): Promise<QueueState> => QUEUE,
  };
  const counted = <T>(name: keyof typeof read, answer: Promise<T>): Promise<T> => {
    reads[name]++;
    return answer;
  };
  const sources: Writable<HealthSources> = {
    clock,
    logger: silentLogger,
    version: '1',
    targets: ['db', 'sheet'].map((name) => {
      return { name, kind: '', address: '', restMs: name === 'sheet' ? MINUTE : 0 };
    }),
    isChosen,
    nextPollMs,
    readTarget: (name) => {
      const target = name === 'db' ? 'db' : 'sheet';
      return counted(target, read[target]());
    },
    queue: () => counted('queue', read.queue()),
    plan: () => plan,
    files: async () => FILES,
  };
  const watch = new Watch(sources);
  const seen: Report[] = [];
  const onReport = (report: Report): void => void seen.push(report);
  return {
    clock,
    reads,
    read,
    sources,
    watch,
    seen,
    onReport,
    last: () => seen.at(-1)!,
    /** Time passes, second by second. */
    async wait(ms: number) {
      for (let at = 0; at < ms; at += 1_000) await clock.advance(1_000);
    },
    [Symbol.asyncDispose]: () => watch.stop(),
  };
}

const problemsOf = ({ targets }: Report): (string | undefined)[] =>
  targets.map(({ problem }) => problem?.code);

describe('a watch', () => {
  it('reads at intervals, a metered target less often', async () => {
    await using at = watching();
    expect(at.watch.hasRead).toBe(false);
    at.watch.start(at.onReport);
    await settle();
    expect([at.watch.hasRead, at.last().state, at.reads.db]).toEqual([true, 'ok', 1]);
    await at.wait(2 * MINUTE);
    expect(at.reads.db).toBe(5);
    const source = { code: 'FORMS_FAILED', message: 'x', sinceMs: 0, atMs: NOW + HOUR } as const;
    at.sources.files = async () => ({ ...FILES, kept: { ...kept, source } });
    await at.wait(2 * MINUTE);
    expect(at.last()).toMatchObject({ state: 'failed', problems: [{ code: 'FORMS_FAILED' }] });
    expect([at.reads.db, at.reads.sheet]).toEqual([9, 5]);
  });

  it('L12: gives up a target that hangs after 20 s, delays no other, and keeps its last reading', async () => {
    await using at = watching();
    at.watch.start(at.onReport);
    await settle();
    const late = Promise.withResolvers<TargetContent>();
    at.read.db = () => late.promise;
    await at.clock.advance(3_000);
    const asked = at.watch.refresh();
    await at.clock.advance(2_500);
    expect(problemsOf(await asked)).toEqual([undefined, undefined]);
    await at.wait(MINUTE);
    expect(at.last().targets).toMatchObject([
      {
        isReadable: false,
        readAt: new Date(NOW).toISOString(),
        problem: {
          code: 'TARGET_UNREACHABLE',
          message: expect.stringMatching(/^Target db takes longer than 20 s .* locked\.$/),
          since: new Date(NOW + 3_000).toISOString(),
        },
      },
      { isReadable: true, problem: null },
    ]);
    expect(at.last().forms.map(({ rows, state }) => [rows, state])).toEqual([
      [100, 'waiting'],
      [100, 'waiting'],
    ]);
    // It was asked once, and its late answer is used.
    expect(at.reads.db).toBe(2);
    late.resolve({ ...targetOf().value!, forms: [formCopy(FORM_A, { tally: { deleted: 7 } })] });
    await at.wait(MINUTE);
    expect(at.last().forms).toMatchObject([{ deletedRows: 7 }]);
    expect(problemsOf(at.last())).toEqual([undefined, undefined]);
  });

  it('spends a small part of the time on a costly reading', async () => {
    await using at = watching();
    at.read.db = async () => {
      await at.clock.sleep(1_500);
      return targetOf().value!;
    };
    for (let second = 0; second < 120; second++) {
      void at.watch.refresh();
      await at.clock.advance(1_000);
    }
    expect(at.reads.db).toBeLessThanOrEqual(5);
  });

  it("reads at once after a person's action, also from a sheet", async () => {
    await using at = watching();
    await at.watch.once();
    await at.watch.refresh();
    expect(at.reads).toMatchObject({ db: 1, sheet: 1 });
    at.watch.expire();
    await at.watch.refresh();
    expect(at.reads).toMatchObject({ db: 2, sheet: 2 });
  });

  it('shows a queue that does not answer until it answers', async () => {
    await using at = watching();
    at.read.queue = async () => AWAY;
    expect((await at.watch.once()).problems).toMatchObject([{ code: 'QUEUE_FAILED' }]);
    at.read.queue = async () => QUEUE;
    expect((await at.watch.once()).problems).toEqual([]);
  });

  it('L17: does not treat old readings as current when the clock was set back', async () => {
    await using at = watching();
    await at.watch.once();
    await at.clock.advance(-HOUR);
    await at.watch.refresh();
    expect(at.reads).toEqual({ db: 2, sheet: 2, queue: 2 });
  });

  it('L11, L15: shows only code and message of an error', async () => {
    await using at = watching();
    const cause = new Error('secret answer');
    at.read.db = () => Promise.reject(new MirrorError('TARGET_FAILED', 'broke', { cause }));
    at.read.sheet = () => Promise.reject(cause);
    const report = await at.watch.once();
    expect(problemsOf(report)).toEqual(['TARGET_FAILED', 'INTERNAL']);
    expect(JSON.stringify(report)).not.toContain('secret');
  });
});

describe('what a target holds', () => {
  const hashKey = 'hJ2mQ9xT4bN7vK1wR8cF5yL0pZ3sD6gA';
  const under = (hashed: string[]) => ({ selection: parseSelection(['*'], hashed), hashKey });
  const field = { id: 'mail', label: 'Mail', position: 0, column: 'mail' };
  const fields = [{ ...field, isFilled: true, isInForm: true }];
  const unexpected = (): never => expect.fail('A form was opened.');
  /** A target with one form whose rows were stored in plain text. */
  const copyIn = (state: Partial<StoredForm['state']> = {}) => {
    const storedPlain = storedUnder(under([]), FORM_A);
    const stored = formCopy(FORM_A, { fields, state: { storedUnder: storedPlain, ...state } });
    const store = { forms: async () => [stored], record: async () => null, open: unexpected };
    const target = { name: 'db', kind: 'sqlite', address: 'a.sqlite', store };
    return (hashed: string[], isStillChosen = true) => {
      const settings = { joining: under(hashed), isChosen: () => isStillChosen };
      const refills = new Map([[FORM_A.id, 8]]);
      return readTarget({ ...target, ...settings } as unknown as Target, false, refills);
    };
  };

  it('is read as a whole: no form is opened for its runs', async () => {
    const [form] = (await copyIn()([])).forms;
    expect(form?.runs).toHaveLength(1);
  });

  it('L17: has other settings if a field is hashed now; a form that is gone is unchanged', async () => {
    const [form] = (await copyIn()(['mail'])).forms;
    const losses = [expect.stringMatching(/^The selected or hashed fields have changed/)];
    expect(form).toMatchObject({ losses, refilledAtMs: 8, notices: [] });
    expect((await copyIn()([])).forms).toMatchObject([{ losses: [] }]);
    const gone = await copyIn({ goneAtMs: NOW })(['mail']);
    const notices = [{ code: 'UNSELECTED_ANSWERS' }];
    expect(gone.forms).toMatchObject([{ losses: [], notices }]);
  });
});
