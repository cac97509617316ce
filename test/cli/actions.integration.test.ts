import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import { ChildPlace } from '../support/child-place.ts';
import { MirrorView } from '../support/mirror-view.ts';

const SOON = { timeout: 60_000, interval: 100 };
const PASSWORD = 'a-long-password-1';

/** Presses a button of the status page, as a person would, and resolves to the page that shows the result. */
async function press(url: string, action: Record<string, string>): Promise<string> {
  const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
  const body = new URLSearchParams({ order: new URLSearchParams(action).toString() });
  const headers = { authorization, origin: url };
  return (await fetch(`${url}/actions`, { method: 'POST', body, headers })).text();
}

const FORM = 'customer-feedback';

it("L8: an admin's action on the page of a running mirror is performed at once, and logged with the person", async () => {
  const place = await ChildPlace.open({ store: createSampleWorkspace({ submissions: 150 }) });
  const { store, folder } = place;
  const [a, b] = ['a', 'b'].map((name) => `sqlite:${join(folder, name)}`) as [string, string];
  place.env = { ...place.env, TARGETS: 'a,b', TARGET_A_URL: a, TARGET_B_URL: b };
  const { id: formId } = store.formBySlug(FORM)!;
  const submit = (): unknown => store.insert({ formId, data: {}, createdAt: Date.now() });
  const count = async (url: string, where = 'true'): Promise<number> => {
    const rows = await new MirrorView(url).ask(`SELECT * FROM customer_feedback WHERE ${where}`);
    return rows.length;
  };
  const holds = (url: string): Promise<void> =>
    vi.waitFor(async () => expect(await count(url)).toBe(store.ids(formId).length), SOON);
  const child = place.start(['start'], { SYNC_EVERY: '1d', ADMIN_PASSWORD: PASSWORD });
  const [, url = ''] = await child.shows(/"url":"(http[^"]+)"/, 'stderr');
  for (const each of [a, b]) await holds(each);

  expect(await press(url, { do: 'pause', target: 'b' })).toMatch(
    /Target b is paused since .* by status page, admin at 127\.0\.0\.1/,
  );
  submit();
  // Not before the first run of the form has ended.
  await vi.waitFor(async () => {
    const page = await press(url, { do: 'sync', form: FORM });
    expect(page).toContain('1 run begins as soon as a worker is free.');
  }, SOON);
  await holds(a);
  const by = '"by":"status page, admin at 127.0.0.1"';
  const logged = `"action":"sync","form":"customer-feedback","target":null,${by}`;
  await child.shows(new RegExp(logged), 'stderr');
  expect(await count(b)).toBe(store.ids(formId).length - 1);
  // Another process resumes.
  expect((await place.run(['resume', '--target', 'b'])).code).toBe(0);
  expect(await press(url, { do: 'sync' })).toContain('A poll begins now');
  await holds(b);

  for (const one of store.ids(formId).slice(0, 30)) store.delete(one);
  expect((await place.run(['sync', '--full', '--form', FORM])).code).toBe(1);
  const isMarked = '_deleted_at IS NOT NULL';
  expect(await count(a, isMarked)).toBe(0);
  const accepted = await press(url, { do: 'accept', form: FORM, target: 'a', count: '30' });
  expect(accepted).toContain('Up to 30 deletions accepted');
  await vi.waitFor(async () => expect(await count(a, isMarked)).toBe(30), SOON);
  expect(await count(b, isMarked)).toBe(0);
  expect(await child.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(child.stdout).toBe('');
  for (const secret of [PASSWORD, place.sandbox.apiKey]) expect(child.stderr).not.toContain(secret);
});
