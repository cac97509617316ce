import { describe, expect, it } from 'vitest';
import { isNewerLook, type LookRecord, lookFrom, lookText } from '../../src/mirror/look-record.ts';

const LOOK: LookRecord = {
  at: '2026-03-02T08:00:00.000Z',
  open: ['a', 'b'],
  others: {
    total: 3,
    statuses: new Map([['NEW', 3]]),
    besides: 'a1b2',
    newest: { digests: new Set(['Ab-_09', 'zzzzzz']), oldest: '2026-03-02T07:00:00.000Z' },
  },
};

describe('the record of a look', () => {
  it('comes back as it went in, and has one text', () => {
    expect(lookFrom(lookText(LOOK))).toEqual(LOOK);
    expect(lookFrom(lookText({ ...LOOK, others: null }))).toEqual({ ...LOOK, others: null });
    expect(lookText({ ...LOOK, open: ['b', 'a', 'b'] })).toBe(lookText(LOOK));
    const differing = { ...LOOK, differing: ['b'] };
    expect(lookFrom(lookText(differing))).toEqual(differing);
  });

  it('L17: knows since when it has not counted the statuses of a form', () => {
    const uncounted = new Map([
      ['b', null],
      ['a', '2026-03-02T07:58:00.000Z'],
    ]);
    const look = { ...LOOK, differing: [], uncounted };
    expect(lookFrom(lookText(look))).toEqual(look);
    expect(lookText({ ...LOOK, uncounted: new Map() })).toBe(lookText(LOOK));
    const odd = `["${LOOK.at}",[],null,[],[["a","then"],7,["b"],[1,null]]]`;
    expect(lookFrom(odd)?.uncounted).toEqual(
      new Map([
        ['a', null],
        ['b', null],
      ]),
    );
  });

  it('knows with what deletions were withheld, and nothing of what it cannot read', () => {
    const form = { source: new Map([['NEW', 3]]), copy: 'a1', provenAt: LOOK.at, askedAt: LOOK.at };
    const look = { ...LOOK, differing: [], withheld: new Map([['b', form]]) };
    expect(lookFrom(lookText(look))).toEqual(look);
    expect(lookText({ ...LOOK, withheld: new Map() })).toBe(lookText(LOOK));
    const odd = `["${LOOK.at}",[],null,[],[],[["a","{}","c","${LOOK.at}","${LOOK.at}"],["a","[]","c","${LOOK.at}","then"],7,["a"]]]`;
    expect(lookFrom(odd)?.withheld).toBeUndefined();
  });

  it.each([
    '',
    'nonsense',
    '{}',
    '[]',
    '["then",[],null]',
    '["2026-03-02T08:00:00.000Z",[1],null]',
  ])('is none where a text says none: %s', (text) => {
    expect(lookFrom(text)).toBeNull();
  });

  it('does not know of others what it cannot read', () => {
    for (const others of ['{}', '[3]', '[3,"x"]', '["3","[]"]', '7']) {
      const text = `["${LOOK.at}",[],${others}]`;
      expect(lookFrom(text)).toEqual({ at: LOOK.at, open: [], others: null });
    }
  });

  it('does not know of others what was kept without a page, nor a page that it cannot read', () => {
    const of = (rest: string): string => `["${LOOK.at}",[],[3,"[]","a1b2"${rest}]]`;
    expect(lookFrom(of(''))).toEqual({ at: LOOK.at, open: [], others: null });
    const others = { total: 3, statuses: new Map(), besides: 'a1b2', newest: null };
    for (const page of ['null', '7', '[]', '["abc",null]', '["Ab-_09"]', '["Ab-_09","then"]']) {
      expect(lookFrom(of(`,${page}`))).toEqual({ at: LOOK.at, open: [], others });
    }
  });

  it('takes the place of an older one, and of one that a wrong clock made', () => {
    const at = (time: string): LookRecord => ({ ...LOOK, at: time });
    expect(isNewerLook(LOOK, null)).toBe(true);
    expect(isNewerLook(LOOK, LOOK)).toBe(false);
    expect(isNewerLook(at('2026-03-02T08:00:00.001Z'), LOOK)).toBe(true);
    expect(isNewerLook(LOOK, at('2026-03-02T08:01:00.000Z'))).toBe(false);
    expect(isNewerLook(LOOK, at('2026-03-02T08:10:00.001Z'))).toBe(true);
  });
});
