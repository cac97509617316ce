import { describe, expect, it } from 'vitest';
import { countedAt, differsSince, lookedAt, lookOf, statusesAt } from '../../src/mirror/looked.ts';
import type { Checkpoint } from '../../src/mirror/types.ts';

const [PROVEN, LOOKED] = ['2026-03-02T08:00:00.000Z', '2026-03-02T08:01:00.000Z'];

const CHECKPOINT: Checkpoint = {
  watermark: null,
  total: 2,
  absent: 0,
  withheld: 0,
  hidden: 0,
  provenAt: PROVEN,
  fullProvenAt: '2026-03-02T06:00:00.000Z',
  provenFor: '',
  statuses: new Map([['NEW', 2]]),
  unstored: new Map(),
  countsAt: '2026-03-02T07:00:00.000Z',
};

const FORM = {
  look: { at: LOOKED, isOpen: false },
  checkpoint: CHECKPOINT,
  losses: [],
  goneAt: null,
} as const;

describe('L17: what a look says of a form', () => {
  it('is that it is as it was accounted for, from then on', () => {
    expect(lookedAt(FORM)).toBe(LOOKED);
    expect(statusesAt(FORM)).toBe(LOOKED);
    expect(differsSince(FORM)).toBeNull();
  });

  it.each<[string, Partial<Parameters<typeof lookedAt>[0]>]>([
    ['before the first look', { look: null }],
    ['a look found to differ', { look: { at: LOOKED, isOpen: true } }],
    ['a later pass has proven', { look: { at: '2026-03-02T07:59:00.000Z', isOpen: false } }],
    ['was never proven', { checkpoint: null }],
    ['is not accounted for by status', { checkpoint: { ...CHECKPOINT, statuses: null } }],
    ['lacks deletions', { checkpoint: { ...CHECKPOINT, absent: 1 } }],
    ['has deletions withheld', { checkpoint: { ...CHECKPOINT, withheld: 1 } }],
    ['is hidden by its list', { checkpoint: { ...CHECKPOINT, hidden: 1 } }],
    ['was damaged', { losses: [{ what: 'uncounted' }] }],
    ['is gone', { goneAt: LOOKED }],
  ])('is nothing of one that %s', (_, changes) => {
    expect(lookedAt({ ...FORM, ...changes })).toBeNull();
  });

  it('is that nothing came to one whose deletions are withheld still, and nothing of its statuses', () => {
    const held = { ...FORM, checkpoint: { ...CHECKPOINT, statuses: null, withheld: 1 } };
    const look = { at: LOOKED, isOpen: false, isWithheld: true };
    expect([lookedAt({ ...held, look }), statusesAt({ ...held, look })]).toEqual([
      LOOKED,
      CHECKPOINT.countsAt,
    ]);
    expect(lookedAt({ ...held, look: { ...look, isOpen: true } })).toBeNull();
    expect(lookedAt({ ...FORM, checkpoint: { ...held.checkpoint, absent: 1 }, look })).toBeNull();
    expect(statusesAt({ ...FORM, look })).toBe(CHECKPOINT.countsAt);
    const withheld = new Map([
      ['a', { source: new Map(), copy: '', provenAt: PROVEN, askedAt: PROVEN }],
    ]);
    const record = { at: LOOKED, open: [], others: null, withheld };
    expect(['a', 'b'].map((id) => lookOf(record, id)?.isWithheld)).toEqual([true, undefined]);
  });

  it('is nothing newer of statuses that it did not count', () => {
    const early = '2026-03-02T07:30:00.000Z';
    const of = (countedAt: string | null) => ({
      ...FORM,
      look: { at: LOOKED, isOpen: false, countedAt },
    });
    expect([lookedAt(of(early)), statusesAt(of(early))]).toEqual([LOOKED, early]);
    expect(statusesAt(of(null))).toBe(CHECKPOINT.countsAt);
    const record = { at: LOOKED, open: ['c'], others: null, uncounted: new Map([['a', early]]) };
    const times = ['a', 'b', 'c'].map((formId) => countedAt(lookOf(record, formId)));
    expect([...times, countedAt(null)]).toEqual([early, LOOKED, null, null]);
  });

  it('is that it differs, until a pass has settled it', () => {
    const open = { ...FORM, look: { at: LOOKED, isOpen: true } };
    expect(differsSince(open)).toBe(LOOKED);
    expect(statusesAt(open)).toBe(CHECKPOINT.countsAt);
    expect(differsSince({ ...open, checkpoint: { ...CHECKPOINT, provenAt: LOOKED } })).toBeNull();
    expect(differsSince({ ...open, checkpoint: null })).toBeNull();
  });

  it('is that its counts differ, until a pass has compared them', () => {
    const open = { ...FORM, look: { at: LOOKED, isOpen: true, isDiffering: true } };
    const after = { ...CHECKPOINT, provenAt: '2026-03-02T08:02:00.000Z' };
    expect(differsSince({ ...open, checkpoint: after })).toBe(LOOKED);
    for (const settled of [{ countsAt: LOOKED }, { fullProvenAt: LOOKED }]) {
      expect(differsSince({ ...open, checkpoint: { ...after, ...settled } })).toBeNull();
    }
  });

  it('is said of each form by the record of the look', () => {
    const record = { at: LOOKED, open: ['a'], others: null };
    expect(lookOf(record, 'a')).toEqual({ at: LOOKED, isOpen: true, isDiffering: false });
    expect(lookOf(record, 'b')).toEqual({ at: LOOKED, isOpen: false, isDiffering: false });
    expect(lookOf({ ...record, differing: ['a'] }, 'a')).toMatchObject({ isDiffering: true });
    expect(lookOf(null, 'b')).toBeNull();
  });
});
