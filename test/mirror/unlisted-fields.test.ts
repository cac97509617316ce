import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldMap, FieldOrder } from '../../src/mirror/field-map.ts';
import {
  MAX_FIELD_ID,
  MAX_UNLISTED_FIELDS,
  UnlistedFields,
} from '../../src/mirror/unlisted-fields.ts';
import { propertyRuns } from '../support/property.ts';

const isPicked = (id: string): boolean => id !== 'unpicked';

describe('fields that only answers carry', () => {
  it('L9: are met alike, whether or not the answers of a page share an order', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'unpicked', 'x'.repeat(MAX_FIELD_ID + 1));
    const page = fc.record({
      answers: fc.array(fc.array(id), { maxLength: 5 }),
      listed: fc.option(fc.array(id), { nil: undefined }),
      full: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(page), (pages) => {
        const [plain, shared] = [new UnlistedFields(isPicked), new UnlistedFields(isPicked)];
        const order = new FieldOrder();
        for (const { answers, listed, full } of pages) {
          const catalogued = full ? Array.from({ length: MAX_UNLISTED_FIELDS }, String) : [];
          for (const fields of [plain, shared]) {
            if (listed !== undefined) fields.know(listed, catalogued);
          }
          for (const each of answers.flat()) order.place(each);
          for (const ids of answers) {
            const map = new Map(ids.map((each) => [each, 1]));
            const slots = order.ids.map((each) => map.get(each));
            const inOrder = new FieldMap(order, slots);
            // A map of its own is in the order of the page, too.
            const same = new Map(inOrder);
            expect(shared.meet(inOrder)).toEqual(plain.meet(same));
            expect(shared.defectsOf(inOrder)).toEqual(plain.defectsOf(same));
          }
        }
        expect(shared.ids).toEqual(plain.ids);
      }),
      propertyRuns(500),
    );
  });
});
