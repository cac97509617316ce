import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/forms-api/sample-workspace.ts';
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
  async start(env: ChildEnv): Promise<{ child: Child; url: string; port: string }> {
    const child = this.place.start(['start'], env);
    const [, url = ''] = await child.shows(/"url":"(http[^"]+)"/, 'stderr');
    return { child, url, port: new URL(url).port };
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

const FORM = 'customer-feedback';
const TABLE = 'customer_feedback';

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
    const look = await mirror.place.run(['run'], { PORT: first.port });
    expect([look.code, look.stdout]).toEqual([0, expect.stringContaining('A look begins now')]);
    await vi.waitFor(() => expect(mirror.count('b', TABLE)).toBe(before + 1), SOON);
    expect(mirror.count('a', TABLE)).toBe(before);
    await first.child.end('SIGKILL');
    const second = await mirror.start({ SYNC_EVERY: '10s' });
    mirror.submit(FORM);
    mirror.submit('anmeldung-sommerfest');
    await mirror.place.run(['run'], { PORT: second.port });
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
    const ofPaused = await mirror.place.run(['run', '--form', FORM, '--target', 'a'], {
      PORT: second.port,
    });
    expect([ofPaused.code, ofPaused.stdout]).toEqual([
      1,
      expect.stringContaining('is paused since'),
    ]);
    expect((await mirror.place.run(['resume', '--form', FORM])).code).toBe(0);
    await vi.waitFor(() => expect(mirror.count('a', TABLE)).toBe(before + 2), SOON);
    expect((await second.child.end('SIGTERM')).code).toBe(0);
    expect(second.child.stderr).not.toMatch(/"level":[56]0/);
  });

  it('what is asked for now does not wait for its time, on the page and from the shell, and is logged with who', async ({
    onTestFinished,
  }) => {
    const mirror = await Mirror.open(onTestFinished);
    const settings = { SYNC_EVERY: '1d', ADMIN_PASSWORD: PASSWORD };
    const { child, url, port } = await mirror.start(settings);
    await vi.waitFor(() => expect(mirror.count('b', TABLE)).toBe(mirror.source(FORM)), SOON);
    mirror.submit(FORM);
    const env = { ...settings, PORT: port };
    const wrong = await mirror.place.run(['run'], {
      ...env,
      ADMIN_PASSWORD: 'another-long-password',
    });
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('refuses the password'),
    ]);
    const look = await mirror.place.run(['run', '--form', FORM], env);
    expect([look.code, look.stdout]).toEqual([
      0,
      expect.stringContaining('customer-feedback in a is looked at now'),
    ]);
    await vi.waitFor(() => expect(mirror.count('a', TABLE)).toBe(mirror.source(FORM)), SOON);
    await child.shows(
      /"action":"look","form":"customer-feedback","target":null,"by":"command line, \S+"/,
      'stderr',
    );

    const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
    const asked = await fetch(`${url}/act?do=pause&target=b`, { headers: { authorization } });
    const fields = [...(await asked.text()).matchAll(/name="(\w+)"\s+value="([^"]*)"/g)];
    const body = new URLSearchParams(
      fields.map(([, name = '', value = '']): [string, string] => [name, value]),
    );
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${url}/actions`, { method: 'POST', body, headers, redirect: 'manual' });
    expect((await post({ origin: url })).status).toBe(401);
    expect((await post({ authorization, origin: 'https://evil.example' })).status).toBe(403);
    expect(mirror.count('b', 'mirror_pauses')).toBe(0);
    const done = await post({ authorization, origin: url });
    expect(done.status).toBe(303);
    const told = await fetch(url + (done.headers.get('location') ?? ''), {
      headers: { authorization },
    });
    expect(await told.text()).toMatch(
      /Target b is paused since .* by status page, admin at 127\.0\.0\.1/,
    );
    expect(mirror.count('b', 'mirror_pauses')).toBe(1);
    await child.shows(
      /"action":"pause","form":null,"target":"b","by":"status page, admin at 127.0.0.1"/,
      'stderr',
    );
    mirror.submit(FORM);
    const full = await mirror.place.run(['run', '--full', '--form', FORM], env);
    expect(full.stdout).toMatch(
      /✗ Target b is paused since[^]*✓ customer-feedback in a is compared/,
    );
    await vi.waitFor(() => expect(mirror.count('a', TABLE)).toBe(mirror.source(FORM)), SOON);
    expect(mirror.count('b', TABLE)).toBe(mirror.source(FORM) - 1);
    const tested = await fetch(`${url}/actions`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ do: 'alert', by: 'ann' }),
    });
    expect(await tested.json()).toMatchObject({
      lines: [
        {
          ok: false,
          text: expect.stringContaining('set ALERT_WEBHOOK_URL or ALERT_EMAIL_TO'),
        },
      ],
    });
    expect(child.stderr).not.toContain(PASSWORD);
  });

  it('L8: withheld deletions are accepted once, for one form in one target, and no more than there were', async ({
    onTestFinished,
  }) => {
    const mirror = await Mirror.open(onTestFinished, 250);
    const { port } = await mirror.start({ SYNC_EVERY: '1d' });
    await vi.waitFor(() => expect(mirror.count('b', TABLE)).toBe(mirror.source(FORM)), SOON);
    const form = mirror.place.store.forms().find((each) => each.slug === FORM);
    for (const id of mirror.place.store.ids(form!.id).slice(0, 30)) mirror.place.store.delete(id);
    const env = { PORT: port };
    expect((await mirror.place.run(['run', '--full', '--form', FORM], env)).code).toBe(0);
    const withheld = (target: 'a' | 'b'): number =>
      mirror.count(target, 'mirror_checkpoints', `withheld = 30 AND form_id = '${form!.id}'`);
    await vi.waitFor(() => expect([withheld('a'), withheld('b')]).toEqual([1, 1]), SOON);
    expect(mirror.count('a', TABLE, '_deleted_at IS NOT NULL')).toBe(0);
    const accepted = await mirror.place.run(
      ['run', '--accept-deletes', '--form', FORM, '--target', 'a'],
      env,
    );
    expect([accepted.code, accepted.stdout]).toEqual([
      0,
      expect.stringContaining('Up to 30 deletions accepted'),
    ]);
    await vi.waitFor(
      () => expect(mirror.count('a', TABLE, '_deleted_at IS NOT NULL')).toBe(30),
      SOON,
    );
    expect(mirror.count('b', TABLE, '_deleted_at IS NOT NULL')).toBe(0);
    // Of the other target more have gone by now than a person has accepted: it asks again.
    const none = await mirror.place.run(
      ['run', '--accept-deletes', '--form', FORM, '--target', 'a'],
      env,
    );
    expect([none.code, none.stdout]).toEqual([
      1,
      expect.stringContaining('no deletions are withheld'),
    ]);
    for (const id of mirror.place.store.ids(form!.id).slice(0, 5)) mirror.place.store.delete(id);
    await mirror.place.run(['run', '--accept-deletes', '--form', FORM, '--target', 'b'], env);
    await vi.waitFor(() => {
      expect(mirror.count('b', 'mirror_checkpoints', 'withheld = 35')).toBe(1);
    }, SOON);
    expect(mirror.count('b', TABLE, '_deleted_at IS NOT NULL')).toBe(0);
  });
});
