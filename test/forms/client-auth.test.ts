import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { FormsApiOptions } from '../../src/forms/http.ts';
import { Source } from '../../src/forms/source.ts';
import { OddServer, sendJson } from '../support/odd-server.ts';
import { errorOf, KEY, makeHttp, makeSource } from './make-source.ts';

const FORM = { id: 'f1', name: 'F', slug: 'f' };
const ONCE = { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 };

describe('the key', () => {
  it.each([
    ['bearer', { authorization: `Bearer ${KEY}`, 'x-api-key': undefined }],
    ['x-api-key', { authorization: undefined, 'x-api-key': KEY }],
  ] as const)('travels as %s, and in no other header', async (auth, headers) => {
    await using server = await OddServer.start((_request, response) => sendJson(response, FORM));
    await makeSource(server.url, { auth }).form('f1');
    expect(server.requests[0]?.headers).toMatchObject({ accept: 'application/json' });
    expect({
      authorization: undefined,
      'x-api-key': undefined,
      ...server.requests[0]?.headers,
    }).toMatchObject(headers);
  });
});

it('a refused key is reported with the settings that contain it, and not tried again', async () => {
  await using server = await OddServer.start((_request, response) => sendJson(response, {}, 401));
  const error = await errorOf(makeSource(server.url).forms());
  expect(error).toMatchObject({ code: 'FORMS_UNAUTHORIZED', status: 401, retryable: false });
  expect(error.message).toMatch(/Check FORMS_API_KEY .*FORMS_API_AUTH \(now bearer\)/);
  expect(server.requests).toHaveLength(1);
});

describe('another address than that of the API', () => {
  it.each([301, 308, 304])('L15: a redirect (%i) is not followed with the key', async (status) => {
    await using elsewhere = await OddServer.start((_request, response) => sendJson(response, FORM));
    await using server = await OddServer.start((_request, response) => {
      response.writeHead(status, { location: `${elsewhere.url}/forms/f1?token=t0ken` }).end();
    });
    const error = await errorOf(makeSource(server.url).form('f1'));
    expect(error).toMatchObject({ code: 'FORMS_REFUSED', status });
    expect(error.message).toContain(`answered with a redirect (${status}). It is not followed`);
    expect(error.message).not.toContain('t0ken');
    expect([server.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
  });
});

describe('L11, L15: no error holds the key or an answer', () => {
  const ANSWER = 'odpověď-která-nesmí-ven';

  async function everyCall(baseUrl: string, options: Partial<FormsApiOptions>): Promise<Error[]> {
    const notices: string[] = [];
    const calls: ((source: Source) => Promise<unknown>)[] = [
      (source) => source.forms(),
      (source) => source.page({ formId: 'f1' }),
      (source) => source.submission('s1'),
      (source) => source.setStatus('s1', 'DONE'),
    ];
    const errors: Error[] = [];
    for (const call of calls) {
      const retry = { ...ONCE, attempts: 2 };
      await using http = makeHttp(baseUrl, {
        retry,
        requestTimeoutMs: 100,
        events: { emit: (name, event) => void notices.push(inspect([name, event])) },
        ...options,
      });
      const source = new Source(http, new AbortController().signal);
      const error = await call(source).catch((thrown: unknown) => thrown);
      if (error instanceof Error) errors.push(error);
    }
    return [...errors, new Error(notices.join())];
  }

  /** Everything that a careless log could print. */
  function printed(errors: readonly Error[]): string {
    const hidden = inspect(errors, { depth: Infinity, showHidden: true, getters: true });
    return `${hidden} ${JSON.stringify(errors)} ${errors.map((error) => error.stack).join()}`;
  }

  it.each(['bearer', 'x-api-key'] as const)(
    'even from a server that repeats everything (%s)',
    async (auth) => {
      const statuses = [200, 302, 400, 401, 403, 404, 409, 422, 429, 500];
      for (const status of statuses) {
        await using server = await OddServer.start(({ headers, body, url }, response) => {
          const echo = `${JSON.stringify(headers)} ${body} ${decodeURIComponent(url)} ${KEY} ${ANSWER}`;
          const json = {
            message: echo,
            fields: { a: echo, [KEY]: 'x', b: `not ${ANSWER.toUpperCase()}` },
            id: echo,
          };
          response.writeHead(status, {
            'content-type': 'application/json',
            location: `/${KEY}?${KEY}`,
            'retry-after': '0',
          });
          response.end(status === 200 ? `{"broken": ${echo}` : JSON.stringify(json));
        });
        const errors = await everyCall(server.url, { auth });
        const text = printed(errors);
        for (const secret of [KEY, ANSWER, ANSWER.toUpperCase()])
          expect(text).not.toContain(secret);
        expect(errors.length).toBeGreaterThan(status === 200 ? 3 : 4);
      }
    },
  );
});
