import { hash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdSet, MAX_TAG } from '../../src/mirror/id-set.ts';
import { propertyRuns } from '../support/property.ts';

describe('a set of IDs in compact memory', () => {
  it('L14: behaves as a Map of tags does, also while it grows', () => {
    const actions = fc.array(fc.tuple(fc.string(), fc.nat(MAX_TAG)), { maxLength: 3_000 });
    fc.assert(
      fc.property(actions, (entries) => {
        const [set, model] = [new IdSet(), new Map<string, number>()];
        for (const [id, tag] of entries) {
          expect(set.add(id)).toBe(!model.has(id));
          set.setTagAt(set.enter(id), tag);
          model.set(id, tag);
        }
        expect(set.size).toBe(model.size);
        for (const [id, tag] of model) expect(set.tag(id)).toBe(tag);
        expect(set.has('never added \u{1f40e}')).toBe(model.has('never added \u{1f40e}'));
      }),
      propertyRuns(50),
    );
  });

  it('distinguishes IDs of every length, and a long one from its own digest', () => {
    const ids = ['', '\0', 'a', 'a\0', '\0a', 'ab', 'ba', '\uffff', '\uffff\uffff'];
    for (const length of [14, 15, 16, 30, 31, 511, 512, 513, 514, 1_000]) {
      const text = 'x'.repeat(length);
      ids.push(text, `${text.slice(1)}y`, `y${text.slice(1)}`, hash('sha256', text));
    }
    const set = new IdSet();
    expect(ids.filter((id) => !set.add(id))).toEqual([]);
    expect(ids.filter((id) => !set.has(id))).toEqual([]);
  });

  it('finds no two of many alike that differ in little', () => {
    const set = new IdSet();
    for (let at = 0; at < 300_000; at++) set.add(`sub_${at.toString(2)}`);
    expect(set.size).toBe(300_000);
  });
});
