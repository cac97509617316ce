import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import type { ShownPause } from '../../src/health/report.ts';
import type { ActionOrder, DoneLine } from '../../src/web/actions.ts';
import { before, FORM_A, formReport, problem, reportOf, targetReport } from './fixtures.ts';
import { startPage } from './start-page.ts';

const PASSWORD = 'a-long-password-1';
const AS_ADMIN = { authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}` };

type Fields = Record<string, string>;

/** A page whose actions are recorded. */
async function open(adminPassword?: string, report = reportOf()) {
  const orders: ActionOrder[] = [];
  const act = async (order: ActionOrder): Promise<DoneLine[]> => {
    orders.push(order);
    return [{ ok: order.do !== 'resume', text: `Done: <b>${order.do}</b>` }];
  };
  const page = await startPage(report, { act, adminPassword });
  return {
    page,
    orders,
    /** What a button sends, by its text; empty if the page has no such button. */
    async press(words: string, path = '/forms/frm_a', headers = {}): Promise<Fields> {
      const html = await (await page.get(path, headers)).text();
      const buttons = html.matchAll(
        /<button form="act" name="order" value="([^"]*)">\s*([^<]*?)\s*</g,
      );
      const [, order = ''] = [...buttons].find(([, , found]) => found === words) ?? [];
      return { order: order.replaceAll('&amp;', '&') };
    },
    post: (body: Fields, headers: Fields = {}): Promise<Response> =>
      fetch(`${page.server.url}/actions`, {
        method: 'POST',
        body: new URLSearchParams(body).toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: page.server.url,
          ...headers,
        },
        redirect: 'manual',
      }),
    [Symbol.asyncDispose]: () => page.server.stop(),
  };
}

const PAUSE: ShownPause = {
  since: before(60_000),
  by: 'ann',
  reason: 'A <new> disk',
  formId: null,
  command: 'forms-mirror resume --target db',
};

const BY = 'status page, 127.0.0.1';

describe('an action on the page', () => {
  it('is performed when its button is pressed, and its result is shown', async () => {
    await using at = await open();
    const done = await at.post(await at.press('Pause'));
    expect(done.status).toBe(200);
    const html = await done.text();
    expect(html).toContain('<h1>Done</h1>');
    expect(html).toContain('Done: &lt;b&gt;pause&lt;/b&gt;');
    expect(html).toContain('href="/forms/frm_a"');
    // Reloading it would repeat the action.
    expect(html).not.toContain('<script');
    expect(html).not.toContain('http-equiv="refresh"');
    const place = { form: 'frm_a', target: 'db', count: null };
    expect(at.orders).toEqual([{ do: 'pause', ...place, by: BY }]);
    // The next page shows the outcome.
    expect(at.page.expired).toBe(1);
  });

  it('is about everything, a target or a form', async () => {
    await using at = await open();
    const html = await at.page.text('/');
    for (const order of ['do=sync', 'do=pause', 'do=sync&amp;target=db', 'do=pause&amp;target=db'])
      expect(html).toContain(`value="${order}">`);
    await at.post(await at.press('Pause', '/'));
    expect(at.orders).toMatchObject([{ do: 'pause', form: null, target: null }]);
  });

  it('L8: accepts as many deletions as its button names, and no more', async () => {
    const held = formReport(FORM_A, 'db', {
      problems: [problem('DELETIONS_HELD')],
      claim: { ...formReport(FORM_A).claim, held: 34 },
    });
    await using at = await open(undefined, reportOf([held]));
    await at.post(await at.press('Accept 34 deletions'));
    const order = { do: 'accept', form: 'frm_a', target: 'db', count: 34, by: BY };
    expect(at.orders).toEqual([order]);
    // Beside its subject, never from a row of the list.
    expect(await at.page.text('/')).not.toContain('do=accept');
  });

  it('is offered for a paused place as resuming, with who paused it and why', async () => {
    const target = targetReport('db', { state: 'paused', pause: PAUSE });
    const form = formReport(FORM_A, 'db', { state: 'paused', pause: PAUSE });
    await using at = await open(undefined, reportOf([form], { targets: [target] }));
    for (const path of ['/', '/forms/frm_a']) {
      const html = await at.page.text(path);
      expect(html).toContain('value="do=resume&amp;target=db"');
      expect(html).toContain('by ann (A &lt;new&gt; disk)');
      expect(html).not.toContain('do=pause');
    }
    const failed = await (await at.post(await at.press('Resume target db'))).text();
    expect(failed).toContain('Not everything could be done');
  });
});

describe('an action is refused', () => {
  it('from another site, with any body', async () => {
    await using at = await open();
    const fields = await at.press('Pause');
    const elsewhere: Fields[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: at.page.server.url.replace('127.0.0.1', 'localhost') },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of elsewhere)
      expect([headers, (await at.post(fields, headers)).status]).toEqual([headers, 403]);
    expect(at.orders).toEqual([]);
    // The browser's own header counts if a proxy in front has another name and a password is set.
    const own = { origin: 'https://mirror.example', 'sec-fetch-site': 'same-origin' };
    expect((await at.post(fields, own)).status).toBe(403);
    expect(at.orders).toEqual([]);
    await using behind = await open(PASSWORD);
    const theirs = await behind.press('Pause', '/', AS_ADMIN);
    expect((await behind.post(theirs, { ...own, ...AS_ADMIN })).status).toBe(200);
    expect(behind.orders).toMatchObject([{ by: 'status page, admin at 127.0.0.1' }]);
  });

  it("for an unknown action, and for a body that is not of the page's form", async () => {
    await using at = await open();
    const fields = await at.press('Pause');
    for (const order of ['', 'do=drop', 'do=accept&count=-1', 'do=accept&count=x'])
      expect([order, (await at.post({ ...fields, order })).status]).toEqual([order, 400]);
    for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/json']) {
      const answer = await at.post(fields, { 'content-type': type });
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
    expect(at.orders).toEqual([]);
  });

  it('without the password if there is one', async () => {
    await using at = await open(PASSWORD);
    const fields = await at.press('Pause', '/forms/frm_a', AS_ADMIN);
    expect((await at.post(fields)).status).toBe(401);
    expect(at.orders).toEqual([]);
  });

  it("without a browser's header", async () => {
    await using at = await open();
    const fields = await at.press('Pause');
    const post = async (headers = {}): Promise<number> => {
      const url = `${at.page.server.url}/actions`;
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      const body = new URLSearchParams(fields).toString();
      const options = { method: 'POST', headers: { ...type, ...headers } };
      const { statusCode } = await request(url, { ...options, body });
      return statusCode;
    };
    expect(await post()).toBe(403);
    expect(await post({ 'sec-fetch-site': 'none' })).toBe(200);
  });

  it('without a password, if it came through a proxy, which may not show a page', async () => {
    await using at = await open();
    const fields = await at.press('Pause');
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'x-forwarded-host']) {
      const headers = { [name]: '192.0.2.7' };
      const page = await at.page.get('/', headers);
      expect([page.status, await page.text()]).toEqual([
        421,
        expect.stringContaining('Set ADMIN_PASSWORD'),
      ]);
      expect((await at.post(fields, headers)).status).toBe(421);
    }
    // A proxy that hides itself may use HTTP/1.0, as older versions of nginx do.
    const { hostname, port, host } = new URL(at.page.server.url);
    const answer = async (version: string): Promise<string> => {
      const socket = connect(Number(port), hostname);
      socket.end(`GET / HTTP/${version}\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      return /HTTP\/\S+ (\d+)/.exec(await text(socket))?.[1] ?? '';
    };
    expect([await answer('1.0'), await answer('1.1')]).toEqual(['421', '200']);
    expect(at.orders).toEqual([]);
  });
});
