import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { DataDir } from '../../src/health/data-dir.ts';
import { type FormReport, NO_CLAIM } from '../../src/health/report.ts';
import { openNotifier } from '../../src/notify/notifier.ts';
import { scratchFolder } from '../support/scratch.ts';
import { TestClock } from '../support/test-clock.ts';
import { NOW, form, report, target } from './reports.ts';
import type { PostedMessage } from './webhook-receiver.ts';

const SHEET = 'https://docs.google.com/spreadsheets/d/x#gid=1';

const newDataDir = (): DataDir => new DataDir(scratchFolder('notify'));

/** A mirror of one form in a sheet, and a team that gets messages about new answers. */
async function open(rows = 2) {
  const dataDir = newDataDir();
  const posts: PostedMessage[] = [];
  let isLost = false;
  const fetch = (_url: URL, { body }: { body: string }): Promise<Response> => {
    posts.push(JSON.parse(body) as PostedMessage);
    return isLost ? Promise.reject(new TypeError('fetch failed')) : Promise.resolve(new Response());
  };
  const clock = new TestClock();
  const start = () =>
    openNotifier({
      receivers: { NOTIFY_NEW_URL: new URL('https://hooks.example.com/new') },
      fetch: fetch as unknown as typeof globalThis.fetch,
      dataDir,
      clock,
      logger: silentLogger,
    });
  const mirror = {
    posts,
    /** From now on the responses to posts are lost, or not. */
    loseResponses: (now: boolean): void => void (isLost = now),
    rows,
    notifier: await start(),
    /** `s` seconds after the beginning, the form has this many more rows. */
    async look(s: number, more = 0, changes: Partial<FormReport> = {}): Promise<void> {
      clock.now = () => NOW + s * 1_000;
      mirror.rows += more;
      const shown = form(0, { url: SHEET, rows: mirror.rows, ...changes });
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
    await mirror.look(0);
    await mirror.look(60, 2);
    await mirror.look(120, 1);
    await mirror.look(239);
    expect(mirror.texts).toEqual([]);
    await mirror.look(240);
    expect(mirror.posts).toEqual([{ text: `🔵 3 new answers to Form 0. ${SHEET}` }]);
    await mirror.look(600);
    expect(mirror.texts).toHaveLength(1);
    await mirror.look(700, 1, { url: null });
    await mirror.look(900, 0, { url: null });
    expect(mirror.texts[1]).toBe('🔵 1 new answer to Form 0. The table is form_0, in target db.');
  });

  it('are not announced for a first copy', async () => {
    const mirror = await open();
    for (const s of [0, 60, 120]) await mirror.look(s, 2, { claim: NO_CLAIM });
    await mirror.look(180);
    await mirror.look(900);
    expect(mirror.texts).toEqual([]);
  });

  it('are not submissions that were deleted, restored or erased', async () => {
    const mirror = await open();
    await mirror.look(0);
    await mirror.look(10, -1, { deletedRows: 1 });
    await mirror.look(200, 0, { deletedRows: 1 });
    await mirror.look(210, 1);
    await mirror.look(400, -1);
    await mirror.look(600, 1);
    await mirror.look(800);
    // The last one came after an erasure.
    expect(mirror.texts).toEqual([`🔵 1 new answer to Form 0. ${SHEET}`]);
  });

  it('of a form that was empty are announced from the first on', async () => {
    const mirror = await open(0);
    await mirror.look(0);
    await mirror.look(60, 1);
    await mirror.look(240);
    expect(mirror.texts).toHaveLength(1);
  });

  it('are announced once across a restart; after a crash they may be announced twice, but not never', async () => {
    const mirror = await open();
    await mirror.look(0);
    await mirror.look(60, 2);
    await mirror.restart();
    await mirror.look(70);
    await mirror.look(250);
    expect(mirror.texts).toHaveLength(1);
    await mirror.restart();
    await mirror.look(260);
    await mirror.look(600);
    expect(mirror.texts).toHaveLength(1);
    // The message was delivered, but the response and the process are lost.
    mirror.loseResponses(true);
    await mirror.look(700, 1);
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

  it('are those of the first target that has the form, and wait while it cannot be read', async () => {
    const posts: PostedMessage[] = [];
    const fetch = (_url: URL, { body }: { body: string }): Promise<Response> => {
      posts.push(JSON.parse(body) as PostedMessage);
      return Promise.resolve(new Response());
    };
    const clock = new TestClock(NOW);
    const notifier = await openNotifier({
      receivers: { NOTIFY_NEW_URL: new URL('https://hooks.example.com/new') },
      fetch: fetch as unknown as typeof globalThis.fetch,
      dataDir: newDataDir(),
      clock,
      logger: silentLogger,
    });
    const look = async (s: number, [sheet, db]: readonly number[], isReadable = true) => {
      clock.now = () => NOW + s * 1_000;
      const targets = [target({ name: 'sheet', isReadable }), target({ name: 'db' })];
      const forms = [form(0, { target: 'sheet', rows: sheet! }), form(0, { rows: db! })];
      await notifier.look(report({ targets, forms }));
    };
    await look(0, [5, 7]);
    // The other target has it first, and has more rows.
    await look(10, [5, 8]);
    for (const s of [20, 300]) await look(s, [6, 8], false);
    expect(posts).toEqual([]);
    for (const s of [310, 500]) await look(s, [6, 8]);
    expect(posts.map(({ text }) => text)).toEqual([
      '🔵 1 new answer to Form 0. The table is form_0, in target sheet.',
    ]);
    await notifier.stop();
  });
});
