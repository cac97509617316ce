import { describe, expect, it } from 'vitest';
import { parseForm } from '../../src/forms/wire.ts';

const bare = { id: 'f1', name: 'Přihláška', slug: 'prihlaska' };

describe('parseForm', () => {
  it('takes the fields of all sections in order; of equal IDs the first counts; unknown fields are ignored', () => {
    const schema = {
      theme: 'dark',
      logic: [{ if: 1 }],
      sections: [
        {
          title: 'x',
          fields: [
            { id: 'a', label: 'Name', type: 'text' },
            { id: 'b', label: '' },
          ],
        },
        {
          fields: [
            { id: 'a', label: 'Twice' },
            { id: 'c', label: 'Name' },
          ],
        },
      ],
    };
    expect(parseForm({ ...bare, isPublished: true, createdAt: 'x', schema })).toEqual({
      ...bare,
      fields: [
        { id: 'a', label: 'Name' },
        { id: 'b', label: '' },
        { id: 'c', label: 'Name' },
      ],
    });
  });

  it.each<[string, unknown]>([
    ['no schema', undefined],
    ['no sections', {}],
    ['sections of another shape', { sections: { a: 1 } }],
    ['no fields', { sections: [{}, { fields: null }, null, 'x', []] }],
  ])('treats %s as an empty form', (_name, schema) => {
    expect(parseForm({ ...bare, schema })).toEqual({ ...bare, fields: [] });
  });

  it('leaves out fields without an ID, and uses odd labels if they are texts', () => {
    const fields = [
      { label: 'x' },
      { id: '' },
      { id: null },
      { id: 'x'.repeat(501), label: 'fits no key' },
      'x',
      { id: 7 },
      { id: 'n', label: null },
      { id: 'o', label: {} },
    ];
    expect(parseForm({ ...bare, schema: { sections: [{ fields }] } })?.fields).toEqual([
      { id: 'n', label: '' },
      { id: 'o', label: '' },
    ]);
  });

  it('replaces half a character and U+0000 in names, which no database can hold', () => {
    const label = 'A\ud83e\0';
    const schema = { sections: [{ fields: [{ id: 'a', label }] }] };
    const shown = 'A\ufffd\u2400';
    expect(parseForm({ id: 'x', slug: label, name: label, schema })).toEqual({
      id: 'x',
      slug: shown,
      name: shown,
      fields: [{ id: 'a', label: shown }],
    });
  });

  it.each<[unknown]>([
    [null],
    [{ id: '' }],
    [{ id: 'nul \0' }],
    [{ id: 'half \ud83d' }],
    [{ a: bare, b: bare }],
  ])('finds no form in %j', (json) => {
    expect(parseForm(json)).toBeUndefined();
  });
});
