import { describe, expect, it } from 'vitest';
import { Access } from '../../src/status/access.ts';
import { isLoopback } from '../../src/base/loopback.ts';
import { isLocalHostHeader } from '../../src/status/host-guard.ts';
import { ManualClock } from './manual-clock.ts';

describe('access with a password', () => {
  it('is bounded for whoever guesses, by address, and comes back with time', async () => {
    const clock = new ManualClock();
    const access = new Access('right', clock);
    const guesses = Array.from(
      { length: 12 },
      () => access.judge('Bearer wrong', '10.0.0.1').outcome,
    );
    expect(guesses).toEqual([...Array.from({ length: 10 }, () => 'wrong'), 'limited', 'limited']);
    // Not even the right one is looked at: that would be an answer.
    expect(access.judge('Bearer right', '10.0.0.1')).toEqual({
      outcome: 'limited',
      retryAfterSeconds: 6,
    });
    expect(access.judge('Bearer right', '10.0.0.2').outcome).toBe('granted');
    await clock.advance(6_001);
    expect(access.judge('Bearer right', '10.0.0.1').outcome).toBe('granted');
  });

  it('counts no visit without a password as a guess', () => {
    const access = new Access('right', new ManualClock());
    for (let visit = 0; visit < 50; visit++) {
      expect(access.judge(undefined, '10.0.0.1').outcome).toBe('missing');
    }
    expect(access.judge('bearer right', '10.0.0.1').outcome).toBe('granted');
  });

  it('remembers a bounded number of addresses', () => {
    const access = new Access('right', new ManualClock());
    for (let host = 0; host < 10_100; host++) access.judge('Bearer wrong', `h${host}`);
    for (let guess = 0; guess < 9; guess++) access.judge('Bearer wrong', 'h10099');
    expect(access.judge('Bearer right', 'h10099').outcome).toBe('limited');
    expect(access.judge('Bearer right', 'h0').outcome).toBe('granted');
  });

  it('takes HTTP Basic as admin only, and nothing that is broken', () => {
    const access = new Access('a:b', new ManualClock());
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    const outcomes = [
      basic('admin:a:b'),
      basic('a:b'),
      basic('admin'),
      'Basic',
      'Basic %%%',
      'Bearer',
      '',
    ];
    expect(outcomes.map((header, at) => access.judge(header, `h${at}`).outcome)).toEqual([
      'granted',
      'wrong',
      'wrong',
      'wrong',
      'wrong',
      'wrong',
      'wrong',
    ]);
  });

  it('without a password is for all', () => {
    expect(new Access(undefined, new ManualClock()).judge(undefined, 'h').outcome).toBe('granted');
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

  it('is named by a Host header with or without a port', () => {
    expect(['localhost:1', '127.0.0.1', '[::1]:8080'].every(isLocalHostHeader)).toBe(true);
    const foreign = [
      '',
      'evil.example',
      'localhost@evil.example',
      'evil.example/localhost',
      'a b',
      ':80',
    ];
    expect(foreign.filter(isLocalHostHeader)).toEqual([]);
    expect(isLocalHostHeader(undefined)).toBe(false);
  });
});
