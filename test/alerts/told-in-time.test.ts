import type { ProblemCode } from '../../src/base/catalogue.ts';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { HEARTBEAT_MS } from '../../src/alerts/heartbeat.ts';
import { MirrorError } from '../../src/base/errors.ts';
import type { TargetOverview } from '../../src/health/facts.ts';
import { NOW, QUEUE } from '../health/fake-source.ts';
import { documentPart, replaceDocumentPart, UPDATING } from '../support/readme.ts';
import { type Fault, LivingMirror } from './living-mirror.ts';
import { startWebhook } from './webhook-stand-in.ts';

/*
 * How long after a fault the first message comes, and how many there are until it is over: the table of docs/operating.md,
 * by a mirror that lives second by second, with five forms and with two hundred.
 */

/** A fault lasts from here until there, in seconds: it begins right after health was read, and the next passes end 50 to 67 s later. */
const [BEGIN, END, LAST] = [271, 871, 1_260];
/** The next look comes within a minute; its requests to a source that is down are repeated for half a minute at most. */
const LOOK_S = 60;
const RETRIES_S = 30;

const DRIVER_LIMIT_S = 60;

const isOn = (atS: number): boolean => atS >= BEGIN && atS < END;

interface Case {
  readonly what: string;
  readonly fault: Fault;
  /** What else shows it, second by second. */
  readonly shows?: (mirror: LivingMirror) => (atS: number) => void;
  /** What to know of it. */
  readonly note: string;
}

/** Looks fail from `afterS` seconds into the fault: what they found is known once their retries are over. */
const looksFail =
  (code: ProblemCode, afterS: number) =>
  ({ source }: LivingMirror) =>
  (atS: number): void => {
    const at = new Date(NOW + atS * 1_000).toISOString();
    const problem = { code, message: 'It is down.', at };
    if (isOn(atS) && atS >= BEGIN + afterS) source.planState = { ...source.planState, problem };
    else if (!isOn(atS)) source.planState = { ...source.planState, at, problem: null };
  };

const hanging: Fault = (atS) => (isOn(atS) ? 'hangs' : null);

const CASES: readonly Case[] = [
  {
    what: 'the source is down',
    fault: hanging,
    shows: looksFail('FORMS_UNREACHABLE', LOOK_S + RETRIES_S),
    note: 'A poll within a minute, its retries, then 90 s.',
  },
  {
    what: 'the source throttles: 429, retry after a minute',
    fault: hanging,
    shows: looksFail('FORMS_FAILED', LOOK_S + 300),
    note: 'The mirror waits as asked, and reports it after five waits in a row. The page shows it at once.',
  },
  {
    what: 'the key is revoked',
    fault: hanging,
    shows: looksFail('FORMS_UNAUTHORIZED', LOOK_S),
    note: 'A poll within a minute, then 20 s.',
  },
  {
    what: 'the database hangs: connections stay open, no answers',
    fault: hanging,
    shows: ({ source }) => {
      const well = source.overviews.get('db')!;
      let hung = Promise.withResolvers<TargetOverview>();
      return (atS) => {
        // A driver gives up, too, later than whoever waits for it.
        if (atS % DRIVER_LIMIT_S === 0 || atS === END) {
          hung.promise.catch(() => undefined);
          hung.reject(new MirrorError('TARGET_UNREACHABLE', 'It did not answer.'));
          hung = Promise.withResolvers();
        }
        source.overviews.set('db', isOn(atS) ? hung.promise : well);
      };
    },
    note: 'The mirror reads it every 30 s and gives up after 20 s.',
  },
  {
    what: 'the disk of the target is full',
    fault: (atS) => (isOn(atS) ? { code: 'TARGET_FULL', retry: false } : null),
    note: 'Forms that have nothing to write do not fail.',
  },
  {
    what: 'Redis is gone',
    fault: hanging,
    shows:
      ({ source }) =>
      (atS) => {
        source.queueState = isOn(atS)
          ? { ...QUEUE, reachable: false, schedules: [], queues: [] }
          : QUEUE;
      },
    note: '',
  },
  {
    what: 'the workspace was emptied: deletions of each form are held',
    fault: (atS) =>
      isOn(atS)
        ? { pass: { kind: 'full', outcome: 'withheld', withheld: 30 } }
        : { pass: { kind: 'full' } },
    note: 'One at once, the others together every five minutes. The same when they are accepted.',
  },
];

