import { describe, expect, it } from 'vitest';
import { hashedCell, sameCell, toCell } from '../../src/mirror/cells.ts';
import { differingColumns, Join } from '../../src/mirror/row.ts';
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
  data: Object.fromEntries(data),
});

describe('the join', () => {
  it('L11: takes selected answers and nothing else', () => {
    const answers = submission([
      ['name', 'Jana'],
      ['secret', 'never'],
    ]);
    const { row } = new Join([field('name'), field('absent')], undefined).row(answers, []);
    expect(['name', 'absent', 'secret'].map((id) => row.cells.get(id) ?? null)).toEqual([
      'Jana',
      null,
      null,
    ]);
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
    const { row, reasons } = new Join([field('a'), field('b')], undefined).row(answers, [
      'status is missing',
    ]);
    expect([row.cells.get('a'), row.cells.get('b')]).toEqual(['x\ufffd', '\ufffdy']);
    expect(reasons.map((reason) => reason.includes('x'))).toEqual([false, false]);
  });

  it('L6: an absurdly nested answer is replaced visibly, and holds up no other', () => {
    const text = `{"deep":${'[{"y":'.repeat(30_000)}1${'}]'.repeat(30_000)},"b":[[["ok"]]]}`;
    const data = JSON.parse(text) as Readonly<Record<string, Json>>;
    const join = new Join([field('deep'), field('b')], undefined);
    const { row, reasons } = join.row({ ...submission([]), data }, []);
    expect(reasons).toEqual(['an answer is nested too deeply']);
    expect(row.cells.get('deep')).toBe('[nested too deeply]');
    expect(row.cells.get('b')).toEqual(new JsonText('[[["ok"]]]'));
  });

  it('is not fooled by what each object has', () => {
    const data = JSON.parse('{"__proto__":"own"}') as Readonly<Record<string, Json>>;
    const names = ['__proto__', 'constructor', 'toString'];
    const join = new Join(
      names.map((name) => field(name)),
      undefined,
    );
    const cellsOf = (each: Readonly<Record<string, Json>>) => {
      const { row } = join.row({ ...submission([]), data: each }, []);
      return names.map((name) => row.cells.get(name));
    };
    expect(cellsOf(data)).toEqual(['own', null, null]);
    expect(cellsOf({})).toEqual([null, null, null]);
  });

  it('L11: a hashed field leaves as a keyed hash; equal answers stay equal, under another key they differ', () => {
    const answers = submission([['mail', 'a@b.c']]);
    const { row } = new Join([field('mail', true)], 'key').row(answers, []);
    expect(row.cells.get('mail')).toBe(hashedCell('a@b.c', 'key'));
    expect(hashedCell('a@b.c', 'other')).not.toBe(row.cells.get('mail'));
    expect(() => new Join([field('mail', true)], undefined).row(answers, [])).toThrow('hash key');
  });

  it('sees which columns differ, and that a number in a column of texts is the same', () => {
    const { row } = new Join([field('n'), field('t')], undefined).row(
      submission([
        ['n', 7],
        ['t', 'new'],
      ]),
      [],
    );
    const cells = new Map([
      ['n', '7'],
      ['t', 'old'],
    ]);
    const stored = { ...row, cells, deletedAt: null };
    expect(differingColumns(row, stored, [field('n'), field('t')])).toEqual(['t']);
    const gone = { ...stored, status: 'DONE', deletedAt: '2026-01-02T00:00:00.000Z' };
    expect(differingColumns(row, gone, [field('n')])).toEqual(['status', '_deleted_at']);
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
