import { describe, expect, it } from 'vitest';
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

  it('L15: is refused even if it has no other mistake', () => {
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
