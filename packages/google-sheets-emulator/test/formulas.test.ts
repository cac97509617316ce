import { describe, expect, it } from 'vitest';
import { Calculator } from '../src/calculator.ts';
import { Formula } from '../src/cell.ts';
import { Document } from '../src/document.ts';
import { remapFormula } from '../src/formula-moves.ts';
import { CellError } from '../src/formula-values.ts';
import { formatNumber } from '../src/number-format.ts';
import { deleteRemap, insertRemap, moveRemap } from '../src/remap.ts';
import { serialOfInstant } from '../src/serial-date.ts';
import { Sheet } from '../src/sheet.ts';

/** 4 May 2026, 10:00 UTC: noon in Prague. */
const NOW = Date.UTC(2026, 4, 4, 10);

function calculatorFor(cells: (string | number | boolean | null)[][]): {
  calculator: Calculator;
  sheet: Sheet;
} {
  const document = new Document({
    title: 't',
    locale: 'en_US',
    timeZone: 'Europe/Prague',
  });
  const sheet = new Sheet(0, { title: 'Data' }, 100, 10);
  sheet.mayHoldFormulas = true;
  document.sheets = [sheet, new Sheet(1, { title: 'Two words' }, 10, 10)];
  for (const [index, row] of cells.entries()) {
    const isFormula = (value: unknown): boolean => String(value).startsWith('=');
    sheet.setRow(index, {
      cells: row.map((value) => ({
        content: isFormula(value) ? new Formula(String(value)) : value === '' ? null : value,
      })),
    });
  }
  return { calculator: new Calculator(document, NOW), sheet };
}

function result(formula: string, cells: (string | number | boolean | null)[][] = []) {
  const { calculator, sheet } = calculatorFor(cells);
  const value = calculator.evaluate(new Formula(formula), sheet, 50, 9);
  return value instanceof CellError ? value.text : value;
}

const TABLE = [
  ['name', 'score', 'when', null],
  ['Ann', 10, 46146, true],
  ['bob', 2.5, 46147.25, false],
  ['', null, null, null],
];

describe('formulas', () => {
  it.each([
    ['=1+2*3', 7],
    ['=(1+2)*3', 9],
    ['=7/2', 3.5],
    ['="a"&1&TRUE', 'a1TRUE'],
    ['="a""b"', 'a"b'],
    ['="Ann"=A2', true],
    ['="ANN"=A2', true],
    ['=A3<>"x"', true],
    ['=B2>=10', true],
    ['=2<"1"', true],
    ['=A4=""', true],
    ['=B4+1', 1],
    ['=Data!B2', 10],
    ["='Two words'!A1", 0],
    ['=SUM(B2:B3)', 12.5],
    ['=SUM(B2:B)', 12.5],
    ['=COUNTIFS(B2:B3,">5")', 1],
    ['=COUNTIFS(A2:A3,"*B*")', 1],
    ['=IF(B2>5,"big","small")', 'big'],
    ['=IF(D3,1/0,"lazy")', 'lazy'],
    ['=IFERROR(1/0,"caught")', 'caught'],
    ['=NOW()', 46146.5],
    ['=TODAY()', 46146],
  ])('%s gives %j', (formula, value) => {
    expect(result(formula, TABLE)).toBe(value);
  });

  it.each([
    ['=1/0', '#DIV/0!'],
    ['="a"+1', '#VALUE!'],
    ['=Gone!A1', '#REF!'],
    ['=ZZ99999', '#REF!'],
    ['=#REF!+1', '#REF!'],
    ['=IMPORTXML("http://x","//a")', '#NAME?'],
    ['=NoSuchName', '#NAME?'],
    ['=(1', '#ERROR!'],
    ['=1 2', '#ERROR!'],
    ['=IF(1', '#ERROR!'],
  ])('%s fails with %s', (formula, text) => {
    expect(result(formula, TABLE)).toBe(text);
  });
});

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

describe('array formulas', () => {
  const CELLS = [
    ['answer', 'stars', 'gone'],
    ['red', 3, null],
    ['Red', 12, null],
    ['red', 3, 46000],
    ['*', 'many', null],
    [null, 12, null],
    ['red', 5, null],
  ];
  const COUNTS =
    "select Col1, count(Col1) group by Col1 order by count(Col1) desc, Col1 limit 9 label count(Col1) ''";
  const spilled = (formula: string, cells: (string | number | null)[][] = CELLS): unknown[][] => {
    const { calculator, sheet } = calculatorFor([...cells, [], [null, null, null, null, formula]]);
    const row = cells.length + 1;
    return Array.from({ length: 4 }, (_, down) =>
      Array.from({ length: 2 }, (__, across) => {
        const value = calculator.value(sheet, row + down, 4 + across);
        return value instanceof CellError ? value.text : value;
      }),
    );
  };

  it.each<[string, unknown[][]]>([
    [
      `=QUERY(FILTER(A2:A7&"",A2:A7<>"",C2:C7=""),"${COUNTS}",0)`,
      [
        ['red', 2],
        ['*', 1],
        ['Red', 1],
      ],
    ],
    [
      `=QUERY(FILTER(B2:B7,ISNUMBER(B2:B7)),"${COUNTS.replace('count(Col1) desc, ', '').replace('9', '2')}",0)`,
      [
        [3, 2],
        [5, 1],
      ],
    ],
    ['=ARRAYFORMULA(IFNA(FILTER(A2:A7,A2:A7="x"),"none"))', [['none', null]]],
    ['=FILTER(A2:A7,A2:A7="x")', [['#N/A', null]]],
    [
      '=FILTER(IFERROR(B2:B7/(B2:B7-3),"caught"),A2:A7&""<>"Red")',
      [
        ['caught', null],
        [12 / 9, null],
      ],
    ],
    [
      '=ARRAYFORMULA(-B2:B4+1)',
      [
        [-2, null],
        [-11, null],
        [-2, null],
      ],
    ],
    ['=FILTER(A2:A7,B2:B4>1)', [['#N/A', null]]],
    ['=QUERY(FILTER(A2:A7,A2:A7<>""),"select Col1 pivot Col1",0)', [['#VALUE!', null]]],
    ['=COUNTIFS(A2:A7,"red",C2:C7,"")', [[3, null]]],
  ])('%s', (formula, values) => {
    const empty = Array.from({ length: 4 - values.length }, () => [null, null]);
    expect(spilled(formula)).toEqual([...values, ...empty]);
  });
});

describe('functions that count and place', () => {
  it.each([
    ['=COUNTIFS(A2:A4,"?*",B2:B4,">=3")', 1],
    ['=COUNTIFS(B1:B4,"?*")', 1],
    ['=COUNTIFS(A1:A4,"<>",B1:B4,"<>")', 3],
    ['=COUNTIFS(A1:A4,"")', 1],
    ['=COUNTIFS(D1:D4,TRUE)', 1],
    ['=COUNTIFS(A1:A4,"x",B1:B3,"y")', '#VALUE!'],
    ['=WEEKDAY(46146,2)', 1],
    ['=WEEKDAY(46152,2)', 7],
    ['=WEEKDAY(46146,99)', '#NUM!'],
    ['=REPT("ab",2)&"."', 'abab.'],
    ['=ROUND(2.5,0)', 3],
    ['=ROUND(-1.25,1)', -1.3],
    ['=IFNA(1/0,"x")', '#DIV/0!'],
  ])('%s is %s', (formula, value) => {
    expect(result(formula, TABLE)).toBe(value);
  });
});
