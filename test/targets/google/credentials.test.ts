import { generateKeyPairSync } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { JWT, UserRefreshClient } from 'google-auth-library';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MirrorError } from '../../../src/base/errors.ts';
import { openAccount } from '../../../src/targets/google/credentials.ts';
import { scratchFolder } from '../../support/scratch.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const EMAIL = 'mirror@project.iam.gserviceaccount.com';
const SCOPE = 'https://www.googleapis.com/auth/spreadsheets';
const KEY = { type: 'service_account', client_email: EMAIL, private_key: privateKey };

describe('credentials', () => {
  let folder: string;
  const file = (content: string): string => {
    const path = join(folder, 'key.json');
    writeFileSync(path, content);
    return path;
  };
  beforeEach(() => {
    folder = scratchFolder('key');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are a key file, or a key in a variable, plain or in base64', async () => {
    const json = JSON.stringify(KEY);
    const sources = [
      { credentialsFile: file(json) },
      { credentialsJson: json },
      { credentialsJson: Buffer.from(json).toString('base64') },
    ];
    for (const source of sources) {
      const account = await openAccount(source, SCOPE);
      expect(account).toMatchObject({ email: EMAIL });
      expect(account.auth).toBeInstanceOf(JWT);
      expect((account.auth as JWT).scopes).toEqual([SCOPE]);
    }
  });

  it('are taken from the variable first', async () => {
    const other = JSON.stringify({ ...KEY, client_email: 'other@example.com' });
    const account = await openAccount(
      {
        credentialsFile: file(other),
        credentialsJson: JSON.stringify(KEY),
      },
      SCOPE,
    );
    expect(account.email).toBe(EMAIL);
  });

  it('keep line ends that an environment file turned into backslash and n', async () => {
    const damaged = { ...KEY, private_key: privateKey.replaceAll('\n', '\\n') };
    const account = await openAccount({ credentialsJson: JSON.stringify(damaged) }, SCOPE);
    expect((account.auth as JWT).key).toBe(privateKey);
  });

  it('may be a person’s own sign-in', async () => {
    const user = {
      type: 'authorized_user',
      client_id: 'x',
      client_secret: 'y',
      refresh_token: 'z',
    };
    const account = await openAccount({ credentialsJson: JSON.stringify(user) }, SCOPE);
    expect(account.auth).toBeInstanceOf(UserRefreshClient);
    expect(account.email).toBeUndefined();
  });

  it('may be Google’s application default credentials', async () => {
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file(JSON.stringify(KEY)));
    expect(await openAccount({}, SCOPE)).toMatchObject({ email: EMAIL });
  });

  it.each([
    [
      'a file that is not there',
      { credentialsFile: '/nowhere/key.json' },
      /names \/nowhere\/key\.json, but there is no such file/,
    ],
    ['no JSON', { credentialsJson: '{"private_key": "hunter2' }, /holds no JSON/],
    ['no key', { credentialsJson: '{"client_email":"a@b"}' }, /no service account key/],
    ['a list', { credentialsJson: '[1]' }, /no JSON|no service account key/],
    [
      'an OAuth client',
      { credentialsJson: '{"installed":{"client_id":"x","client_secret":"hunter2"}}' },
      /no service account key/,
    ],
  ])('are refused with %s, without quoting it', async (_, source, message) => {
    const error: unknown = await openAccount(source, SCOPE).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MirrorError);
    expect(error).toMatchObject({ code: 'SETTINGS', retryable: false });
    expect((error as MirrorError).message).toMatch(message);
    // L15: not even in the parts of the error that should never be printed.
    expect(inspect(error, { depth: 10 })).not.toContain('hunter2');
  });

  it('are reported with what to do if they are missing', async () => {
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(folder, 'nothing.json'));
    await expect(openAccount({}, SCOPE)).rejects.toMatchObject({
      code: 'TARGET_DENIED',
      message: expect.stringContaining('Create a service account'),
    });
  });
});
