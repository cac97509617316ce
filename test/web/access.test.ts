import { connect } from 'node:net';
import { fastify } from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { isLoopback } from '../../src/base/transport.ts';
import { guardAccess } from '../../src/web/access.ts';

/** A server with one page behind `password`; resolves to the status of a GET with this header from this address. */
async function openGuarded(password: string | undefined) {
  const app = fastify();
  await guardAccess(app, { adminPassword: password, logger: silentLogger });
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
  return { app, get, status };
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('access with a password', () => {
  afterEach(() => void vi.useRealTimers());

  it('is limited for a guesser, by address, and comes back with time', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { get, status } = await openGuarded('right');
    const guesses: number[] = [];
    for (let guess = 0; guess < 12; guess++) guesses.push(await status('Bearer wrong'));
    expect(guesses).toEqual([...times(10, 401), 429, 429]);
    vi.setSystemTime(Date.now() + 50_000);
    const { statusCode, headers } = await get('Bearer wrong');
    expect([statusCode, headers['retry-after'], headers.connection]).toEqual([429, '10', 'close']);
    expect(headers['www-authenticate']).toBeUndefined();
    expect(await status('Bearer wrong', '10.0.0.2')).toBe(401);
    vi.setSystemTime(Date.now() + 10_001);
    expect(await status('Bearer wrong')).toBe(401);
  });

  it('is open to the right one at once, however many wrong ones came from its address', async () => {
    const { status } = await openGuarded('right');
    for (let guess = 0; guess < 30; guess++) await status('Bearer wrong');
    expect(await status('Bearer right')).toBe(200);
    expect(await status(`Basic ${Buffer.from('admin:right').toString('base64')}`)).toBe(200);
    expect(await status('Bearer wrong')).toBe(429);
  });

  it('counts guesses that come side by side, and in one packet', async () => {
    const { app, status } = await openGuarded('right');
    const statuses = await Promise.all(times(500, 'Bearer wrong').map((guess) => status(guess)));
    expect(statuses.filter((one) => one === 401).length).toBeLessThanOrEqual(10);
    expect(await status('Bearer wrong')).toBe(429);
    const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(url.port), '127.0.0.1');
    const request = (word: string): string =>
      `GET / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${word}\r\n\r\n`;
    socket.write(times(30, 'wrong').map(request).join(''));
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    await app.close();
    const count = (code: string): number => text.split(`HTTP/1.1 ${code}`).length - 1;
    // The first that is too many closes the connection.
    expect(count('401')).toBeLessThanOrEqual(10);
    expect(count('429')).toBe(1);
  });

  it('counts by the address of the connection, not by headers', async () => {
    const { status } = await openGuarded('right');
    for (let guess = 0; guess < 11; guess++) {
      await status('Bearer wrong', '10.0.0.1', `203.0.113.${guess}`);
    }
    expect(await status('Bearer wrong', '10.0.0.1', '203.0.113.99')).toBe(429);
    // Behind a proxy, too, the right one is let in.
    expect(await status('Bearer right', '10.0.0.1', '203.0.113.100')).toBe(200);
  });

  it('counts an IPv6 network of 64 bits as one address', async () => {
    const { status } = await openGuarded('right');
    for (let guess = 0; guess < 11; guess++) await status('Bearer wrong', `2001:db8::${guess}`);
    expect(await status('Bearer wrong', '2001:db8::ffff')).toBe(429);
    expect(await status('Bearer wrong', '2001:db8:0:1::1')).toBe(401);
  });

  it('counts neither a visit without a password nor one with the right one', async () => {
    const { status } = await openGuarded('right');
    for (let visit = 0; visit < 50; visit++) expect(await status(undefined)).toBe(401);
    for (let visit = 0; visit < 50; visit++) expect(await status('bearer right')).toBe(200);
  });

  it('remembers a bounded number of addresses', async () => {
    const { status } = await openGuarded('right');
    const address = (host: number): string => `10.1.${host >> 8}.${host & 255}`;
    for (let guess = 0; guess < 10; guess++) await status('Bearer wrong', address(0));
    expect(await status('Bearer wrong', address(0))).toBe(429);
    for (let host = 1; host < 10_100; host++) await status('Bearer wrong', address(host));
    for (let guess = 0; guess < 9; guess++) await status('Bearer wrong', address(10_099));
    expect(await status('Bearer wrong', address(10_099))).toBe(429);
    expect(await status('Bearer wrong', address(0))).toBe(401);
  });

  it('takes HTTP Basic as admin only, and nothing that is broken', async () => {
    const { status } = await openGuarded('a:b');
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
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

describe('a local host', () => {
  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.1.2.3', '::1', '[::1]'])('is %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', 'localhost.example', '127.0.0.1.example', ''])(
    'is not %s',
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});
