import { describe, expect, it } from 'vitest';
import { Formula } from '../src/cell.ts';
import { remapFormula } from '../src/formula-moves.ts';
import { formatNumber } from '../src/number-format.ts';
import { deleteRemap, insertRemap, moveRemap } from '../src/remap.ts';
import { serialOfInstant } from '../src/serial-date.ts';

describe('references', () => {
  const after = (formula: string, axis: 'row' | 'column', remap: ReturnType<typeof insertRemap>) =>
    remapFormula(new Formula(formula), 'Data', 'Data', axis, remap).text;

  it.each([
    ['=A5+$A$5', 'row', insertRemap(2, 3), '=A8+$A$8'],
    ['=SUM(A2:A5)', 'row', insertRemap(3, 1), '=SUM(A2:A6)'],
    ['=SUM(A2:A5)', 'row', insertRemap(5, 1), '=SUM(A2:A5)'],
    ['=SUM(A2:A5)', 'row', insertRemap(1, 1), '=SUM(A3:A6)'],
    ['=SUM(A2:A)', 'row', insertRemap(0, 1), '=SUM(A3:A)'],
    ['=A5', 'row', deleteRemap(4, 5), '=#REF!'],
    ['=SUM(A2:A5)', 'row', deleteRemap(1, 3), '=SUM(A2:A3)'],
    ['=SUM(A2:A5)', 'row', deleteRemap(0, 9), '=SUM(#REF!)'],
    ['=B1&Other!B1', 'column', moveRemap(1, 2, 4), '=D1&Other!B1'],
    ['=A1&B1&C1', 'column', moveRemap(0, 2, 4), '=C1&D1&A1'],
    ['=SUM(B1:B9)', 'column', moveRemap(1, 2, 0), '=SUM(A1:A9)'],
    ['=SUM(A1:C1)', 'column', moveRemap(3, 4, 1), '=SUM(A1:D1)'],
    ['=SUM(A1:C1)', 'column', moveRemap(1, 2, 5), '=SUM(A1:B1)'],
    ['="A1"&A1', 'row', insertRemap(0, 1), '="A1"&A2'],
  ] as const)('%s follows (%s)', (formula, axis, remap, text) => {
    expect(after(formula, axis, remap)).toBe(text);
  });
});

describe('dates', () => {
  it('of an instant depend on the time zone, also around daylight saving changes', () => {
    const at = (iso: string) => serialOfInstant(Date.parse(iso), 'Europe/Prague');
    expect(at('2026-03-29T00:59:59Z')).toBeCloseTo(46110 + (2 * 3600 - 1) / 86_400, 9);
    expect(at('2026-03-29T01:00:00Z')).toBeCloseTo(46110 + 3 / 24, 9);
    expect(() => serialOfInstant(0, 'No/Where')).toThrow(RangeError);
  });
});

describe('numbers', () => {
  it.each([
    [0.1 + 0.2, undefined, '0.3'],
    [1 / 3, undefined, '0.3333333333'],
    [123456789012, undefined, '123456789012'],
    [1705971932369780, undefined, '1.70597E+15'],
    [12345678901234568, 'NUMBER', '12345678901234568'],
    [46146.75, 'DATE_TIME', '2026-05-04 18:00'],
    [46146, 'DATE', '2026-05-04'],
    [0.5, 'PERCENT', '50%'],
  ])('%d as %s is shown as %s', (value, type, text) => {
    expect(formatNumber(value, type === undefined ? undefined : { type })).toBe(text);
  });
});