interface Told {
  readonly firstS: number;
  readonly messages: number;
}

async function toldOf({ fault, shows }: Case, forms: number): Promise<Told> {
  await using webhook = await startWebhook();
  const mirror = await LivingMirror.open(forms, fault, webhook);
  if (shows !== undefined) mirror.onSecond = shows(mirror);
  const sent = await mirror.live(LAST);
  const firstS = Number(/at=(\d+)/.exec(sent[0] ?? '')?.[1]) - BEGIN;
  return { firstS, messages: sent.length };
}

/** Rounded up to what may be promised. */
const seconds = (s: number): string => {
  if (s <= 0) return 'at once';
  const rounded = Math.ceil(s / 10) * 10;
  return rounded < 120
    ? `${rounded} s`
    : `${Math.floor(rounded / 60)} min ${rounded % 60} s`.replace(' 0 s', '');
};

const HEAD = [
  '| fault | first message after, 5 forms | 200 forms | messages until it is over, 5 forms | 200 forms | |',
  '|---|---|---|---|---|---|',
];

const GONE =
  '| `start` is gone | when the service at `HEARTBEAT_URL` misses a call: the last one was at most 90 s earlier | the same | its own | its own | Without a heartbeat, never. |';

/** The table as it is; `row` itself while it is brought up to date. */
const inTable = (row: string): string =>
  UPDATING ? row : documentPart('docs/operating.md', 'time-to-message');

describe('people are told in time', () => {
  const rows = new Map<string, string>();

  it.each(CASES)('$what', { timeout: 300_000 }, async (one) => {
    const [few, many] = [await toldOf(one, 5), await toldOf(one, 200)];
    for (const { messages } of [few, many]) {
      // One that begins and one that ends; where forms have nothing in common two of each.
      expect(messages).toBeGreaterThanOrEqual(2);
      expect(messages).toBeLessThanOrEqual(one.what.includes('emptied') ? 6 : 2);
    }
    const told = [seconds(few.firstS), seconds(many.firstS), few.messages, many.messages];
    const row = `| ${one.what} | ${told.join(' | ')} | ${one.note} |`;
    rows.set(one.what, row);
    expect(inTable(row)).toContain(row);
  });

  it('start is gone: silence, that begins within a minute of its last heartbeat', async () => {
    await using webhook = await startWebhook();
    const beats: number[] = [];
    const monitor = createServer((_request, response) => {
      beats.push(mirror.clock.now());
      response.end('OK');
    });
    await new Promise<void>((done) => monitor.listen(0, '127.0.0.1', done));
    const { port } = monitor.address() as AddressInfo;
    const mirror = await LivingMirror.open(5, () => null, webhook, `http://127.0.0.1:${port}/`);
    await mirror.live(BEGIN);
    monitor.closeAllConnections();
    await new Promise((done) => monitor.close(done));
    expect(beats.length).toBeGreaterThanOrEqual(3);
    const sinceLastMs = NOW + BEGIN * 1_000 - beats.at(-1)!;
    // Looks come every half minute, so that one may be due a moment before the minute is over.
    expect(sinceLastMs).toBeLessThanOrEqual(HEARTBEAT_MS + 30_000);
    expect(webhook.bodies).toEqual([]);
    expect(inTable(GONE)).toContain(GONE);
  });

  it('as docs/operating.md says', () => {
    if (rows.size < CASES.length) return;
    const table = [...HEAD, ...CASES.map(({ what }) => rows.get(what) ?? ''), GONE].join('\n');
    if (UPDATING) replaceDocumentPart('docs/operating.md', 'time-to-message', table);
    expect(documentPart('docs/operating.md', 'time-to-message')).toBe(table);
  });
});
