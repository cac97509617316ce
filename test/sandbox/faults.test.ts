import { describe, expect, it } from 'vitest';
import { FAULT_SYNTAX } from '../../src/cli/commands.ts';
import { parseFault, parseReadings } from '../../src/cli/sandbox-options.ts';
import { FaultInjector, type FaultRule } from '../../src/sandbox/faults.ts';

/** Which of so many equal requests a rule hits, as a row of 0 and 1. */
function hits(rule: FaultRule, requests: number): string {
  const injector = new FaultInjector([rule]);
  const subject = { method: 'GET', path: '/a', query: new URLSearchParams() };
  return Array.from({ length: requests }, () => (injector.take(subject) ? '1' : '0')).join('');
}

describe('a fault rule', () => {
  it.each([
    [{ status: 500 }, '10000'],
    [{ status: 500, times: 2 }, '11000'],
    [{ status: 500, after: 3 }, '00010'],
    [{ status: 500, after: 1, times: 3 }, '01110'],
    [{ status: 500, times: Number.POSITIVE_INFINITY }, '11111'],
    [{ status: 500, times: 0 }, '00000'],
  ])('%o hits %s', (rule, row) => {
    expect(hits(rule, 5)).toBe(row);
  });

  it.each<[FaultRule, string, string, boolean]>([
    [{}, 'GET', '/anything', true],
    [{ method: 'get' }, 'GET', '/a', true],
    [{ method: 'PATCH' }, 'GET', '/a', false],
    [{ path: '/submissions' }, 'GET', '/submissions/sub_1/status', true],
    [{ path: '/submissions/' }, 'GET', '/submissions', false],
    [{ path: /\/status$/g }, 'PATCH', '/submissions/sub_1/status', true],
    [{ path: /^\/forms$/ }, 'GET', '/forms/form_1', false],
    [{ query: { page: '2' } }, 'GET', '/submissions?limit=100&page=2', true],
    [{ query: { page: '2' } }, 'GET', '/submissions?page=22', false],
    [{ query: { page: '2' } }, 'GET', '/submissions', false],
  ])('%o, asked about %s %s: %s', (rule, method, address, hit) => {
    const { pathname: path, searchParams: query } = new URL(address, 'http://x');
    const injector = new FaultInjector([rule, rule]);
    expect(injector.take({ method, path, query })).toBe(hit ? rule : undefined);
    // A pattern with the g flag remembers where it stopped.
    expect(injector.take({ method, path, query })).toBe(hit ? rule : undefined);
  });
});

describe('a fault rule in words', () => {
  it.each<[string, FaultRule]>([
    ['500', { status: 500 }],
    [
      'GET /submissions 500 after=3 times=2',
      { method: 'GET', path: '/submissions', status: 500, after: 3, times: 2 },
    ],
    ['  patch   503  applied ', { method: 'PATCH', status: 503, applied: true }],
    [
      '/submissions?page=2&limit=100 cut=100',
      { path: '/submissions', query: { page: '2', limit: '100' }, cutBodyAt: 100 },
    ],
    ['/forms drop', { path: '/forms', dropConnection: true }],
    ['GET hang times=always', { method: 'GET', hang: true, times: Number.POSITIVE_INFINITY }],
    ['429 retry-after=2', { status: 429, retryAfter: 2 }],
    ['delay=2s', { delayMs: 2_000 }],
    ['delay=20ms cut=0', { delayMs: 20, cutBodyAt: 0 }],
    [
      '502 body=<h1>Bad  gateway after=3</h1>',
      { status: 502, body: '<h1>Bad  gateway after=3</h1>' },
    ],
    ['500 body=', { status: 500, body: '' }],
  ])('%s', (text, rule) => {
    expect(parseFault(text)).toEqual(rule);
  });

  it.each(['hnag', 'constructor=1', 'GETT 500', '600', '500 times=two', 'delay=5h', '/forms? 500'])(
    '%j is refused',
    (text) => {
      expect(() => parseFault(text)).toThrow(`It takes ${FAULT_SYNTAX}`);
    },
  );
});

it('a reading in words is one that there is', () => {
  expect(parseReadings(['sort=ignored', 'maxLimit=9', 'wrapper=null', 'extraFields=true'])).toEqual(
    {
      sort: 'ignored',
      maxLimit: 9,
      wrapper: null,
      extraFields: true,
    },
  );
  expect(() => parseReadings(['sort=up'])).toThrow('sort is honoured, ignored, strict');
  expect(() => parseReadings(['sorted=ignored'])).toThrow('the points are sort,');
});
