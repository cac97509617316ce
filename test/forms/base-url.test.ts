import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { parseBaseUrl } from '../../src/forms/base-url.ts';

describe('parseBaseUrl', () => {
  it.each([
    ['https://api.example.com/v1', 'https://api.example.com', '/v1'],
    [' https://api.example.com/forms/v1//\n', 'https://api.example.com', '/forms/v1'],
    ['https://api.example.com', 'https://api.example.com', ''],
    ['HTTPS://API.example.com:8443/v1/', 'https://api.example.com:8443', '/v1'],
    ['http://localhost:3000/v1', 'http://localhost:3000', '/v1'],
    ['http://127.0.0.1:3000/v1', 'http://127.0.0.1:3000', '/v1'],
    ['http://127.8.9.10/v1', 'http://127.8.9.10', '/v1'],
    ['http://0x7f.1/v1', 'http://127.0.0.1', '/v1'],
    ['http://[::1]:3000/v1', 'http://[::1]:3000', '/v1'],
  ])('takes %j', (text, origin, path) => {
    expect(parseBaseUrl(text)).toMatchObject({ origin, path });
  });

  it.each([
    ['', /begins with https/],
    ['api.example.com/v1', /begins with https/],
    ['localhost:3000/v1', /begins with https/],
    ['ftp://example.com', /begins with https/],
    ['http://api.example.com/v1', /readable to api\.example\.com/],
    ['http://127.0.0.1.example.com/v1', /readable/],
    ['http://localhost.example.com/v1', /readable/],
    ['http://10.0.0.1/v1', /readable/],
    ['http://0.0.0.0/v1', /readable/],
    ['https://anna:hunter2@api.example.com/v1', /user name or password/],
    ['https://api.example.com/v1?key=hunter2', /no "\?"/],
    ['https://api.example.com/v1?', /no "\?"/],
    ['https://api.example.com/v1#hunter2', /no "#"/],
  ])('L15: refuses %j with an example and without repeating it', (text, message) => {
    let thrown: unknown;
    try {
      parseBaseUrl(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(MirrorError);
    expect(thrown).toMatchObject({ code: 'SETTINGS', message: expect.stringMatching(message) });
    expect((thrown as Error).message).toContain('Example: FORMS_API_URL=https://');
    expect(inspect(thrown)).not.toContain('hunter2');
  });
});
