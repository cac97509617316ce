import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { settingOf } from '../../src/settings/settings-table.ts';
import { SOURCE, onlyProblem, problemsOf } from '../support/settings.ts';

const HASH_KEY = 'hJ2mQ9xT4bN7vK1wR8cF5yL0pZ3sD6gA';
const HASHED = { TARGET_HASH_FIELDS: 'field_1_a' };

describe('the key of the hashes', () => {
  it('hashing needs a key, in any target', () => {
    expect(onlyProblem({ TARGET_HASH_FIELDS: 'field_1_a' })).toMatch(
      /^HASH_KEY is missing: TARGET_HASH_FIELDS/,
    );
    expect(onlyProblem({ TARGETS: 'a', TARGET_A_HASH_FIELDS: 'field_1_a' })).toMatch(
      /^HASH_KEY is missing: TARGET_A_HASH_FIELDS/,
    );
  });

  it.each([
    ['alone', {}],
    ['beside a name that is not read', { HASH_FIELDS: '*' }],
    ['beside no field', { TARGET_HASH_FIELDS: '' }],
    ['of several targets', { TARGETS: 'a,b', TARGET_A_URL: 'sqlite:a', TARGET_B_URL: 'sqlite:b' }],
  ])('is never ignored: a key %s, without a field that it hashes, is a mistake', (_what, env) => {
    expect(onlyProblem({ ...env, HASH_KEY })).toMatch(
      /^HASH_KEY is set, and no target hashes: name the fields in TARGET_HASH_FIELDS/,
    );
    expect(problemsOf({ ...SOURCE, ...env, ...HASHED, HASH_KEY })).toEqual([]);
  });

  it.each([
    ['a short one', 'kZ4vQ1mW8xT2bN6yR0cH5jL9pF3sD7g', 'is shorter than 32 characters'],
    ['the example', settingOf('HASH_KEY').example, 'is shorter than 32 characters'],
  ])(
    'a key of the hashes that can be guessed is refused, and not quoted: %s',
    (_which, key, why) => {
      const message = onlyProblem({ ...HASHED, HASH_KEY: key });
      expect(message).toContain(`HASH_KEY ${why}`);
      expect(message).toContain('openssl rand -base64 32');
      expect(message).not.toContain(key);
      const fromFile = { ...SOURCE, ...HASHED, HASH_KEY_FILE: '/run/key' };
      expect(problemsOf(fromFile, { '/run/key': `${key}\n` })).toHaveLength(1);
    },
  );

  it('a key that openssl makes is accepted', () => {
    const keys = [randomBytes(32).toString('base64'), randomBytes(16).toString('hex')];
    expect(keys.flatMap((key) => problemsOf({ ...SOURCE, ...HASHED, HASH_KEY: key }))).toEqual([]);
  });
});
