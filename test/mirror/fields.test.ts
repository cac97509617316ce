import { describe, expect, it } from 'vitest';
import { followFields, selectedFields } from '../../src/mirror/fields.ts';
import type { StoredField } from '../../src/mirror/port.ts';
import { parseSelection } from '../../src/mirror/selection.ts';
import type { Form } from '../../src/mirror/types.ts';

const form: Form = {
  id: 'form_1',
  slug: 'enrolment',
  name: 'Enrolment',
  fields: [
    { id: 'a', label: 'Name' },
    { id: '__proto__', label: 'Name' },
    { id: 'b', label: ' \u200b\n' },
    { id: 'a', label: 'Second of one ID' },
    { id: 'c', label: 'Příjmení 🎉' },
  ],
};

const short = (fields: ReturnType<typeof selectedFields>): string[] =>
  fields.map((field) => `${field.position} ${field.id} ${field.label} ${field.inSchema}`);

describe('selectedFields', () => {
  const known = [
    { id: 'c', label: 'Old label of a live field' },
    { id: 'gone', label: 'Shoe size' },
    { id: 'mute', label: ' ' },
  ];

  it('L9: schema first, then fields of the catalog, then fields that only answers have', () => {
    const fields = selectedFields(
      form,
      parseSelection(['*']),
      known,
      new Set(['old', 'gone', 'a']),
    );
    expect(short(fields)).toEqual([
      '0 a Name true',
      '1 __proto__ Name true',
      '2 b b true',
      '3 c Příjmení 🎉 true',
      '4 gone Shoe size false',
      '5 mute mute false',
      '6 old old false',
    ]);
  });

  it('L11: contains only selected fields, from every origin', () => {
    const selection = parseSelection(['c', 'old', 'other:*', 'nowhere']);
    const fields = selectedFields(form, selection, known, ['old', 'older']);
    expect(short(fields)).toEqual(['3 c Příjmení 🎉 true', '6 old old false']);
  });

  it('marks the hashed ones; hashing selects nothing', () => {
    const fields = selectedFields(form, parseSelection(['a', 'c'], ['a', 'b']), [], []);
    expect(fields.map(({ id, hashed }) => [id, hashed])).toEqual([
      ['a', true],
      ['c', false],
    ]);
  });
});

it('L9: fields that are not selected any more follow their label, and leave with their field', () => {
  const known = { position: 9, column: 'x', isFilled: true, isInForm: true };
  const before: StoredField[] = [
    { ...known, id: 'a', label: 'Old' },
    { ...known, id: 'gone', label: 'Old' },
  ];
  expect(followFields(before, form, [], { column: null })).toEqual([
    { ...known, id: 'a', label: 'Name', position: 0 },
    { ...known, id: 'gone', label: 'Old', isInForm: false },
  ]);
});
