import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonText } from '../../src/mirror/types.ts';
import { batchTable } from '../../src/targets/sql/postgres/postgres-batch.ts';
import {
  batchTexts,
  cellColumns,
  jsonColumns,
} from '../../src/targets/sql/postgres/postgres-batch-texts.ts';
import type { StorableRow } from '../../src/targets/sql/dialect.ts';
import type { FieldColumn } from '../../src/targets/sql/field-column.ts';

const field = (column: string, type: 'text' | 'json', storage: 'column' | 'more'): FieldColumn => ({
  id: column,
  label: column,
  position: 0,
  ordinal: 0,
  column,
  storage,
  type,
  textColumn: null,
  textStorage: 'column',
  viewLabel: null,
  textViewLabel: null,
  removedAt: null,
});
const FIELDS = [
  field('a', 'text', 'column'),
  field('list', 'json', 'column'),
  field('b', 'text', 'column'),
  field('c', 'text', 'more'),
];
const FORM = { form: { id: 'f', slug: 'f', name: 'f' }, table: 'f', view: 'v', fields: FIELDS };
const { columns } = batchTable('public', FORM, FIELDS);

const text = fc.string({
  unit: fc.constantFrom('a', 'é', '\u0001', '\u0002', '\u0003', '\n', ' ', '\\', '"'),
  maxLength: 6,
});
const storableRow = fc.record({
  id: text,
  status: text,
  createdAt: fc.option(fc.constant('2026-01-01T00:00:00.000Z')),
  cells: fc.tuple(
    fc.option(text),
    fc.option(text.map((one) => new JsonText(JSON.stringify([one])))),
    fc.option(text),
    fc.option(text),
  ),
});

/** As the server does. */
const apart = (joined: string, mark: string): (string | null)[] => joined.split(mark);

describe('a batch as texts', () => {
  it('L10: gives each value back when it is taken apart, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(storableRow, { minLength: 1 }), (rows: StorableRow[]) => {
        const { ids, dates, cells, json, marks } = batchTexts(columns, rows);
        expect(apart(ids, marks.row)).toEqual(rows.map(({ id }) => id));
        expect(apart(dates, marks.row)).toEqual(rows.map(({ createdAt }) => createdAt ?? ''));
        const lines = cells.split(marks.row);
        expect(
          lines.map((line) =>
            apart(line, marks.cell).map((one) => (one === marks.none ? null : one)),
          ),
        ).toEqual(rows.map(({ status, cells: [a, , b] }) => [status, a, b]));
        const [lists, more] = json.map((one) => one.split(marks.row));
        expect(lists).toEqual(
          rows.map(({ cells: [, list] }) => (list instanceof JsonText ? list.text : '')),
        );
        expect(more).toEqual(
          rows.map(({ cells: [, , , c] }) => (c === null ? '' : JSON.stringify({ c }))),
        );
      }),
    );
  });

  it('has JSON by itself, as the server writes it otherwise', () => {
    expect(jsonColumns(columns).map(({ name }) => name)).toEqual(['list', '_more']);
    expect(cellColumns(columns).map(({ name }) => name)).toEqual(['status', 'a', 'b']);
  });

  it('calls no value by another name each time: what is stored cannot be taken for none', () => {
    const rows = [{ id: 'x', status: 'NEW', createdAt: null, cells: [null, null, null, null] }];
    const [one, other] = [batchTexts(columns, rows), batchTexts(columns, rows)];
    expect(one.marks.none).not.toBe(other.marks.none);
  });
});
