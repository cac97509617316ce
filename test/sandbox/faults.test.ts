import { describe, expect, it } from 'vitest';
import { FaultInjector, type FaultRule } from '../support/faults.ts';

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
