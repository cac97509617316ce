import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { refusalText, transportError } from '../../src/forms/errors.ts';
import { getRequest } from '../../src/forms/request.ts';

const request = getRequest('/forms');
const base = { origin: 'https://api.example.com', host: 'api.example.com', path: '/v1' };
const context = { base, proxy: undefined, timeoutMs: 30_000, inBody: false };

const coded = (code: string): Error => Object.assign(new Error('s3cret'), { code, data: 's3cret' });

describe('a request without a whole response', () => {
  it.each([
    ['ECONNREFUSED', 'nothing listens at api.example.com'],
    ['ENOTFOUND', '(DNS)'],
    ['EAI_AGAIN', 'just now (DNS)'],
    ['EHOSTUNREACH', 'no network route'],
    ['UND_ERR_CONNECT_TIMEOUT', 'took no connection in time'],
    ['UND_ERR_HEADERS_TIMEOUT', 'did not answer within 30 s'],
    ['UND_ERR_SOCKET', 'broke before an answer came'],
    ['HPE_INVALID_CONSTANT', 'not HTTP'],
    ['EMFILE', 'failed (EMFILE)'],
  ])('is tried again: %s', (code, words) => {
    const error = transportError(request, coded(code), context);
    expect(error).toMatchObject({ code: 'FORMS_UNREACHABLE', isWorthRepeating: true });
    expect(error.message).toContain(words);
  });

  it.each([
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'for another host'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'not one that this machine trusts'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'not one that this machine trusts'],
    ['CERT_NOT_YET_VALID', 'not one that this machine trusts'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak https'],
    ['EPROTO', 'does not speak https'],
  ])('waits for someone who changes something: %s', (code, words) => {
    const error = transportError(request, coded(code), context);
    expect(error).toMatchObject({ retryable: false, isWorthRepeating: false });
    expect(error.message).toContain(words);
    expect(error.message).toContain('NODE_EXTRA_CA_CERTS');
  });

  it.each([
    ['UND_ERR_BODY_TIMEOUT', 'nothing more came for 30 s', true, true],
    ['TOTAL_TIMEOUT', 'took too long', true, false],
    ['UND_ERR_SOCKET', 'cut short (UND_ERR_SOCKET)', true, true],
    ['Z_DATA_ERROR', 'cut short (Z_DATA_ERROR)', true, true],
    ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'larger than 64 MiB', false, false],
  ])('%s in a body', (code, words, retryable, isWorthRepeating) => {
    const error = transportError(request, coded(code), { ...context, inBody: true });
    expect(error).toMatchObject({ code: 'FORMS_FAILED', retryable, isWorthRepeating });
    expect(error.message).toContain(words);
  });

  it('is seen into where several addresses were tried', () => {
    const several = new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')], 's3cret');
    expect(transportError(request, several, context).message).toContain('nothing listens');
  });

  it.each([coded('ECONNRESET'), coded('my s3cret'), 's3cret'])(
    'L15: takes nothing over but a constant',
    (error) => {
      const shown = inspect(transportError(request, error, context), {
        showHidden: true,
        depth: 9,
      });
      expect(shown).not.toContain('s3cret');
    },
  );
});

describe('what a refusal says', () => {
  const read = (fields: unknown): string =>
    refusalText(JSON.stringify({ message: 'Anna Nová', fields }), ['status', 'page']);

  it.each<[string, unknown, string]>([
    [
      'an object of texts',
      { status: 'is wrong', page: 'is high' },
      'status: is wrong; page: is high',
    ],
    ['an object of lists', { status: ['is wrong', 'is long'] }, 'status: is wrong; is long'],
    ['a list of objects', [{ field: 'status', error: 'is wrong' }], 'status: is wrong'],
    ['no message', [{ field: 'status' }, 7, null], 'status: refused'],
    ['nothing usable', 'all', ''],
  ])('is read from %s', (_name, fields, expected) => {
    expect(read(fields)).toBe(expected);
  });

  it('L11: is shown only about what was sent, bounded and well-formed', () => {
    expect(read({ status: 'cannot follow PAID', field_1: '"Anna Nová" is too short' })).toBe(
      'status: cannot follow PAID',
    );
    expect(read({ status: `\ud800${'x'.repeat(5_000)}` })).toHaveLength(208);
    for (const body of ['', '<html>', '[]', 'null', '{"fields":'])
      expect(refusalText(body, ['status'])).toBe('');
  });
});
