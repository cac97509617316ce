import { describe, expect, it } from 'vitest';
import { mistakeText } from '../../src/base/errors.ts';
import { parseSelection } from '../../src/mirror/selection.ts';
import { mistakesIn } from '../../src/sync/names.ts';

const field = (id: string, label: string) => ({ id, label });
const JOBS = {
  id: 'form_1',
  slug: 'job-application',
  name: 'Job application',
  fields: [
    field('field_1700000000001_name', 'Your name'),
    field('field_1700000000002_email', 'E-mail'),
  ],
};
const FEEDBACK = { id: 'form_2', slug: 'customer-feedback', name: 'Feedback', fields: [] };
const KNOWN = {
  forms: [JOBS, FEEDBACK],
  copied: [],
  ids: new Map<string, string>(),
};

const settings = (
  forms: '*' | string[],
  fields: string[],
  { hashed = [], name = 'default' }: { hashed?: string[]; name?: string } = {},
) => ({
  name,
  forms,
  selection: parseSelection(fields, hashed),
  variables: { forms: 'TARGET_FORMS', fields: 'TARGET_FIELDS', hashFields: 'TARGET_HASH_FIELDS' },
});

/** `variable name` of each mistake. */
const found = (...args: Parameters<typeof settings>): string[] =>
  mistakesIn([settings(...args)], KNOWN).map(
    ({ variable, message }) => `${variable} ${message.split(' ')[1]?.replace(',', '')}`,
  );

describe('names in the settings that match nothing', () => {
  it('are reported together with those that match, per name and variable', () => {
    const fields = ['job-application:*', 'job-aplication:*', 'field_1', '*'];
    expect(found(['customer-feedback', 'form_1', 'nope'], fields, { hashed: ['field_2'] })).toEqual(
      [
        'TARGET_FORMS nope',
        'TARGET_FIELDS job-aplication:*',
        'TARGET_FIELDS field_1',
        'TARGET_HASH_FIELDS field_2',
      ],
    );
  });

  it('do not exist if a target knows the names: a form that is gone, a field of its catalog', () => {
    const fields = [field('field_old', 'Old')];
    const gone = { id: 'form_9', slug: 'summer', name: 'Summer', fields };
    const known = { ...KNOWN, copied: [gone] };
    const target = settings(['summer', 'form_9', 'form_1'], ['summer:*', 'field_old']);
    expect(mistakesIn([target], known)).toEqual([]);
  });

  it('are sentences', () => {
    const [form] = mistakesIn([settings(['custmer-feedback'], ['*'])], KNOWN);
    expect(form && mistakeText(form)).toBe(
      'TARGET_FORMS names custmer-feedback, and there is no such form: the forms are job-application, customer-feedback.',
    );
  });

  it('name at most ten forms, or the command that lists the fields', () => {
    const forms = Array.from({ length: 11 }, (_, nth) => ({
      ...JOBS,
      id: `f${nth}`,
      slug: `s${nth}`,
    }));
    const known = { ...KNOWN, forms };
    const [form, field] = mistakesIn([settings(['nosuch'], ['field_9'])], known);
    expect(form?.message).toMatch(/: the forms are s0, .*, s9 and more$/);
    expect(field?.message).toContain('forms-mirror forms <form> lists the fields of a form');
  });
});
