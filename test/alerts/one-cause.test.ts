import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { NOW, QUEUE } from '../health/fake-source.ts';
import { type Fault, LivingMirror } from './living-mirror.ts';
import { startWebhook } from './webhook-stand-in.ts';

/** Lives through a fault from second 60 on, and returns what came to the webhook. */
async function alertsOf(
  forms: number,
  fault: Fault,
  seconds: number,
  prepare: (mirror: LivingMirror) => void = () => {},
): Promise<string[]> {
  await using webhook = await startWebhook();
  const mirror = await LivingMirror.open(forms, fault, webhook);
  prepare(mirror);
  return await mirror.live(seconds);
}

const between = (from: number, to: number, at: number): boolean => at >= from && at < to;
const at = (line: string | undefined): number => Number(/at=(\d+)/.exec(line ?? '')?.[1]);
const kind = (line: string): string => line.replace(/ forms=.*/, '');

// A fault begins at second 320: within seconds each form has a pass.
const BEGIN = 320;

describe('one cause is one notification, and one when it is over', () => {
  it('a half-open database and five forms: some connections work, some hang, some are cut', async () => {
    const fault: Fault = (atS, form) => {
      if (!between(BEGIN, 950, atS)) return null;
      if ((3 * form + atS) % 9 === 0) return null;
      return { code: form % 2 === 0 ? 'TARGET_UNREACHABLE' : 'TARGET_FAILED', retry: true };
    };
    const sent = await alertsOf(5, fault, 1_800);
    expect(sent.map(kind)).toEqual([
      expect.stringMatching(/^error TARGET_(UNREACHABLE|FAILED) \* db$/),
      expect.stringMatching(/^ok TARGET_(UNREACHABLE|FAILED) \* db$/),
    ]);
    expect(sent[0]).toMatch(/forms=[2-5] /);
    expect(at(sent[0]) - BEGIN).toBeLessThanOrEqual(130);
    expect(at(sent[1])).toBeGreaterThan(950);
  });

  it('a blip of two seconds: none', async () => {
    const fault: Fault = (atS) =>
      between(BEGIN, BEGIN + 2, atS) ? { code: 'TARGET_UNREACHABLE', retry: true } : null;
    const blip = (mirror: LivingMirror): void => {
      const overview = mirror.source.overviews.get('db')!;
      mirror.onSecond = (atS) => {
        const isAway = between(BEGIN, BEGIN + 2, atS);
        const away = new MirrorError('TARGET_UNREACHABLE', 'away');
        mirror.source.overviews.set('db', isAway ? away : overview);
      };
    };
    expect(await alertsOf(5, fault, 900, blip)).toEqual([]);
  });

  it('a source that is down, 200 forms', async () => {
    const isDown = (atS: number): boolean => between(BEGIN, BEGIN + 600, atS);
    const codes = ['FORMS_UNREACHABLE', 'FORMS_FAILED', 'FORMS_FAILED'] as const;
    const fault: Fault = (atS, form) =>
      isDown(atS) ? { code: codes[form % 3]!, retry: true } : null;
    const sent = await alertsOf(200, fault, 1_500, (mirror) => {
      mirror.onSecond = (atS) => {
        const now = new Date(NOW + atS * 1_000).toISOString();
        const problem = { code: 'FORMS_UNREACHABLE' as const, message: 'It is down.', at: now };
        const { planState } = mirror.source;
        if (atS % 300 === 20) {
          mirror.source.planState = isDown(atS)
            ? { ...planState, problem }
            : { ...planState, at: now, problem: null };
        }
      };
    });
    expect(sent.map(kind)).toEqual([
      expect.stringMatching(/^error FORMS_\w+ \* \*$/),
      expect.stringMatching(/^ok FORMS_\w+ \* \*$/),
    ]);
    expect(sent[0]).toContain('forms=200 ');
    expect(at(sent[0]) - BEGIN).toBeLessThanOrEqual(100);
  });

  it('a revoked key: soon', async () => {
    const fault: Fault = (atS) =>
      between(BEGIN, BEGIN + 400, atS) ? { code: 'FORMS_UNAUTHORIZED', retry: false } : null;
    const sent = await alertsOf(5, fault, 1_200);
    expect(sent.map(kind)).toEqual(['error FORMS_UNAUTHORIZED * *', 'ok FORMS_UNAUTHORIZED * *']);
    expect(at(sent[0]) - BEGIN).toBeLessThanOrEqual(60);
  });

  it('one form that fails alone', async () => {
    const fault: Fault = (atS, form) =>
      form === 2 && between(BEGIN, BEGIN + 600, atS)
        ? { code: 'TARGET_FAILED', retry: true }
        : null;
    const sent = await alertsOf(5, fault, 1_800);
    expect(sent.map(kind)).toEqual(['error TARGET_FAILED frm_2 db', 'ok TARGET_FAILED frm_2 db']);
    expect(at(sent[0]) - BEGIN).toBeLessThanOrEqual(120);
  });

  it('a database that comes and goes', async () => {
    const isAway = (atS: number): boolean => between(BEGIN, 1_520, atS) && atS % 60 < 40;
    const fault: Fault = (atS) =>
      isAway(atS) ? { code: 'TARGET_UNREACHABLE', retry: true } : null;
    const sent = await alertsOf(5, fault, 2_400, (mirror) => {
      const overview = mirror.source.overviews.get('db')!;
      const away = new MirrorError('TARGET_UNREACHABLE', 'away');
      mirror.onSecond = (atS) => mirror.source.overviews.set('db', isAway(atS) ? away : overview);
    });
    expect(sent.map(kind)).toEqual(['error TARGET_UNREACHABLE * db', 'ok TARGET_UNREACHABLE * db']);
    expect(at(sent[1])).toBeGreaterThan(1_520);
  });

  it.each([
    [34, []],
    [300, ['error QUEUE_FAILED * *', 'ok QUEUE_FAILED * *']],
  ])('a queue that is away for %i s', async (lasts, expected) => {
    const sent = await alertsOf(
      2,
      () => null,
      900,
      (mirror) => {
        mirror.onSecond = (atS) => {
          const isAway = between(BEGIN, BEGIN + lasts, atS);
          mirror.source.queueState = isAway
            ? { ...QUEUE, reachable: false, schedules: [], queues: [] }
            : QUEUE;
        };
      },
    );
    expect(sent.map(kind)).toEqual(expected);
    for (const line of sent.slice(0, 1)) expect(at(line) - BEGIN).toBeLessThanOrEqual(130);
  });
});
