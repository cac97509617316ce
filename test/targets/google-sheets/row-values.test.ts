import { describe, expect, it } from 'vitest';
import { type ColumnKey, fieldKey } from '../../../src/targets/google-sheets/api/metadata.ts';
import { RowEncoder } from '../../../src/targets/google-sheets/row-values.ts';
import { SerialTime } from '../../../src/targets/google-sheets/serial-time.ts';
import { NAME } from '../../core/store-fixtures.ts';

const fields = [
  { ...NAME, id: 'a', label: 'A', position: 0 },
  { ...NAME, id: 'b', label: 'B', position: 1 },
];
const [A, B] = [fieldKey('a'), fieldKey('b')];
const encoder = new RowEncoder([A, B, 's:at'], fields, new SerialTime('UTC'));
const print = (...cells: [ColumnKey, string | number | boolean | null][]): string => {
  const values = new Map(cells);
  return encoder.fingerprintOf((key) => values.get(key));
};

describe('a row’s fingerprint', () => {
  it('differs by value, type and column', () => {
    const prints = [
      print([A, 'x']),
      print([A, 'y']),
      print([B, 'x']),
      print([A, '1']),
      print([A, 1]),
      print([A, true]),
      print([A, 'x'], [B, 'y']),
      print([A, 'y'], [B, 'x']),
    ];
    expect(new Set(prints).size).toBe(prints.length);
  });

  it('leaves out empty cells, kinds of line ends, and less than a microsecond', () => {
    expect(print([A, 'x'], [B, null])).toBe(print([A, 'x']));
    expect(print([A, 'x'], [B, ''])).toBe(print([A, 'x']));
    expect(print([A, 'x\r\ny'])).toBe(print([A, 'x\ny']));
    expect(print(['s:at', 45_292.5])).toBe(print(['s:at', 45_292.5 + 1e-12]));
  });
});
