import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { ProxySettings } from '../../src/base/proxy.ts';
import { Source } from '../../src/forms/source.ts';
import { type ConnectProxy, startProxy, startTlsOrigin } from '../support/connect-proxy.ts';
import { OddServer, sendJson } from '../support/odd-server.ts';
import { errorOf, KEY, makeHttp, makeSource } from './make-source.ts';

const FORM = { id: 'f1', name: 'F', slug: 'f' };
const retry = { attempts: 3, baseDelayMs: 1, maxDelayMs: 1 };
const PASSWORD = 'pr0xy-s3cret';

const through = (host: string, user = ''): ProxySettings => ({
  url: new URL(`http://${user}${host}`),
  except: [],
});

/** How a source failed, after how many attempts. */
async function failureThrough(proxy: ProxySettings, options = {}): Promise<[Error, number]> {
  await using http = makeHttp('https://forms.test/v1', { retry, proxy, ...options });
  const source = new Source(http, new AbortController().signal);
  return [await errorOf(source.forms()), source.requests];
}

const answering = (text: string): Promise<ConnectProxy> => startProxy(() => ({ text }));

describe('a proxy that refuses the connection', () => {
  it.each([
    ['502 Bad Gateway', 'gives no whole answer'],
    ['407 Who', 'gives no whole answer'],
    // It would lead elsewhere.
    ['302 Found\r\nLocation: http://evil.test/', 'gives no whole answer'],
    ['', 'gives no whole answer'],
  ])('is reported with what to do: %j', async (answer, words) => {
    await using proxy = await answering(answer === '' ? '' : `HTTP/1.1 ${answer}\r\n\r\n`);
    const [error, attempts] = await failureThrough(through(proxy.host));
    expect(error).toMatchObject({ code: 'FORMS_FAILED', status: null });
    expect(error.message).toContain(`forms.test or the proxy ${proxy.host} ${words}`);
    expect(error.message).toContain('Check FORMS_API_URL, HTTPS_PROXY and NO_PROXY');
    expect(attempts).toBe(3);
    expect(new Set(proxy.requests)).toEqual(new Set(['CONNECT forms.test:443 HTTP/1.1']));
    expect(proxy.seen()).not.toContain(KEY);
  });

  it('L15: gets its user name and password, which no message contains', async () => {
    const given: (string | undefined)[] = [];
    await using proxy = await startProxy((_target, authorization) => {
      given.push(authorization);
      return { text: 'HTTP/1.1 407 Who\r\n\r\n' };
    });
    const settings = through(proxy.host, `ann:${encodeURIComponent(`${PASSWORD}@`)}@`);
    const [error] = await failureThrough(settings);
    expect(new Set(given)).toEqual(new Set([`Basic ${btoa(`ann:${PASSWORD}@`)}`]));
    expect(error).toMatchObject({ code: 'FORMS_FAILED' });
    const shown = inspect(error, { depth: 9, showHidden: true });
    expect(shown).not.toContain(PASSWORD);
    expect(shown).not.toContain(btoa(`ann:${PASSWORD}@`));
  });
});

describe('a proxy that intercepts connections', () => {
  it('gets no key if it has its own certificate', async () => {
    await using server = await OddServer.start((_request, response) => sendJson(response, FORM));
    await using listener = await startTlsOrigin(server.port);
    await using proxy = await startProxy(() => ({ port: listener.port }));
    const [error, attempts] = await failureThrough(through(proxy.host));
    expect(error.message).toContain(
      `forms.test or the proxy ${proxy.host} has no TLS that is accepted`,
    );
    expect(attempts).toBe(1);
    expect(server.requests).toHaveLength(0);
  });
});

describe('a loopback host', () => {
  it('is reached without the proxy', async () => {
    await using server = await OddServer.start((_request, response) => sendJson(response, FORM));
    await using proxy = await answering('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    const client = makeSource(`http://127.0.0.1:${server.port}/v1`, { proxy: through(proxy.host) });
    expect(await client.form('f1')).toMatchObject({ id: 'f1' });
    expect(proxy.requests).toEqual([]);
  });
});
