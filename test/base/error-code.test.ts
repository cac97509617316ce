import { describe, expect, it } from 'vitest';
import { errorCode } from '../../src/base/errors.ts';

const withCode = (code: unknown, cause?: unknown): Error =>
  Object.assign(new Error('x', { cause }), { code });

describe('the code of an error', () => {
  it('is its own, as Node, PostgreSQL and TLS set it', () => {
    const codes = ['ENOENT', '28P01', '42501', 'ERR_TLS_CERT_ALTNAME_INVALID'];
    expect(codes.map((code) => errorCode(withCode(code)))).toEqual(codes);
  });

  it('may be the code of a cause, or of the first address that was tried', () => {
    expect(errorCode(new Error('x', { cause: withCode('ECONNRESET') }))).toBe('ECONNRESET');
    const tried = new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')]);
    expect(errorCode(tried)).toBe('ECONNREFUSED');
    expect(errorCode(withCode('OUTER', withCode('INNER')))).toBe('OUTER');
  });

  it('is undefined for a value without a code', () => {
    const values = [new Error('x'), withCode(20), 'ENOENT', null, undefined, { code: 'ENOENT' }];
    expect(values.map(errorCode)).toEqual(values.map(() => undefined));
  });

  it('L11, L15: is never free text', () => {
    const texts = ['Jana Nováková', 'secret', 'A B', '', 'X'.repeat(61)];
    expect(texts.map((text) => errorCode(withCode(text)))).toEqual(texts.map(() => undefined));
  });

  it('is found without an endless search in a circle of causes or a long chain', () => {
    const circle = new Error('x');
    circle.cause = circle;
    expect(errorCode(circle)).toBeUndefined();
  });
});
