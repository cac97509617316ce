import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBody } from '../../src/forms/body.ts';
import { parseExactJson } from '../../src/mirror/json.ts';
import { propertyRuns } from '../support/property.ts';

/** An item of a few kilobytes, in which other objects and texts look like the end of one item and the beginning of the next. */
const item = fc.record({
  id: fc.string(),
  data: fc.oneof(
    fc.jsonValue(),
    fc.array(fc.record({ file: fc.string() }), { minLength: 2 }),
    fc.array(fc.record({ id: fc.string() }), { minLength: 2 }),
    fc.constant('},{"id":"x"}],"items":[{"id":'),
  ),
  text: fc
    .constantFrom('a', 'é', '字', '🎉', '\\', '"', '"},{"id":"')
    .map((part) => part.repeat(2_000)),
});
const list = fc
  .record({ items: fc.array(item, { minLength: 12, maxLength: 40 }), total: fc.nat() })
  .chain((value) => {
    const text = JSON.stringify(value);
    const reordered = JSON.stringify({ total: value.total, items: value.items, more: [{}] });
    return fc.constantFrom(text, reordered, JSON.stringify(value, null, 1), `[${text}]`);
  });

describe('parseBody', () => {
  it('L10: reads a large list as JSON.parse does, and refuses what is not JSON', () => {
    const parsed = (parse: () => unknown): unknown => {
      try {
        return parse();
      } catch (error) {
        return (error as Error).name;
      }
    };
    const spoil = fc.option(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.string()), {
      freq: 3,
    });
    fc.assert(
      fc.property(list, spoil, (whole, at) => {
        const cut = Math.floor((at?.[0] ?? 0) * whole.length);
        const text = at === null ? whole : whole.slice(0, cut) + at[1] + whole.slice(cut);
        const body = Buffer.from(text);
        expect(parsed(() => parseBody(body))).toEqual(
          parsed(() => parseExactJson(body.toString())),
        );
      }),
      propertyRuns(300),
    );
  });

  it('L10: rounds no number in a large list', () => {
    const items = Array.from(
      { length: 60 },
      (_, nth) => `{"n":1234567890123456789${nth % 10},"text":"${'é'.repeat(600)}"}`,
    );
    const body = Buffer.from(`{"items":[${items.join(',')}],"total":60}`);
    expect(parseBody(body)).toEqual(parseExactJson(body.toString()));
  });
});
