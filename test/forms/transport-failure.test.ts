import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { toTransportFailure } from '../../src/forms/transport-failure.ts';

const context = {
  base: { origin: 'https://api.example.com', host: 'api.example.com', path: '/v1' },
  timeoutMs: 30_000,
  inBody: false,
};

const coded = (code: string): Error => Object.assign(new Error('s3cret'), { code, data: 's3cret' });

describe('toTransportFailure', () => {
  it.each([
    ['ECONNREFUSED', 'nothing listens at api.example.com'],
    ['ENOTFOUND', '(DNS)'],
    ['EAI_AGAIN', 'just now (DNS)'],
    ['EHOSTUNREACH', 'no network route'],
    ['ENETUNREACH', 'no network route'],
    ['UND_ERR_CONNECT_TIMEOUT', 'took no connection in time'],
  ])('%s: nothing was sent, and it may pass', (code, words) => {
    const failure = toTransportFailure(coded(code), context);
    expect(failure).toMatchObject({ code, neverSent: true, transient: true, inBody: false });
    expect(failure.message).toContain(words);
    expect(failure.remedy).toContain('FORMS_API_URL');
  });

  it.each([
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'for another host'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'not one that this machine trusts'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'not one that this machine trusts'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'not one that this machine trusts'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'not one that this machine trusts'],
    ['CERT_NOT_YET_VALID', 'not one that this machine trusts'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak https'],
    ['EPROTO', 'does not speak https'],
  ])('%s: nothing was sent, and someone has to change something', (code, words) => {
    const failure = toTransportFailure(coded(code), context);
    expect(failure).toMatchObject({ neverSent: true, transient: false });
    expect(failure.message).toContain(words);
    expect(failure.remedy).toContain('NODE_EXTRA_CA_CERTS');
  });

  it.each([
    ['IDLE_TIMEOUT', 'did not answer within 30 s'],
    ['UND_ERR_SOCKET', 'broke before an answer came'],
    ['ECONNRESET', 'broke before an answer came'],
    ['HPE_INVALID_CONSTANT', 'not HTTP'],
    ['UND_ERR_HEADERS_OVERFLOW', 'not HTTP'],
    ['EMFILE', 'failed (EMFILE)'],
  ])('%s: something may have been sent', (code, words) => {
    const failure = toTransportFailure(coded(code), context);
    expect(failure).toMatchObject({ neverSent: false, transient: true });
    expect(failure.message).toContain(words);
  });

  it.each([
    ['IDLE_TIMEOUT', 'nothing more came for 30 s', true],
    ['TOTAL_TIMEOUT', 'took too long', true],
    ['UND_ERR_SOCKET', 'cut short (UND_ERR_SOCKET)', true],
    ['Z_DATA_ERROR', 'cut short (Z_DATA_ERROR)', true],
    ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'larger than 64 MiB', false],
    ['ERR_BUFFER_TOO_LARGE', 'larger than 64 MiB', false],
  ])('%s in a body', (code, words, transient) => {
    const failure = toTransportFailure(coded(code), { ...context, inBody: true });
    expect(failure).toMatchObject({ neverSent: false, inBody: true, transient });
    expect(failure.message).toContain(words);
  });

  it('sees into an error for several addresses', () => {
    const several = new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')], 's3cret');
    expect(toTransportFailure(several, context)).toMatchObject({
      code: 'ECONNREFUSED',
      neverSent: true,
    });
  });

  it('L15: takes nothing over but a constant', () => {
    const errors = [
      coded('ECONNRESET'),
      coded('my s3cret'),
      coded('s3cret'),
      new Error('s3cret'),
      's3cret',
      null,
    ];
    for (const error of errors) {
      expect(
        inspect(toTransportFailure(error, context), { showHidden: true, depth: 9 }),
      ).not.toContain('s3cret');
    }
  });
});
