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
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'UND_ERR_CONNECT_TIMEOUT',
    'UND_ERR_HEADERS_TIMEOUT',
    'UND_ERR_BODY_TIMEOUT',
    'UND_ERR_SOCKET',
    'HPE_INVALID_CONSTANT',
    'Z_DATA_ERROR',
    'EMFILE',
  ])('is tried again: %s', (code) => {
    const error = transportError(request, coded(code), context);
    expect(error).toMatchObject({ code: 'FORMS_FAILED', retryable: true });
    expect(error.message).toContain(`api.example.com gives no whole answer (${code})`);
  });

  it.each([
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UND_ERR_PRX_TLS',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'EPROTO',
  ])('waits for a person to change something: %s', (code) => {
    const error = transportError(request, coded(code), context);
    expect(error.retryable).toBe(false);
    expect(error.message).toContain(`has no TLS that is accepted (${code})`);
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
    expect(transportError(request, several, context).message).toContain('(ECONNREFUSED)');
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
