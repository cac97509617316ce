import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { transportError } from '../../src/forms/errors.ts';
import { getRequest } from '../../src/forms/request.ts';

const request = getRequest('/forms');
const base = { origin: 'https://api.example.com', host: 'api.example.com', path: '/v1' };
const context = { base, proxy: undefined };

const coded = (code: string): Error => Object.assign(new Error('s3cret'), { code, data: 's3cret' });

describe('a request without a whole response', () => {
  it.each([
    ['ECONNREFUSED', 'refuses connections'],
    ['ENOTFOUND', '(DNS)'],
    ['EAI_AGAIN', '(DNS)'],
    ['EHOSTUNREACH', 'does not answer'],
    ['UND_ERR_CONNECT_TIMEOUT', 'does not answer'],
    ['UND_ERR_HEADERS_TIMEOUT', 'does not answer'],
    ['UND_ERR_BODY_TIMEOUT', 'does not answer'],
    ['UND_ERR_SOCKET', 'broke the connection off'],
    ['HPE_INVALID_CONSTANT', 'broke the connection off'],
    ['Z_DATA_ERROR', 'broke the connection off'],
    ['EMFILE', 'broke the connection off'],
  ])('is tried again: %s', (code, words) => {
    const error = transportError(request, coded(code), context);
    expect(error).toMatchObject({ code: 'FORMS_FAILED', retryable: true });
    expect(error.message).toContain(`${words} (${code})`);
  });

  it.each([
    ['CERT_HAS_EXPIRED', 'certificate that is not accepted'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate that is not accepted'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate that is not accepted'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate that is not accepted'],
    ['UND_ERR_PRX_TLS', 'certificate that is not accepted'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak https'],
    ['EPROTO', 'does not speak https'],
  ])('waits for a person to change something: %s', (code, words) => {
    const error = transportError(request, coded(code), context);
    expect(error.retryable).toBe(false);
    expect(error.message).toContain(`${words} (${code})`);
    expect(error.message).toContain('NODE_EXTRA_CA_CERTS');
  });

  it.each(['TOTAL_TIMEOUT', 'UND_ERR_RES_EXCEEDED_MAX_SIZE', 'ERR_BUFFER_TOO_LARGE'])(
    '%s in a body is not requested again',
    (code) => {
      const error = transportError(request, coded(code), context);
      expect(error).toMatchObject({ code: 'FORMS_FAILED', retryable: false });
    },
  );

  it('is recognized if several addresses were tried', () => {
    const several = new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')], 's3cret');
    expect(transportError(request, several, context).message).toContain('refuses connections');
  });

  it.each([coded('ECONNRESET'), coded('my s3cret'), 's3cret'])(
    'L15: copies only constants',
    (error) => {
      const shown = inspect(transportError(request, error, context), {
        showHidden: true,
        depth: 9,
      });
      expect(shown).not.toContain('s3cret');
    },
  );
});
