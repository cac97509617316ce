import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fieldColumnName,
  formTableName,
  MAX_NAME_BYTES,
  SYSTEM_COLUMNS,
  uniqueName,
  VIEW_SUFFIXES,
  viewLabels,
} from '../../src/mirror/column-names.ts';
import { propertyRuns } from '../support/property.ts';

const NONE: ReadonlySet<string> = new Set();
const seed = propertyRuns(100);
const nameOf = (label: string, id = 'field_1_a'): string => fieldColumnName({ id, label }, NONE);

const anyLabel = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(...SYSTEM_COLUMNS, 'Order', 'SELECT', 'user', 'oid', 'ctid', '2nd', '', ' ', '!'),
);
const anyFields = fc.array(fc.record({ id: fc.string({ maxLength: 30 }), label: anyLabel }), {
  maxLength: 40,
});

/** Names for fields that arrive one after the other. */
function nameAll(fields: readonly { id: string; label: string }[]): string[] {
  const taken = new Set<string>();
  return fields.map((field) => {
    const name = fieldColumnName(field, taken);
    taken.add(name);
    return name;
  });
}

describe('fieldColumnName', () => {
  it.each([
    ['First name', 'first_name'],
    ['Příjmení', 'prijmeni'],
    ['E-mail', 'e_mail'],
    ["What's your age?", 'whats_your_age'],
    ['姓名', 'xingming'],
    ['Straße & Nr.', 'strasse_nr'],
    ['iPhone model', 'iphone_model'],
    ['  --Total (EUR)  ', 'total_eur'],
    ['Date', 'date'],
    ['Order', 'f_order'],
    ['Status', 'f_status'],
    ['ID', 'f_id'],
    ['Created at', 'f_created_at'],
    ['2nd choice', 'f_2nd_choice'],
    ['rowid', 'f_rowid'],
    ['Condition', 'f_condition'],
    ['Rank', 'f_rank'],
    ['???', 'field_1_a'],
    ['', 'field_1_a'],
  ])('L9: %j becomes %s', (label, name) => {
    expect(nameOf(label)).toBe(name);
  });

  it('L9: keeps long labels with the same beginning distinct, the same way each time', () => {
    const label = 'Please describe in your own words what you liked most about the event';
    const one = nameOf(`${label} on Monday`, 'field_1_a');
    const two = nameOf(`${label} on Tuesday`, 'field_2_b');
    expect(one.length).toBeLessThanOrEqual(MAX_NAME_BYTES);
    expect(one).toMatch(/^please_describe_in_your_own_words_what_you_liked.*_[0-9a-f]{8}$/);
    expect(two).not.toBe(one);
    expect(nameOf(`${label} on Monday`, 'field_1_a')).toBe(one);
  });

  it('L9: gives all labels unique plain names of at most 63 bytes', () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const names = nameAll(fields);
        expect(new Set(names).size).toBe(fields.length);
        for (const name of names) {
          expect(name).toMatch(/^[a-z][a-z0-9_]{0,62}$/);
          expect(SYSTEM_COLUMNS).not.toContain(name);
        }
      }),
      seed,
    );
  });

  it('gives names that SQLite accepts without quotes', () => {
    const database = new DatabaseSync(':memory:');
    fc.assert(
      fc.property(anyFields, (fields) => {
        const columns = ['id', ...nameAll(fields)].join(', ');
        const use = `CREATE TABLE t (${columns}); SELECT ${columns} FROM t; DROP TABLE t`;
        expect(() => database.exec(use)).not.toThrow();
      }),
      seed,
    );
    database.close();
  });
});

describe('formTableName', () => {
  it.each([
    ['contact-form', 'contact_form'],
    ['2026-survey', 'form_2026_survey'],
    ['order', 'form_order'],
    ['sqlite-things', 'form_sqlite_things'],
    ['', 'frm_9'],
  ])('turns the slug %j into the table %s', (slug, table) => {
    expect(formTableName({ id: 'frm_9', slug }, NONE)).toBe(table);
  });

  it('avoids names taken by a table or a view', () => {
    const form = { id: 'f', slug: 'contact' };
    expect(formTableName(form, new Set(['contact']))).toBe('contact_2');
    expect(formTableName(form, new Set(['contact_labelled', 'contact_2']))).toBe('contact_3');
    expect(formTableName(form, new Set(['contact_live', 'contact_2_history']))).toBe('contact_3');
  });

  it('leaves room for the name of the view', () => {
    const table = formTableName({ id: 'f', slug: 'x'.repeat(200) }, NONE);
    expect((table + VIEW_SUFFIXES[0]).length).toBeLessThanOrEqual(MAX_NAME_BYTES);
  });
});

describe('viewLabels', () => {
  const labelsOf = (...labels: string[]): string[] =>
    viewLabels(
      labels.map((label, index) => ({ id: `field_${index}`, label })),
      SYSTEM_COLUMNS,
    );

  it('L9: keeps labels unchanged', () => {
    expect(labelsOf('Příjmení', 'Co "chcete"? 😀')).toEqual(['Příjmení', 'Co "chcete"? 😀']);
  });

  it('L9: numbers labels that are equal, differ only in case or accents, or are system columns', () => {
    expect(labelsOf('Name', 'name', 'Name (2)', 'Status', 'NAME')).toEqual([
      'Name',
      'name (2)',
      'Name (2) (2)',
      'Status (2)',
      'NAME (3)',
    ]);
    expect(labelsOf('İsim', 'isim', 'ısım', 'Café', 'cafe', 'ß', 's', 'ss')).toEqual([
      'İsim',
      'isim (2)',
      'ısım (3)',
      'Café',
      'cafe (2)',
      'ß',
      's (2)',
      'ss',
    ]);
  });

  it('shows the ID if there is no label, and a multi-line label on one line', () => {
    expect(labelsOf(' \n', 'two\nlines\0')).toEqual(['field_0', 'two lines']);
  });

  it('L9: cuts at 63 bytes between characters, keeping labels distinct', () => {
    const long = `a${'👧'.repeat(20)}`;
    expect(labelsOf(long, long)).toEqual([`a${'👧'.repeat(15)}`, `a${'👧'.repeat(14)} (2)`]);
  });

  it('L9: gives all labels unique names of 1 to 63 bytes', () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const labels = viewLabels(fields, SYSTEM_COLUMNS);
        const keys = [...SYSTEM_COLUMNS, ...labels].map((label) => label.toLowerCase());
        expect(new Set(keys).size).toBe(SYSTEM_COLUMNS.length + fields.length);
        for (const label of labels) {
          expect(label.isWellFormed()).toBe(true);
          expect(label).not.toContain('\0');
          expect(Buffer.byteLength(label)).toBeGreaterThan(0);
          expect(Buffer.byteLength(label)).toBeLessThanOrEqual(63);
        }
      }),
      seed,
    );
  });
});

describe('uniqueName', () => {
  it('increments the number until a name is free, within the length', () => {
    const long = 'a'.repeat(63);
    expect(uniqueName(long, new Set([long]))).toBe(`${'a'.repeat(61)}_2`);
    expect(uniqueName('a', new Set(['a', 'a_2']))).toBe('a_3');
  });
});
