import { describe, expect, it } from 'vitest';
import { hashedCell, sameCell, toCell } from '../../src/mirror/cells.ts';
import { compareRow, joinRow } from '../../src/mirror/row.ts';
import { fieldTest, namesFor, parseSelection } from '../../src/mirror/selection.ts';
import { ExactNumber, type Json, JsonText, type SelectedField } from '../../src/mirror/types.ts';

const field = (id: string, hashed = false): SelectedField => ({
  id,
  label: id,
  position: 0,
  inSchema: true,
  hashed,
});

const submission = (data: [string, Json][]) => ({
  id: 's1',
  formId: 'f',
  status: 'NEW',
  createdAt: '2026-01-01T00:00:00.000Z',
  data: new Map(data),
});

describe('the join', () => {
  it('L11: takes selected answers and nothing else', () => {
    const answers = submission([
      ['name', 'Jana'],
      ['secret', 'never'],
    ]);
    const { row } = joinRow(answers, [], [field('name'), field('absent')], undefined);
    expect([...row.cells]).toEqual([['name', 'Jana']]);
    expect(row.createdAt).toBe('2026-01-01T00:00:00.000Z');
  });

  it('L10: every type of answer has a cell', () => {
    expect(['00123', '=1+1', 'a\nb', ''].map(toCell)).toEqual(['00123', '=1+1', 'a\nb', '']);
    expect([1.5, true, null, undefined].map(toCell)).toEqual([1.5, 'true', null, null]);
    const big = new ExactNumber('12345678901234567890');
    expect(toCell(big)).toBe(big);
    expect(toCell(['a', big, { b: null }])).toEqual(
      new JsonText('["a",12345678901234567890,{"b":null}]'),
    );
  });

  it('L6, L10: half a character is replaced and reported once, without the answer', () => {
    const answers = submission([
      ['a', 'x\ud83d'],
      ['b', '\udc0ey'],
    ]);
    const { row, reasons } = joinRow(
      answers,
      ['status is missing'],
      [field('a'), field('b')],
      undefined,
    );
    expect([...row.cells].map(([, cell]) => cell)).toEqual(['x\ufffd', '\ufffdy']);
    expect(reasons.map((reason) => reason.includes('x'))).toEqual([false, false]);
  });

  it('L11: a hashed field leaves as a keyed hash; equal answers stay equal, under another key they differ', () => {
    const answers = submission([['mail', 'a@b.c']]);
    const { row } = joinRow(answers, [], [field('mail', true)], 'key');
    expect(row.cells.get('mail')).toBe(hashedCell('a@b.c', 'key'));
    expect(hashedCell('a@b.c', 'other')).not.toBe(row.cells.get('mail'));
    expect(() => joinRow(answers, [], [field('mail', true)], undefined)).toThrow('hash key');
  });

  it('sees which columns differ, and that a number in a column of texts is the same', () => {
    const { row } = joinRow(
      submission([
        ['n', 7],
        ['t', 'new'],
      ]),
      [],
      [field('n'), field('t')],
      undefined,
    );
    const cells = new Map([
      ['n', '7'],
      ['t', 'old'],
    ]);
    const stored = { ...row, cells, deletedAt: null };
    expect(compareRow(row, stored, ['n', 't'])).toEqual({ columns: [], fieldIds: ['t'] });
    expect(compareRow(row, stored, ['n'])).toEqual({ columns: [], fieldIds: [] });
    const gone = { ...row, status: 'DONE', deletedAt: '2026-01-02T00:00:00.000Z' };
    expect(compareRow(row, gone, ['n', 't']).columns).toEqual(['status', '_deleted_at']);
    expect([
      sameCell('', null),
      sameCell(0, null),
      sameCell(1e21, '1000000000000000000000'),
    ]).toEqual([true, false, true]);
  });
});

describe('selection', () => {
  const form = { id: 'f1', slug: 'jobs', name: 'Jobs', fields: [{ id: 'field_1', label: 'Name' }] };

  const isSelected = (...lists: Parameters<typeof parseSelection>) =>
    fieldTest(parseSelection(...lists).fields, form);

  it('L11: a field leaves only when it, its form or everything is selected', () => {
    expect(isSelected(['*'])('x')).toBe(true);
    expect(isSelected(['jobs:*'])('x')).toBe(true);
    expect(isSelected(['f1:*'])('x')).toBe(true);
    expect(isSelected(['field_1'])('field_1')).toBe(true);
    expect(isSelected(['field_1', 'other:*'])('field_2')).toBe(false);
    expect(isSelected([], ['field_2'])('field_2')).toBe(false);
    expect(isSelected(['jobs:field_2'])('field_2')).toBe(true);
    expect(isSelected(['f1:field_2'])('field_1')).toBe(false);
    expect(isSelected(['other:field_2'])('field_2')).toBe(false);
  });

  it.each(['*', 'jobs:*', 'f1:*', 'field_2', 'jobs:field_2', 'f1:field_2'])(
    'L11: %s means the same for hashed fields as for selected ones',
    (entry) => {
      expect(fieldTest(parseSelection([], [entry]).hashed, form)('field_2')).toBe(true);
      expect(fieldTest(parseSelection([entry], []).hashed, form)('field_2')).toBe(false);
    },
  );

  it('say of a form the same, however they are written', () => {
    const of = (...entries: string[]) => namesFor(parseSelection(entries).fields, form);
    expect([of('*'), of('jobs:*', 'x'), of('f1:*')]).toEqual([['*'], ['*'], ['*']]);
    expect(of('jobs:b', 'f1:a', 'other:c', 'other:*', 'b')).toEqual(['a', 'b']);
  });
});
