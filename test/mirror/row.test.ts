import { describe, expect, it } from 'vitest';
import { submissionItem } from '../../src/forms/submission-item.ts';
import { MAX_FIELD_ID } from '../../src/mirror/fields.ts';
import { hashedCell, sameCell, toCell } from '../../src/mirror/cells.ts';
import { differingColumns, Join, MAX_UNLISTED_FIELDS } from '../../src/mirror/row.ts';
import { fieldTest, namesFor, parseSelection } from '../../src/mirror/selection.ts';
import {
  ExactNumber,
  type Json,
  JsonText,
  type SelectedField,
  type Submission,
} from '../../src/mirror/types.ts';

const field = (id: string): SelectedField => ({
  id,
  label: id,
  position: 0,
  inSchema: true,
  hashed: false,
});

/** The join of a form with these fields. */
const joinOf = (ids: readonly string[], hashed: readonly string[] = [], hashKey?: string): Join => {
  const fields = ids.map((id) => ({ id, label: id }));
  const form = { id: 'f', slug: 'f', name: 'F', fields };
  return new Join({ selection: parseSelection(ids, hashed), hashKey }, form, []);
};
/** A submission's row, and its defects. */
const joined = (join: Join, submission: Submission, defects: readonly string[] = []) => {
  const { row, entry } = join.item({ key: submission.id, submission, defects }, 0);
  if (row === null) throw new Error('it has no row');
  return { row, reasons: entry?.reason.split('; ') ?? [] };
};

const submission = (data: [string, Json][]) => ({
  id: 's1',
  formId: 'f',
  status: 'NEW',
  createdAt: '2026-01-01T00:00:00.000Z',
  data: Object.fromEntries(data),
});

describe('the join', () => {
  it('L11: takes only selected answers', () => {
    const answers = submission([
      ['name', 'Jana'],
      ['secret', 'never'],
    ]);
    const { row } = joined(joinOf(['name', 'absent']), answers);
    expect(['name', 'absent', 'secret'].map((id) => row.cells.get(id) ?? null)).toEqual([
      'Jana',
      null,
      null,
    ]);
    expect(row.createdAt).toBe('2026-01-01T00:00:00.000Z');
  });

  it('L6: lists a row with a defect under its status and time', () => {
    const whole = submission([]);
    const { id, status, createdAt } = whole;
    const { entry } = joinOf([]).item({ key: id, submission: whole, defects: ['a defect'] }, 7);
    expect(entry).toEqual({
      kind: 'rejected',
      id,
      status,
      createdAt,
      reason: 'a defect',
      atMs: 7,
    });
  });

  it('L10: has a cell for every type of answer', () => {
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
    const { row, reasons } = joined(joinOf(['a', 'b']), answers, ['The status is missing.']);
    expect([row.cells.get('a'), row.cells.get('b')]).toEqual(['x\ufffd', '\ufffdy']);
    expect(reasons.map((reason) => reason.includes('x'))).toEqual([false, false]);
  });

  it('L6: an absurdly nested answer is replaced visibly, and delays no other', () => {
    const text = `{"deep":${'[{"y":'.repeat(30_000)}1${'}]'.repeat(30_000)},"b":[[["ok"]]]}`;
    const data = JSON.parse(text) as Readonly<Record<string, Json>>;
    const { row, reasons } = joined(joinOf(['deep', 'b']), { ...submission([]), data });
    expect(reasons).toEqual(['An answer is nested too deeply.']);
    expect(row.cells.get('deep')).toBe('[nested too deeply]');
    expect(row.cells.get('b')).toEqual(new JsonText('[[["ok"]]]'));
  });

  it('ignores the properties that each object has', () => {
    const data = JSON.parse('{"__proto__":"own"}') as Readonly<Record<string, Json>>;
    const names = ['__proto__', 'constructor', 'toString'];
    const join = joinOf(names);
    const cellsOf = (each: Readonly<Record<string, Json>>) => {
      const { row } = joined(join, { ...submission([]), data: each });
      return names.map((name) => row.cells.get(name));
    };
    expect(cellsOf(data)).toEqual(['own', null, null]);
    expect(cellsOf({})).toEqual([null, null, null]);
  });

  it('L11: writes a hashed field as a keyed hash; equal answers have equal hashes, and another key gives others', () => {
    const answers = submission([['mail', 'a@b.c']]);
    const { row } = joined(joinOf(['mail'], ['mail'], 'key'), answers);
    expect(row.cells.get('mail')).toBe(hashedCell('a@b.c', 'key'));
    expect(hashedCell('a@b.c', 'other')).not.toBe(row.cells.get('mail'));
    expect(() => joined(joinOf(['mail'], ['mail']), answers)).toThrow('hash key');
  });

  it('finds the columns that differ; a number in a text column is equal to its text', () => {
    const { row } = joined(
      joinOf(['n', 't']),
      submission([
        ['n', 7],
        ['t', 'new'],
      ]),
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

  it('L11: includes a field only if it, its form or everything is selected', () => {
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

  it('means the same for a form in each notation', () => {
    const of = (...entries: string[]) => namesFor(parseSelection(entries).fields, form);
    expect([of('*'), of('jobs:*', 'x'), of('f1:*')]).toEqual([['*'], ['*'], ['*']]);
    expect(of('jobs:b', 'f1:a', 'other:c', 'other:*', 'b')).toEqual(['a', 'b']);
  });
});

const FORM = { id: 'f', slug: 'f', name: 'F', fields: [{ id: 'a', label: 'A' }] };
const item = (...ids: string[]) => {
  const data = Object.fromEntries(ids.map((id) => [id, 1]));
  const json = { id: 's', formId: 'f', status: 'NEW', createdAt: '2026-01-01T00:00:00Z', data };
  return submissionItem(json, 'f', () => '');
};

describe('fields that only answers carry', () => {
  it('L9: are found once, if they are selected and have a usable ID', () => {
    const long = 'x'.repeat(MAX_FIELD_ID + 1);
    const selection = parseSelection(['a', 'b', 'c', 'd', long]);
    const known = [{ id: 'b', label: 'B' }];
    const join = new Join({ selection, hashKey: undefined }, FORM, known);
    expect(join.meet([item('a', 'b', 'unselected', long)])).toBe(false);
    expect(join.meet([item('a', 'c')])).toBe(true);
    expect(join.meet([item('c')])).toBe(false);
    join.prepare(FORM, known);
    expect(join.meet([item('c', 'd')])).toBe(true);
    join.prepare(FORM, known);
    expect(join.fields.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
    expect(join.item(item('a', 'c', 'unselected'), 0).entry).toBeNull();
    expect(join.item(item(long), 0).entry?.reason).toContain('longer than 500');
  });

  it('L14: have a limit, and fields of the catalog count toward it', () => {
    const known = Array.from({ length: MAX_UNLISTED_FIELDS - 1 }, (_, at) => {
      return { id: String(at), label: '' };
    });
    const join = new Join({ selection: parseSelection(['*']), hashKey: undefined }, FORM, known);
    expect(join.meet([item('a', 'c', 'd')])).toBe(true);
    join.prepare(FORM, known);
    expect(join.fields).toHaveLength(MAX_UNLISTED_FIELDS + 1);
    expect(join.item(item('c', 'd'), 0).entry?.reason).toContain('than 1,000');
  });
});
