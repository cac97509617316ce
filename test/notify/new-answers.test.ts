import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { DataDir } from '../../src/health/data-dir.ts';
import { type FormReport, NO_CLAIM } from '../../src/health/report.ts';
import { openNotifier } from '../../src/notify/notifier.ts';
import { scratchFolder } from '../support/scratch.ts';
import { TestClock } from '../support/test-clock.ts';
import { NOW, form, report, target, time } from './reports.ts';
import type { PostedMessage } from './webhook-receiver.ts';

const SHEET = 'https://docs.google.com/spreadsheets/d/x#gid=1';

const newDataDir = (): DataDir => new DataDir(scratchFolder('notify'));

/** A mirror of one form in a sheet, and a team that gets messages about new answers. */
async function open() {
  const dataDir = newDataDir();
  const posts: PostedMessage[] = [];
  let isLost = false;
  const fetch = (_url: URL, { body }: { body: string }): Promise<Response> => {
    posts.push(JSON.parse(body) as PostedMessage);
    return isLost ? Promise.reject(new TypeError('fetch failed')) : Promise.resolve(new Response());
  };
  const rows: number[] = [-100, -50];
  let [atS, runAtS, counted] = [0, 0, 0];
  const clock = new TestClock();
  clock.now = () => NOW + atS * 1_000;
  const start = () =>
    openNotifier({
      receivers: { NOTIFY_NEW_URL: new URL('https://hooks.example.com/new') },
      fetch: fetch as unknown as typeof globalThis.fetch,
      dataDir,
      clock,
      logger: silentLogger,
      newAnswers: (_target, _form, { fromMs, toMs }) => {
        counted++;
        const newer = rows.map((s) => NOW + s * 1_000).filter((ms) => ms >= fromMs && ms < toMs);
        const newestMs = newer.length === 0 ? null : Math.max(...newer);
        return Promise.resolve({ count: newer.length, newestMs });
      },
    });
  const mirror = {
    posts,
    /** From now on the responses to posts are lost, or not. */
    loseResponses: (now: boolean): void => void (isLost = now),
    rows,
    notifier: await start(),
    get counted() {
      return counted;
    },
    /** A run that ends `s` seconds after the beginning and has stored rows created at those times. */
    run(s: number, ...created: number[]): void {
      rows.push(...created);
      [atS, runAtS] = [s, s];
    },
    async look(s = atS, changes: Partial<FormReport> = {}): Promise<void> {
      atS = s;
      const lastRun = { ...form(0).lastRun!, endedAt: time(runAtS) };
      const claim = { ...NO_CLAIM, submissionsAsOf: time(runAtS) };
      const shown = form(0, { url: SHEET, rows: rows.length, lastRun, claim, ...changes });
      await mirror.notifier.look(report({ forms: [shown] }));
    },
    async restart(): Promise<void> {
      await mirror.notifier.stop();
      mirror.notifier = await start();
    },
    get texts() {
      return posts.map(({ text }) => text);
    },
  };
  onTestFinished(() => mirror.notifier.stop());
  return mirror;
}

describe('new answers', () => {
  it('are one message per form, three minutes after the first, with a link and without an answer', async () => {
    const mirror = await open();
    await mirror.look();
    mirror.run(60, 50, 55);
    await mirror.look();
    mirror.run(120, 110);
    await mirror.look();
    await mirror.look(239);
    expect(mirror.texts).toEqual([]);
    await mirror.look(240);
    expect(mirror.posts).toEqual([{ text: `🔵 3 new answers to Form 0. ${SHEET}` }]);
    await mirror.look(600);
    expect(mirror.texts).toHaveLength(1);
    mirror.run(700, 650);
    await mirror.look(700, { url: null });
    await mirror.look(900, { url: null });
    expect(mirror.texts[1]).toBe('🔵 1 new answer to Form 0. The table is form_0, in target db.');
  });

  it('are not announced for a first copy, nor if they were restored or have an earlier date', async () => {
    const mirror = await open();
    for (const s of [0, 60, 120]) {
      mirror.run(s, s, s - 1);
      await mirror.look(s, { claim: NO_CLAIM });
    }
    await mirror.look(180);
    mirror.run(200, -1_000, 30);
    await mirror.look(200);
    await mirror.look(900);
    expect(mirror.texts).toEqual([]);
  });

  it('dated in the future are never announced, and hide no others', async () => {
    const mirror = await open();
    mirror.rows.push(10 * 365 * 86_400);
    await mirror.look();
    mirror.run(60, 50);
    await mirror.look();
    await mirror.look(240);
    expect(mirror.texts).toEqual([`🔵 1 new answer to Form 0. ${SHEET}`]);
    mirror.run(300);
    await mirror.look();
    await mirror.look(600);
    expect(mirror.texts).toHaveLength(1);
  });

  it('of a form that was empty are announced from the first on', async () => {
    const mirror = await open();
    mirror.rows.length = 0;
    await mirror.look();
    mirror.run(60, 50);
    await mirror.look();
    await mirror.look(240);
    expect(mirror.texts).toHaveLength(1);
  });

  it('are announced once across a restart; after a crash they may be announced twice, but not never', async () => {
    const mirror = await open();
    await mirror.look();
    mirror.run(60, 50);
    await mirror.look();
    await mirror.restart();
    await mirror.look(70);
    await mirror.look(250);
    expect(mirror.texts).toHaveLength(1);
    await mirror.restart();
    await mirror.look(260);
    await mirror.look(600);
    expect(mirror.texts).toHaveLength(1);
    // The message was delivered, but the response and the process are lost.
    mirror.run(700, 650);
    mirror.loseResponses(true);
    await mirror.look(700);
    await mirror.look(900);
    mirror.loseResponses(false);
    await mirror.restart();
    await mirror.look(910);
    await mirror.look(1_100);
    expect(new Set(mirror.texts.slice(1))).toEqual(new Set([mirror.texts[1]]));
    const delivered = mirror.texts.length;
    await mirror.look(2_000);
    expect(mirror.texts).toHaveLength(delivered);
  });

  it('come from the first target that has the form, and are not announced while it cannot be read', async () => {
    const asked: string[] = [];
    const notifier = await openNotifier({
      receivers: { NOTIFY_NEW_URL: new URL('https://hooks.example.com/new') },
      dataDir: newDataDir(),
      clock: new TestClock(NOW),
      logger: silentLogger,
      newAnswers: (name) => {
        asked.push(name);
        if (name === 'sheet') return Promise.reject(new Error('away'));
        return Promise.resolve({ count: 0, newestMs: NOW });
      },
    });
    const targets = [target({ name: 'sheet' }), target({ name: 'db' })];
    const two = [form(0, { target: 'sheet' }), form(0), form(1)];
    const look = (changes = {}) => notifier.look(report({ targets, forms: two, ...changes }));
    await look({ targets: [target({ name: 'sheet', isReadable: false, readAt: null }), target()] });
    expect(asked).toEqual(['db']);
    await look();
    expect(asked).toEqual(['db', 'sheet']);
    // L12: a target that fails holds up no other.
    await look({ forms: [form(0, { target: 'sheet' }), form(2)] });
    expect(asked).toEqual(['db', 'sheet', 'sheet', 'db']);
    await notifier.stop();
  });
});
