import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, vi } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import { startWebhook } from '../notify/webhook-receiver.ts';
import type { Child, ChildEnv } from '../support/child.ts';
import { ChildPlace } from '../support/child-place.ts';

const SOON = { timeout: 60_000, interval: 100 };
const PASSWORD = 'a-long-password-1';

/** A `start` with two targets, and what its tables hold. */
class Mirror {
  readonly place: ChildPlace;

  private constructor(place: ChildPlace) {
    this.place = place;
    place.env = {
      ...place.env,
      TARGETS: 'a,b',
      TARGET_A_URL: `sqlite:${join(place.folder, 'a.sqlite')}`,
      TARGET_B_URL: `sqlite:${join(place.folder, 'b.sqlite')}`,
    };
  }

  static async open(submissions = 250): Promise<Mirror> {
    const store = createSampleWorkspace({ submissions });
    return new Mirror(await ChildPlace.open({ store }));
  }

  /** Starts it, and waits until its page responds. */
  async start(env: ChildEnv): Promise<{ child: Child; url: string }> {
    const child = this.place.start(['start'], env);
    const [, url = ''] = await child.shows(/"url":"(http[^"]+)"/, 'stderr');
    return { child, url };
  }

  count(target: 'a' | 'b', table: string, where = '1 = 1'): number {
    using database = new DatabaseSync(join(this.place.folder, `${target}.sqlite`), {
      readOnly: true,
    });
    const known = database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(table);
    if (known === undefined) return 0;
    return Number(
      database.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${where}`).get()?.['n'],
    );
  }

  submit(slug: string): void {
    const form = this.place.store.forms().find((each) => each.slug === slug);
    this.place.store.insert({ formId: form!.id, data: {}, status: 'NEW', createdAt: Date.now() });
  }

  source(slug: string): number {
    const form = this.place.store.forms().find((each) => each.slug === slug);
    return this.place.store.ids(form!.id).length;
  }
}

/** Presses a button of the status page, as a person would, and resolves to the page that shows the result. */
async function press(url: string, action: Record<string, string>): Promise<string> {
  const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
  const body = new URLSearchParams({ order: new URLSearchParams(action).toString() });
  const headers = { authorization, origin: url };
  return (await fetch(`${url}/actions`, { method: 'POST', body, headers })).text();
}

const FORM = 'customer-feedback';
const TABLE = 'customer_feedback';

it("L8: an admin's action on the page of a running mirror is performed at once, and logged with the person", async () => {
  const mirror = await Mirror.open();
  await using webhook = await startWebhook();
  const env = { SYNC_EVERY: '1d', ADMIN_PASSWORD: PASSWORD, ALERT_WEBHOOK_URL: webhook.url };
  const { child, url } = await mirror.start(env);
  const bothHold = (): void => {
    const both = [mirror.count('a', TABLE), mirror.count('b', TABLE)];
    expect(both).toEqual([mirror.source(FORM), mirror.source(FORM)]);
  };
  await vi.waitFor(bothHold, SOON);
  mirror.submit(FORM);
  // Not before the first run of the form has ended.
  await vi.waitFor(async () => {
    expect(await press(url, { do: 'sync', form: FORM })).toContain(
      'customer-feedback → a, customer-feedback → b: brought up to date as soon',
    );
  }, SOON);
  await vi.waitFor(bothHold, SOON);
  const by = '"by":"status page, admin at 127.0.0.1"';
  await child.shows(
    new RegExp(`"action":"sync","form":"customer-feedback","target":null,${by}`),
    'stderr',
  );

  expect(await press(url, { do: 'pause', target: 'b' })).toMatch(
    /Target b is paused since .* by status page, admin at 127\.0\.0\.1/,
  );
  mirror.submit(FORM);
  await vi.waitFor(async () => {
    const page = await press(url, { do: 'sync', form: FORM });
    expect(page).toContain('customer-feedback → a: brought up to date as soon');
  }, SOON);
  await vi.waitFor(() => expect(mirror.count('a', TABLE)).toBe(mirror.source(FORM)), SOON);
  expect(mirror.count('b', TABLE)).toBe(mirror.source(FORM) - 1);
  expect(await press(url, { do: 'sync', target: 'b' })).toContain('everything there is paused');
  expect(await press(url, { do: 'sync' })).toContain('except paused ones');
  // Another process resumes.
  expect((await mirror.place.run(['resume', '--target', 'b'])).code).toBe(0);
  expect(await press(url, { do: 'sync' })).toContain('A poll begins now');
  await vi.waitFor(bothHold, SOON);
  const place = { form: FORM, target: 'a' };
  expect(await press(url, { do: 'pause', ...place })).toContain('customer-feedback → a is paused');
  expect(await press(url, { do: 'resume', ...place })).toContain(
    'customer-feedback → a is resumed',
  );

  const { id } = mirror.place.store.forms().find((each) => each.slug === FORM)!;
  for (const one of mirror.place.store.ids(id).slice(0, 30)) mirror.place.store.delete(one);
  expect((await mirror.place.run(['sync', '--full', '--form', FORM])).code).toBe(1);
  await vi.waitFor(
    () => expect(JSON.stringify(webhook.bodies)).toContain('Deletions are held'),
    SOON,
  );
  const isMarked = '_deleted_at IS NOT NULL';
  expect(mirror.count('a', TABLE, isMarked)).toBe(0);
  const accepted = await press(url, { do: 'accept', form: FORM, target: 'a', count: '30' });
  expect(accepted).toContain('Up to 30 deletions accepted');
  await vi.waitFor(() => expect(mirror.count('a', TABLE, isMarked)).toBe(30), SOON);
  expect(mirror.count('b', TABLE, isMarked)).toBe(0);
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect(await child.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(child.stdout).toBe('');
  for (const secret of [PASSWORD, mirror.place.sandbox.apiKey])
    expect(child.stderr).not.toContain(secret);
});
