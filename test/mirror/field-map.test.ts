import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldMap, FieldOrder, readerOf } from '../../src/mirror/field-map.ts';
import { propertyRuns } from '../support/property.ts';

const ID = fc.constantFrom('a', 'b', 'c', 'd', '__proto__', '7');
const entries = fc.array(fc.tuple(ID, fc.constantFrom<(number | null)[]>(0, null, 1)));

/** What a page of submissions makes of their answers. */
function inOrderOf(order: FieldOrder, map: ReadonlyMap<string, number | null>) {
  const slots: (number | null | undefined)[] = [];
  for (const [id, value] of map) {
    const place = order.place(id, slots.length);
    while (slots.length < place) slots.push(undefined);
    slots[place] = value;
  }
  return new FieldMap(order, slots);
}

describe('a map by field ID in an array', () => {
  it('L10: holds what a Map holds, however the order grows', () => {
    fc.assert(
      fc.property(fc.array(entries), fc.array(ID), (all, asked) => {
        const models = all.map((some) => new Map(some));
        const order = new FieldOrder();
        const read = readerOf(asked);
        const maps = models.map((model) => {
          const map = inOrderOf(order, model);
          expect(read(map)).toEqual(read(model));
          return map;
        });
        for (const [at, model] of models.entries()) {
          const map = maps[at]!;
          expect(new Map(map)).toEqual(model);
          expect(map.size).toBe(model.size);
          expect(new Set(map.keys())).toEqual(new Set(model.keys()));
          for (const id of asked) expect(map.get(id)).toEqual(model.get(id));
          expect(read(map)).toEqual(read(model));
        }
      }),
      propertyRuns(300),
    );
  });
});
