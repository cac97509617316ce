import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import type { Child, ChildEnv, Finally } from '../support/child.ts';
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

  static async open(onFinished: Finally, submissions = 60): Promise<Mirror> {
    const store = createSampleWorkspace({ submissions });
    return new Mirror(await ChildPlace.open(onFinished, { store }));
  }

  /** Starts it, and waits until its page answers. */
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
async function press(
  url: string,
  action: Record<string, string>,
  { compare = false, headers = {} }: { compare?: boolean; headers?: Record<string, string> } = {},
): Promise<string> {
  const body = await orderOf(url, action, headers);
  if (compare) body.set('compare', 'yes');
  return (await post(url, body, { ...headers, origin: url })).text();
}

/** What a button of the page sends: its action, with the token of the page. */
async function orderOf(
  url: string,
  action: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<URLSearchParams> {
  const page = await (await fetch(url, { headers })).text();
  const [, token = ''] = /name="token" value="([^"]+)"/.exec(page) ?? [];
  return new URLSearchParams({ token, order: new URLSearchParams(action).toString() });
}

const post = (
  url: string,
  body: URLSearchParams,
  headers: Record<string, string>,
): Promise<Response> => fetch(`${url}/actions`, { method: 'POST', body, headers });

const FORM = 'customer-feedback';
const TABLE = 'customer_feedback';

/** Something is paused. */
const PAUSES = "name = 'pauses' AND value <> '[]'";

