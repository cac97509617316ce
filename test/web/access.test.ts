import { afterEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { isLoopback } from '../../src/base/transport.ts';
import { openGuarded } from '../../src/web/access.ts';

/** A server with one page behind a password. Resolves to the response to a GET with this header from this address. */
async function open(adminPassword = 'right') {
  const app = await openGuarded({
    place: { host: '127.0.0.1', port: 0, variable: 'PORT' },
    adminPassword,
    logger: silentLogger,
  });
  app.get('/', async () => 'inside');
  const get = (authorization: string | undefined, remoteAddress = '10.0.0.1', forwarded?: string) =>
    app.inject({
      url: '/',
      remoteAddress,
      headers: {
        host: 'localhost',
        ...(authorization !== undefined && { authorization }),
        ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }),
      },
    });
  const status = async (...of: Parameters<typeof get>): Promise<number> =>
    (await get(...of)).statusCode;
  return { get, status };
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

describe('access with a password', () => {
  afterEach(() => void vi.useRealTimers());

  it('is limited for an attacker who guesses, by the address of the connection, and possible again later', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { get, status } = await open();
    const guesses: number[] = [];
    for (let guess = 0; guess < 12; guess++)
      guesses.push(await status('Bearer wrong', '10.0.0.1', `203.0.113.${guess}`));
    expect(guesses).toEqual([...times(10, 401), 429, 429]);
    vi.setSystemTime(Date.now() + 50_000);
    const { statusCode, headers } = await get('Bearer wrong');
    expect([statusCode, headers['retry-after'], headers.connection]).toEqual([429, '10', 'close']);
    expect(headers['www-authenticate']).toBeUndefined();
    expect(await status('Bearer wrong', '10.0.0.2')).toBe(401);
    vi.setSystemTime(Date.now() + 10_001);
    expect(await status('Bearer wrong')).toBe(401);
  });

  it('is possible at once with the right one, regardless of wrong ones from its address', async () => {
    const { status } = await open();
    for (let guess = 0; guess < 30; guess++) await status('Bearer wrong', '2001:db8::1');
    expect(await status('Bearer right', '2001:db8::1')).toBe(200);
    expect(await status(basic('admin:right'), '2001:db8::1')).toBe(200);
    // An IPv6 network counts as one address.
    expect(await status('Bearer wrong', '2001:db8::ffff')).toBe(429);
    expect(await status('Bearer wrong', '2001:db8:0:1::1')).toBe(401);
  });

  it('does not count visits without a password or with the right one', async () => {
    const { status } = await open();
    for (let visit = 0; visit < 20; visit++) expect(await status(undefined)).toBe(401);
    for (let visit = 0; visit < 20; visit++) expect(await status('bearer right')).toBe(200);
  });

  it('accepts HTTP Basic only as admin, and no broken header', async () => {
    const { status } = await open('a:b');
    const headers = [
      basic('admin:a:b'),
      basic('a:b'),
      basic('admin'),
      'Basic',
      'Basic %%%',
      'Bearer',
      '',
    ];
    const statuses = await Promise.all(headers.map((header, at) => status(header, `10.0.1.${at}`)));
    expect(statuses).toEqual([200, ...times(6, 401)]);
  });
});

it('only loopback addresses are local', () => {
  const local = ['localhost', 'LOCALHOST', '127.1.2.3', '::1', '[::1]'];
  const others = ['0.0.0.0', '::', '10.0.0.1', 'localhost.example', '127.0.0.1.example', ''];
  expect([...local, ...others].filter(isLoopback)).toEqual(local);
});
