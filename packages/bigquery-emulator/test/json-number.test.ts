import { describe, expect, it } from 'vitest';
import { canonicalJson, inexactNumber } from '../src/json-text.ts';
import { referenceValue } from './support/reference.ts';

/** Numbers by a fixed rule: of all sizes, and short ones as people write them. */
function numbers(count: number): string[] {
  let state = 20_260_517n;
  const next = (): bigint => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 64n;
    return state;
  };
  return Array.from({ length: count }, (_, at) => {
    if (at % 2 === 0) return String(Number(next() >> 11n) / 2 ** 53);
    const number = new Float64Array(BigUint64Array.of(next()).buffer)[0] ?? 0;
    return Number.isFinite(number) ? String(number) : '1.5';
  });
}

describe('numbers of JSON', () => {
  it("are written, and refused, as Google's own reader does", async () => {
    const all = [...numbers(4_000), '0.55587577846274', '-0.707176497086', '1e23', '2e-308'];
    const list = all.join(',');
    const theirs = await referenceValue(`PARSE_JSON('[${list}]', wide_number_mode=>'round')`);
    expect(canonicalJson(`[${list}]`)).toBe(theirs);
    const odd = all.filter((number) => inexactNumber(number) !== undefined);
    expect(odd).toContain('0.55587577846274');
    for (const number of odd)
      expect(await referenceValue(`PARSE_JSON('${number}')`)).toBe('an error');
    const rest = all.filter((number) => !odd.includes(number));
    expect(await referenceValue(`PARSE_JSON('[${rest.join(',')}]')`)).not.toBe('an error');
  });
});
