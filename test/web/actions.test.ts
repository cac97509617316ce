import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { newPause } from '../../src/mirror/pauses.ts';
import type { ActionOrder, Actor } from '../../src/web/action-order.ts';
import { before, formOverview } from '../health/fake-source.ts';
import { FORM_A, FORM_B } from '../health/health-of.ts';
import { calmSource, startPage, type TestPage } from './start-page.ts';

/** Remembers what it was asked for. */
class FakeActor implements Actor {
  readonly orders: ActionOrder[] = [];
  failure: MirrorError | undefined;
  onAct = (): void => {};

  async act(order: ActionOrder) {
    this.orders.push(order);
    this.onAct();
    if (this.failure !== undefined) throw this.failure;
    return [{ ok: true, text: `Done: <b>${order.do}</b>` }];
  }
}

const PASSWORD = 'a-long-password-1';
const AS_ADMIN = { authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}` };

interface Opened extends AsyncDisposable {
  readonly page: TestPage;
  readonly actor: FakeActor;
  /** The fields of the form that the confirmation page shows. */
  fields(path: string, headers?: Record<string, string>): Promise<Record<string, string>>;
  post(body: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
  send(body: unknown, headers?: Record<string, string>): Promise<Response>;
}

async function open(adminPassword?: string, source = calmSource()): Promise<Opened> {
  const actor = new FakeActor();
  const page = await startPage(source, { actor, adminPassword });
  await page.reread();
  const url = `${page.server.url}/actions`;
  const send = (body: string, headers: Record<string, string>): Promise<Response> =>
    page.whileTimePasses(fetch(url, { method: 'POST', body, headers, redirect: 'manual' }));
  return {
    page,
    actor,
    async fields(path, headers = {}) {
      const text = await (await page.get(path, headers)).text();
      const found = text.matchAll(/<input\s+type="hidden"\s+name="(\w+)"\s+value="([^"]*)"/g);
      return Object.fromEntries([...found].map(([, name, value]) => [name, value]));
    },
    post: (body, headers = {}) =>
      send(new URLSearchParams(body).toString(), {
        'content-type': 'application/x-www-form-urlencoded',
        origin: page.server.url,
        ...headers,
      }),
    send: (body, headers = {}) =>
      send(JSON.stringify(body), { 'content-type': 'application/json', ...headers }),
    [Symbol.asyncDispose]: () => page.server.stop(),
  };
}

describe('an action on the page', () => {
  it('is asked about, done once it is confirmed, and told afterwards, again if it is reloaded', async () => {
    await using at = await open();
    const path = '/act?do=pause&form=frm_a&target=db';
    const asked = await at.page.text(path);
    expect(asked).toContain('Pause “Form A” in target db?');
    expect(asked).toContain('It is logged as done by status page, 127.0.0.1.');
    expect(asked).not.toContain('<script');
    expect(asked).not.toContain('http-equiv="refresh"');
    expect(at.actor.orders).toEqual([]);
    const done = await at.post({ ...(await at.fields(path)), reason: ' Why? ' });
    expect(done.status).toBe(303);
    const place = { do: 'pause', form: 'frm_a', target: 'db', count: null };
    expect(at.actor.orders).toMatchObject([
      { ...place, reason: ' Why? ', by: 'status page, 127.0.0.1' },
    ]);
    const location = done.headers.get('location') ?? '';
    for (let n = 0; n < 2; n++) {
      expect(await at.page.text(location)).toContain('Done: &lt;b&gt;pause&lt;/b&gt;');
    }
    expect(at.actor.orders).toHaveLength(1);
    expect((await at.page.get('/acted?id=another')).status).toBe(404);
  });

  it('says what every kind would do, for what there is, and nothing for what there is not', async () => {
    await using at = await open();
    const titles = {
      'do=look': 'Look for changes now?',
      'do=look&form=a': 'Look at “Form A” in every target now?',
      'do=compare': 'Compare everything now?',
      'do=compare&target=db': 'Compare target db now?',
      'do=retry&form=frm_a&target=db': 'Try “Form A” in target db again now?',
      'do=pause': 'Pause everything?',
      'do=resume&target=db': 'Resume target db?',
      'do=alert': 'Send a test alert?',
    };
    for (const [query, title] of Object.entries(titles)) {
      expect(await at.page.text(`/act?${query}`)).toContain(`<h1>${title}</h1>`);
    }
    for (const query of ['do=drop', 'do=look&form=none', 'do=look&target=none', '']) {
      expect([query, (await at.page.get(`/act?${query}`)).status]).toEqual([query, 404]);
    }
    expect(await at.page.text('/act?do=compare')).toContain(
      'That is 200 rows, at some 4 requests.',
    );
  });

  it('L8: names how many deletions it would accept, and accepts no more', async () => {
    const source = calmSource();
    const withheld = formOverview(FORM_A);
    const { checkpoint, lastFull } = withheld;
    source.hold('db', [
      formOverview(FORM_A, {
        checkpoint: checkpoint && { ...checkpoint, withheld: 34 },
        lastFull: lastFull && {
          ...lastFull,
          outcome: 'withheld',
          withheld: 34,
          code: 'DELETIONS_HELD',
        },
      }),
      formOverview(FORM_B),
    ]);
    await using at = await open(undefined, source);
    const path = '/act?do=accept&form=frm_a&target=db';
    expect(await at.page.text(path)).toContain(
      'Accept 34 withheld deletions of “Form A” in target db?',
    );
    await at.post(await at.fields(path));
    expect(at.actor.orders).toMatchObject([
      { do: 'accept', form: 'frm_a', target: 'db', count: 34 },
    ]);
    const none = await at.page.text('/act?do=accept&form=frm_b&target=db');
    expect(none).toContain('there is nothing to accept');
    expect(none).not.toContain('<button');
    expect(await at.page.text('/forms/frm_a')).toContain(
      '/act?do=accept&amp;form=frm_a&amp;target=db',
    );
  });

  it('L17: is shown by the next page, however long ago the target was read', async () => {
    const source = calmSource();
    await using at = await open(undefined, source);
    expect(await at.page.text('/')).not.toContain('/act?do=resume&amp;target=db');
    const pause = newPause({ formId: null, since: before(0), by: 'ann', reason: null });
    at.actor.onAct = () => {
      const held = source.overviews.get('db');
      if (held !== undefined && 'forms' in held) {
        source.overviews.set('db', { ...held, pauses: [pause] });
      }
    };
    await at.post(await at.fields('/act?do=pause&target=db'));
    expect(await at.page.text('/')).toContain('/act?do=resume&amp;target=db');
  });

  it('is offered for what is paused as going on again, with who paused it and why', async () => {
    const source = calmSource();
    const pause = newPause({
      formId: null,
      since: before(60_000),
      by: 'ann',
      reason: 'A <new> disk',
    });
    source.overviews.set('db', {
      kind: 'postgres',
      address: 'postgres://db',
      forms: [formOverview(FORM_A), formOverview(FORM_B)],
      pauses: [pause],
    });
    await using at = await open(undefined, source);
    for (const path of ['/', '/forms/frm_a']) {
      const text = await at.page.text(path);
      expect(text).toContain('/act?do=resume&amp;target=db');
      expect(text).toContain('A &lt;new&gt; disk');
      expect(text).not.toContain('/act?do=pause&amp;');
    }
    expect(await at.page.text('/act?do=resume&target=db')).toContain('by ann: A &lt;new&gt; disk');
    expect(await (await at.page.get('/health')).json()).toMatchObject({
      ok: true,
      mirror: 'paused',
    });
    const metrics = await at.page.text('/metrics');
    expect(metrics).toContain('forms_mirror_form_state{form="frm_a",target="db",state="paused"} 1');
    expect(metrics).toContain('forms_mirror_form_state{form="frm_a",target="db",state="ok"} 0');
  });

  it('tells what failed in words for people', async () => {
    await using at = await open();
    at.actor.failure = new MirrorError('TARGET_UNREACHABLE', 'Target db does not answer.');
    const done = await at.post(await at.fields('/act?do=pause&target=db'));
    const text = await at.page.text(done.headers.get('location') ?? '');
    expect(text).toContain('Not everything could be done');
    expect(text).toContain('Target db does not answer.');
  });
});

describe('an action is refused', () => {
  const path = '/act?do=pause&form=frm_a&target=db';

  it('from another site, whatever it sends', async () => {
    await using at = await open();
    const fields = await at.fields(path);
    const elsewhere: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: at.page.server.url.replace('127.0.0.1', 'localhost') },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'none' },
    ];
    for (const headers of elsewhere) {
      expect([headers, (await at.post(fields, headers)).status]).toEqual([headers, 403]);
      const json = { do: 'pause', by: 'x' };
      expect([headers, (await at.send(json, headers)).status]).toEqual([headers, 403]);
    }
    expect(at.actor.orders).toEqual([]);
    // The browser's own word counts, where a proxy in front has another name, and people have a password.
    const own = { origin: 'https://mirror.example', 'sec-fetch-site': 'same-origin' };
    expect((await at.post(fields, own)).status).toBe(403);
    await using behind = await open(PASSWORD);
    const theirs = await behind.fields(path, AS_ADMIN);
    expect((await behind.post(theirs, { ...own, ...AS_ADMIN })).status).toBe(303);
  });

  it('without the token of its own page: none, a wrong one, or that of another action', async () => {
    await using at = await open();
    const fields = await at.fields(path);
    const other = await at.fields('/act?do=pause&target=db');
    const { token: _token, ...without } = fields;
    for (const body of [
      without,
      { ...fields, token: 'x' },
      { ...fields, token: other['token'] ?? '' },
      { ...fields, do: 'resume' },
      { ...fields, form: 'frm_b' },
    ]) {
      expect((await at.post(body)).status).toBe(403);
    }
    await using restarted = await open();
    expect((await restarted.post({ ...fields })).status).toBe(403);
    expect(at.actor.orders.concat(restarted.actor.orders)).toEqual([]);
  });

  it('as a body that a page elsewhere could send without being asked: as text, or without a token', async () => {
    await using at = await open();
    const json = JSON.stringify({ do: 'pause', by: 'x' });
    const types = ['text/plain', 'multipart/form-data; boundary=x'];
    for (const type of types) {
      expect((await at.send(json, { 'content-type': type })).status).toBeGreaterThanOrEqual(400);
    }
    expect((await at.send({ do: 'pause', by: 'x' })).status).toBe(403);
    expect((await at.send({ do: 'drop', by: 'x' })).status).toBe(400);
    expect(at.actor.orders).toEqual([]);
  });

  it('without the password, and with a wrong one', async () => {
    await using at = await open(PASSWORD);
    const fields = await at.fields(path, AS_ADMIN);
    expect(fields['token']).toBeDefined();
    const wrong = { authorization: `Basic ${Buffer.from('admin:wrong').toString('base64')}` };
    for (const headers of [{}, wrong]) {
      expect((await at.post(fields, headers)).status).toBe(401);
      expect((await at.send({ do: 'pause', by: 'x' }, headers)).status).toBe(401);
      expect((await at.page.whileTimePasses(at.page.get(path, headers))).status).toBe(401);
    }
    expect(at.actor.orders).toEqual([]);
    expect((await at.post(fields, AS_ADMIN)).status).toBe(303);
    expect(at.actor.orders).toMatchObject([{ by: 'status page, admin at 127.0.0.1' }]);
  });

  it('where there is no password and it came through a proxy', async () => {
    await using at = await open();
    const fields = await at.fields(path);
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'x-forwarded-host']) {
      const headers = { [name]: '192.0.2.7' };
      expect((await at.page.get(path, headers)).status).toBe(403);
      expect((await at.post(fields, headers)).status).toBe(403);
      expect((await at.send({ do: 'pause', by: 'x' }, headers)).status).toBe(403);
    }
    expect(at.actor.orders).toEqual([]);
  });

  it('where there is no password and a proxy that tells nothing of itself passes it on by HTTP/1.0, as nginx does', async () => {
    await using at = await open();
    const { hostname, port, host } = new URL(at.page.server.url);
    const body = JSON.stringify({ do: 'pause', by: 'x' });
    const asked = async (version: string, request: string): Promise<string> => {
      const socket = connect(Number(port), hostname);
      socket.end(
        `${request} HTTP/${version}\r\nHost: ${host}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      return /HTTP\/\S+ (\d+)/.exec(await text(socket))?.[1] ?? '';
    };
    for (const request of ['GET /act?do=pause', 'POST /actions']) {
      expect([request, await asked('1.0', request)]).toEqual([request, '403']);
    }
    expect(at.actor.orders).toEqual([]);
    expect(await asked('1.1', 'GET /act?do=pause')).toBe('200');
  });

  it('by a name that somebody else has pointed here (DNS rebinding)', async () => {
    await using at = await open();
    const { hostname, port } = new URL(at.page.server.url);
    const answer = await new Promise<number>((done, fail) => {
      const headers = {
        host: 'evil.example',
        'content-type': 'application/json',
        origin: 'http://evil.example',
      };
      const sent = request(
        { hostname, port, path: '/actions', method: 'POST', headers },
        (response) => {
          response.resume();
          done(response.statusCode ?? 0);
        },
      );
      sent.on('error', fail);
      sent.end(JSON.stringify({ do: 'pause', by: 'x' }));
    });
    expect(answer).toBe(421);
    expect(at.actor.orders).toEqual([]);
  });
});
