import { describe, expect, it } from 'vitest';
import { orderOf, ProofLedger } from '../../src/mirror/proof.ts';

const day = (n: number): string => `2026-01-${String(n).padStart(2, '0')}T00:00:00.000Z`;
const item = (key: string, createdAt: string | null, existed = false) => ({
  key,
  createdAt,
  existed,
});
const base = (total: number, keys: string[], times: string[], strict = false) => ({
  total,
  keys,
  createdAts: times,
  strict,
});

describe('the proof of a pass', () => {
  it('L1: counts what the base response shows, and what is dated before it', () => {
    const ledger = new ProofLedger();
    ledger.begin(base(3, ['c', 'b'], [day(3), day(2)]));
    ledger.sight(item('c', day(3)));
    ledger.sight(item('b', day(2)));
    expect(ledger.proven).toBe(false);
    ledger.sight(item('a', day(1)));
    expect(ledger.proven).toBe(true);
  });

  it('L2: a newcomer created after the base does not make up for one that was missed', () => {
    const ledger = new ProofLedger();
    ledger.begin(base(3, ['c', 'b'], [day(3), day(2)]));
    for (const each of [item('c', day(3)), item('b', day(2)), item('new', day(4))])
      ledger.sight(each);
    expect([ledger.distinct, ledger.proven, ledger.shortage]).toEqual([3, false, 1]);
  });

  it('L2: in a strict round only IDs are evidence: shown by the base, stored before, or seen in an earlier round', () => {
    const ledger = new ProofLedger();
    ledger.begin(base(3, ['c'], [day(3)], true));
    ledger.sight(item('c', day(3)));
    ledger.sight(item('b', day(2), true));
    ledger.sight(item('a', day(1)));
    expect(ledger.shortage).toBe(1);
    ledger.begin(base(3, ['a'], [day(1)], true));
    for (const key of ['a', 'b', 'c']) ledger.sight(item(key, null));
    expect(ledger.proven).toBe(true);
  });

  it('L2: what was seen only before the base proves nothing, since it may be gone', () => {
    const ledger = new ProofLedger();
    ledger.begin(base(2, ['a'], [day(1)], true));
    ledger.sight(item('a', day(1)));
    ledger.sight(item('b', day(2), true));
    ledger.begin(base(2, ['b'], [day(2)], true));
    ledger.sight(item('b', day(2)));
    expect(ledger.proven).toBe(false);
  });

  it('a date before the watermark suggests an import and is no evidence', () => {
    const ledger = new ProofLedger(day(10));
    ledger.begin(base(2, ['c'], [day(12)]));
    ledger.sight(item('c', day(12)));
    ledger.sight(item('imported', day(1)));
    expect(ledger.proven).toBe(false);
  });

  it('counting the same item twice changes nothing; evidence that contradicts itself is no proof', () => {
    const ledger = new ProofLedger();
    ledger.begin(base(1, ['a'], [day(5)]));
    ledger.sight(item('a', day(5)));
    expect(ledger.sight(item('a', day(5)))).toBe(false);
    expect(ledger.proven).toBe(true);
    ledger.sight(item('older', day(1)));
    expect([ledger.proven, ledger.shortage]).toEqual([false, -1]);
  });

  it('accounts for how total moved only by newcomers it saw', () => {
    const ledger = new ProofLedger();
    ledger.begin(base(1, ['a'], [day(5)]));
    ledger.sight(item('a', day(5)));
    expect([ledger.accountsFor(1), ledger.accountsFor(2)]).toEqual([true, false]);
    ledger.sight(item('born', day(6)));
    expect([ledger.accountsFor(1), ledger.accountsFor(2), ledger.accounted]).toEqual([
      false,
      true,
      2,
    ]);
  });

  it('L2: the watermark is the newest date met by the base, whatever page is the base, and none met later', () => {
    const ledger = new ProofLedger();
    ledger.begin(base(4, ['d', 'c'], [day(4), day(3)], true));
    for (const [key, at] of [
      ['d', 4],
      ['c', 3],
      ['b', 2],
      ['a', 1],
    ] as const)
      ledger.sight(item(key, day(at)));
    ledger.begin(base(4, ['b', 'a'], [day(2), day(1)], true));
    for (const [key, at] of [
      ['b', 2],
      ['a', 1],
      ['late', 6],
      ['d', 4],
      ['c', 3],
    ] as const)
      ledger.sight(item(key, day(at)));
    expect([ledger.proven, ledger.watermark(null)]).toEqual([true, day(4)]);
  });

  it('an empty list is proven at once', () => {
    const ledger = new ProofLedger();
    expect(ledger.proven).toBe(false);
    ledger.begin(base(0, [], []));
    expect([ledger.proven, ledger.watermark(null)]).toEqual([true, null]);
  });

  it('recognises an order only by enough steps in one direction', () => {
    const up = [1, 2, 3, 4, 5, 6].map(day);
    expect(orderOf(up)).toBe('ascending');
    expect(orderOf([...up.toReversed(), null])).toBe('descending');
    expect(orderOf(up.slice(0, 5))).toBe('unknown');
    expect(orderOf([...up, day(1)])).toBe('unknown');
  });
});
