import { describe, expect, it } from 'vitest';
import { parsePicks } from '../../src/mirror/picks.ts';
import {
  knownChangesSince,
  outdatedRows,
  provenFor,
  replacesRows,
  type StoringSettings,
} from '../../src/mirror/proven-for.ts';

const FORM = { id: 'f1', slug: 'jobs', name: 'Jobs' };
const KEY = 'hJ2mQ9xT4bN7vK1wR8cF5yL0pZ3sD6gA';
const FIELDS = [{ id: 'name' }, { id: 'mail' }, { id: 'phone' }];

const settings = (picks: string[], hashed: string[] = [], hashKey = KEY): StoringSettings => ({
  picks: parsePicks(picks, hashed),
  hashKey,
});

const PLAIN = settings(['*']);
const HASHED = settings(['*'], ['mail']);

describe('what a checkpoint was proven for', () => {
  it.each([
    ['nothing changed', HASHED, HASHED, []],
    ['the same is written in another way', HASHED, settings(['jobs:*'], ['f1:mail']), []],
    ['a field is hashed', PLAIN, HASHED, ['hashes']],
    ['hashing is switched off', HASHED, PLAIN, ['hashes']],
    ['another field is hashed', HASHED, settings(['*'], ['phone']), ['hashes']],
    ['there is another key', HASHED, settings(['*'], ['mail'], `${KEY}x`), ['key']],
    ['there is another key for nothing', PLAIN, settings(['*'], [], `${KEY}x`), []],
    ['fewer fields are picked', PLAIN, settings(['mail', 'name']), ['picks']],
    [
      'a field of another form is picked too',
      settings(['mail']),
      settings(['mail', 'x']),
      ['picks'],
    ],
    [
      'fewer fields are picked where all are hashed',
      settings(['*'], ['*']),
      settings(['mail'], ['*']),
      ['picks'],
    ],
    ['a field of another form is hashed too', PLAIN, settings(['*'], ['field_of_another']), []],
    ['another form is hashed', PLAIN, settings(['*'], ['contact:*']), []],
  ] as const)('L17: %s', (_what, before, now, changes) => {
    const stored = provenFor(FORM, before, FIELDS);
    const loss = changes.length === 0 ? [] : [{ what: 'settings', changes: [...changes] }];
    expect(outdatedRows(stored, FORM, now, { fields: FIELDS, newColumns: 0 })).toEqual(loss);
    expect(knownChangesSince(stored, FORM, now, FIELDS)).toEqual(changes);
  });

  it('L5: fields that no pass has filled yet are a change, but for columns of this very pass', () => {
    const stored = provenFor(FORM, PLAIN, FIELDS);
    const fields = [...FIELDS, { id: 'new' }];
    expect(outdatedRows(stored, FORM, PLAIN, { fields, newColumns: 0 })).toEqual([
      { what: 'settings', changes: ['fields'] },
    ]);
    expect(outdatedRows(stored, FORM, PLAIN, { fields, newColumns: 1 })).toEqual([]);
  });

  it('L11, L15: holds no name of a field and nothing of the key', () => {
    expect(provenFor(FORM, HASHED, FIELDS)).toMatch(/^[0-9a-f]{16}(\.(\d-)?[0-9a-f]{16}){4}$/);
  });

  it('L4, L11: clears what rows were only where they may have been written anew', () => {
    const [plain, hashed] = [PLAIN, HASHED].map((one) => provenFor(FORM, one, FIELDS));
    // A pass died before it could say: nothing is hashed, or rows may be.
    expect(replacesRows(undefined, plain ?? '')).toBe(false);
    expect(replacesRows(undefined, hashed ?? '')).toBe(true);
    expect(replacesRows(plain, hashed ?? '')).toBe(true);
    expect(replacesRows(hashed, hashed ?? '')).toBe(false);
  });
});
