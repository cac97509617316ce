import { describe, expect, it } from 'vitest';
import { looksLikeKey } from '../../src/base/key-like.ts';
import { SETTING_NAMES, settingOf, variableOf } from '../../src/settings/settings-table.ts';
import { problemsOf, SOURCE } from '../support/settings.ts';

const OTHER_KEY = 'fsk_9f8e7d6c5b4a39281706f5e4';
/** Another key, random tokens, and an address with a password: each one in one piece. */
const PASTED: readonly string[] = [
  OTHER_KEY,
  'sk_live_QwErTyUiOpAsDfGhJkLzXcVb',
  'hJ2mQ9xT4bN7+vK1wR8cF5yL0pZ3sD6gA=',
  '550e8400-e29b-41d4-a716-446655440000',
  'https://ann:s3cr3tpassw0rd@db.example.com/x',
];

/** The text, and its rest if a message quotes only its beginning. */
const tracesOf = (secret: string): string[] =>
  [secret.slice(0, 16), secret.slice(-12), secret.toLowerCase().slice(0, 16)].filter(
    (part) => part.length >= 12,
  );

/** The output if it shows a part of the secret; otherwise ''. */
const leakOf = (secret: string, output: string): string =>
  tracesOf(secret).some((trace) => output.includes(trace)) ? output : '';

describe('a key in the wrong setting', () => {
  it('L15: is in no reported mistake, completely or in part, including those of a named target', () => {
    for (const name of SETTING_NAMES) {
      for (const text of [...PASTED, SOURCE.FORMS_API_KEY]) {
        for (const written of [text, `x,${text}`, `"${text}"`, `KEY=${text}`]) {
          const { secret } = settingOf(name);
          const named = variableOf(name, 'a');
          const env = named === name ? { [name]: written } : { TARGETS: 'a', [named]: written };
          for (const given of [env, ...(secret ? [{ [`${name}_FILE`]: written }] : [])]) {
            const told = JSON.stringify(problemsOf({ ...SOURCE, ...given }, { [written]: text }));
            expect([name, written, leakOf(text, told)]).toEqual([name, written, '']);
          }
        }
      }
    }
  });

  it('L15: is not shown if it is a line of .env', () => {
    for (const text of PASTED)
      for (const line of [`${text}==`, `${text}\nHOST=::1`, `KEY_${text}=x`]) {
        const told = JSON.stringify(problemsOf(SOURCE, { '.env': line }));
        expect([line, leakOf(text, told)]).toEqual([line, '']);
      }
    expect(problemsOf(SOURCE, { '.env': `${OTHER_KEY}=x` })).toMatchObject([
      { variable: '.env', message: expect.stringContaining('holds a line that') as string },
    ]);
  });

  it('L15: is refused even if it has no other mistake, and even if it hardly looks like a key', () => {
    const key = 'Correct-horse-battery';
    for (const [name, value] of [
      ['DATA_DIR', key],
      ['TARGET_FORMS', `contact,${key}`],
      ['HTTPS_PROXY', `http://${key}:8080`],
      ['ADMIN_PASSWORD', key],
      ['STATUS_URL', `https://mirror.example.com/${key}`],
    ] as const) {
      expect(problemsOf({ ...SOURCE, FORMS_API_KEY: key, [name]: value })).toMatchObject([
        {
          variable: name,
          message: 'contains the value of FORMS_API_KEY, which must not be used anywhere else',
        },
      ]);
    }
    for (const name of ['DATA_DIR', 'HOST', 'GOOGLE_APPLICATION_CREDENTIALS', 'TARGETS']) {
      expect(problemsOf({ ...SOURCE, [name]: OTHER_KEY })).toMatchObject([
        { variable: name, message: expect.stringContaining('looks like a key') as string },
      ]);
    }
  });

  it('L15: is hidden even if it is only known as a password of another setting', () => {
    const env = { ...SOURCE, QUEUE_URL: 'rediss://:correct%20horse@r.example.com' };
    for (const text of ['correct horse', 'correct%20horse']) {
      expect(JSON.stringify(problemsOf({ ...env, SYNC_EVERY: text }))).not.toContain('horse');
    }
    expect(
      JSON.stringify(
        problemsOf({ ...SOURCE, ADMIN_PASSWORD: '12345678901', SYNC_EVERY: '12345678901' }),
      ),
    ).not.toContain('1234');
  });
});

describe('a text that resembles a key', () => {
  it.each([
    ...PASTED,
    'Bearer fk_live_abcdefghij0123456789',
    'eyJhbGciOi.eyJzdWIiOi.c2ln',
    'https://hooks.slack.com/services/T0ABCDEF1/B0ABCDEF2/a1B2c3D4e5F6a7B8c9D0e1F2',
    '-----BEGIN PRIVATE KEY-----',
  ])('%s', (text) => {
    expect(looksLikeKey(text)).toBe(true);
  });

  it.each([
    'field_1700000000001_email,contact:*',
    'job-application:field_1700000000002_name',
    '/var/lib/forms-mirror/2025-data',
    '/run/secrets/my-project-1a2b3c4d5e6f.json',
    './service-account.json',
    '/media/ann/550e8400-e29b-41d4-a716-446655440000/forms',
    '/var/lib/docker/volumes/9f8e7d6c5b4a392817069f8e7d6c5b4a392817069f8e7d6c5b4a392817069f8e/_data',
    'https://1a2b3c4d5e6f7a8b9c0d.ngrok-free.app',
    'alerts-aaaab3c4d5e6f7a8b9c0@example.slack.com,ops@example.com',
    'Mirror <0a1b2c3d4e5f6a7b8c9d@example.com>',
    'production-warehouse-2025-copy',
    'mirror_data_production_2025',
    'ip-10-0-12-34.eu-west-1.compute.internal',
    '2001:0db8:85a3:0000:0000:8a2e:0370:7334',
    'https://forms.example.com/api/v1',
    'Forms mirror <mirror@example.com>',
    '*/5 8-18 * * 1-5',
    'America/Argentina/ComodRivadavia',
  ])('is not %s', (text) => {
    expect(looksLikeKey(text)).toBe(false);
  });
});