// Most of the time is spent waiting for a process.
describe.concurrent('what an admin does with a running mirror', () => {
  it('a pause holds over kill -9 and a restart, keeps nothing else back, and loses nothing', async ({
    onTestFinished,
  }) => {
    const mirror = await Mirror.open(onTestFinished);
    const first = await mirror.start({ SYNC_EVERY: '10s' });
    await vi.waitFor(() => {
      expect(mirror.count('a', TABLE)).toBe(mirror.source(FORM));
      expect(mirror.count('b', TABLE)).toBe(mirror.source(FORM));
    }, SOON);
    const before = mirror.source(FORM);
    const paused = await mirror.place.run(['pause', '--form', FORM, '--target', 'a']);
    expect([paused.code, paused.stdout]).toEqual([
      0,
      expect.stringContaining('customer-feedback in a is paused'),
    ]);
    mirror.submit(FORM);
    expect(await press(first.url, { do: 'sync' })).toContain('A poll begins now');
    await vi.waitFor(() => expect(mirror.count('b', TABLE)).toBe(before + 1), SOON);
    expect(mirror.count('a', TABLE)).toBe(before);
    await first.child.end('SIGKILL');
    const second = await mirror.start({ SYNC_EVERY: '10s' });
    mirror.submit(FORM);
    mirror.submit('anmeldung-sommerfest');
    await press(second.url, { do: 'sync' });
    await vi.waitFor(() => {
      expect(mirror.count('b', TABLE)).toBe(before + 2);
      expect(mirror.count('a', 'anmeldung_sommerfest')).toBe(mirror.source('anmeldung-sommerfest'));
    }, SOON);
    expect(mirror.count('a', TABLE)).toBe(before);
    const report = (await (await fetch(`${second.url}/api/status`)).json()) as {
      forms: { form: { slug: string }; target: string; state: string }[];
    };
    expect(report.forms.filter(({ state }) => state === 'paused')).toMatchObject([
      { form: { slug: FORM }, target: 'a' },
    ]);
    const ofPaused = await press(second.url, { do: 'sync', form: FORM, target: 'a' });
    expect(ofPaused).toContain('is paused since');
    expect((await mirror.place.run(['resume', '--form', FORM])).code).toBe(0);
    await vi.waitFor(() => expect(mirror.count('a', TABLE)).toBe(before + 2), SOON);
    expect((await second.child.end('SIGTERM')).code).toBe(0);
    expect(second.child.stderr).not.toMatch(/"level":[56]0/);
  });

  it('what is asked for now does not wait for its time, on the page, and is logged with who', async ({
    onTestFinished,
  }) => {
    const mirror = await Mirror.open(onTestFinished);
    const settings = { SYNC_EVERY: '1d', ADMIN_PASSWORD: PASSWORD };
    const { child, url } = await mirror.start(settings);
    await vi.waitFor(() => expect(mirror.count('b', TABLE)).toBe(mirror.source(FORM)), SOON);
    mirror.submit(FORM);
    const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
    // Not before the first run of the form has ended.
    await vi.waitFor(async () => {
      const done = await press(url, { do: 'sync', form: FORM }, { headers: { authorization } });
      expect(done).toContain(
        'customer-feedback in a, customer-feedback in b: brought up to date now',
      );
    }, SOON);
    await vi.waitFor(() => {
      expect(mirror.count('a', TABLE)).toBe(mirror.source(FORM));
      expect(mirror.count('b', TABLE)).toBe(mirror.source(FORM));
    }, SOON);
    await child.shows(
      /"action":"sync","form":"customer-feedback","target":null,"by":"status page, admin at 127.0.0.1"/,
      'stderr',
    );

    const order = await orderOf(url, { do: 'pause', target: 'b' }, { authorization });
    const done = await post(url, order, { authorization, origin: url });
    expect(await done.text()).toMatch(
      /Target b is paused since .* by status page, admin at 127\.0\.0\.1/,
    );
    expect(mirror.count('b', '_mirror_records', PAUSES)).toBe(1);
    await child.shows(
      /"action":"pause","form":null,"target":"b","by":"status page, admin at 127.0.0.1"/,
      'stderr',
    );
    mirror.submit(FORM);
    await vi.waitFor(async () => {
      const how = { compare: true, headers: { authorization } };
      const full = await press(url, { do: 'sync', form: FORM }, how);
      expect(full).toContain('Target b is paused since');
      expect(full).toContain('customer-feedback in a: compared row by row now');
    }, SOON);
    await vi.waitFor(() => expect(mirror.count('a', TABLE)).toBe(mirror.source(FORM)), SOON);
    expect(mirror.count('b', TABLE)).toBe(mirror.source(FORM) - 1);
    expect(child.stderr).not.toContain(PASSWORD);
  });

  it('L8: held deletions are accepted once, for one form in one target, and no more than there were', async ({
    onTestFinished,
  }) => {
    const mirror = await Mirror.open(onTestFinished, 250);
    const { url } = await mirror.start({ SYNC_EVERY: '1d' });
    await vi.waitFor(() => expect(mirror.count('b', TABLE)).toBe(mirror.source(FORM)), SOON);
    const form = mirror.place.store.forms().find((each) => each.slug === FORM);
    for (const id of mirror.place.store.ids(form!.id).slice(0, 30)) mirror.place.store.delete(id);
    await press(url, { do: 'sync', form: FORM }, { compare: true });
    const held = (target: 'a' | 'b'): number =>
      mirror.count(target, '_mirror_entries', `kind = 'held' AND form_id = '${form!.id}'`);
    await vi.waitFor(() => expect([held('a'), held('b')]).toEqual([30, 30]), SOON);
    expect(mirror.count('a', TABLE, '_deleted_at IS NOT NULL')).toBe(0);
    const accepted = await press(url, { do: 'accept', form: FORM, target: 'a', count: '30' });
    expect(accepted).toContain('Up to 30 deletions accepted');
    await vi.waitFor(
      () => expect(mirror.count('a', TABLE, '_deleted_at IS NOT NULL')).toBe(30),
      SOON,
    );
    expect(mirror.count('b', TABLE, '_deleted_at IS NOT NULL')).toBe(0);
    // Of the other target more have gone by now than a person has accepted: it asks again.
    for (const id of mirror.place.store.ids(form!.id).slice(0, 5)) mirror.place.store.delete(id);
    await press(url, { do: 'accept', form: FORM, target: 'b', count: '30' });
    await vi.waitFor(() => {
      expect(held('b')).toBe(35);
    }, SOON);
    expect(mirror.count('b', TABLE, '_deleted_at IS NOT NULL')).toBe(0);
  });
});
