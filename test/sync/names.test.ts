import { describe, expect, it } from 'vitest';
import { mistakeText } from '../../src/base/errors.ts';
import { nearestName } from '../../src/base/nearest-name.ts';
import { parseSelection } from '../../src/mirror/selection.ts';
import { mistakesIn, type NameMistake } from '../../src/sync/names.ts';

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
  held: [],
  fields: new Set<string>(),
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

/** The name that a mistake proposes. */
const nearest = (mistake: NameMistake | undefined): string | null =>
  /did you mean (.*)\?$/.exec(mistake?.message ?? '')?.[1] ?? null;

/** `variable name → nearest` of each. */
const found = (...args: Parameters<typeof settings>): string[] =>
  mistakesIn([settings(...args)], KNOWN).map(
    (mistake) => `${mistake.variable} ${mistake.name} → ${nearest(mistake)}`,
  );

describe('names in the settings that match nothing', () => {
  it('to be hashed: a field that is not selected; nothing is known of one that only old answers have', () => {
    const [name, email] = JOBS.fields.map(({ id }) => id);
    const ofHashed = (fields: string[], hashed: string): string[] =>
      mistakesIn([settings('*', fields, { hashed: [hashed] })], {
        ...KNOWN,
        fields: new Set(['field_old']),
      }).map((mistake) => mistake.message);
    const mistake = [expect.stringContaining('no selected field has this name')];
    expect(ofHashed([name ?? ''], email ?? '')).toEqual(mistake);
    expect(ofHashed([name ?? '', 'field_old'], email ?? '')).toEqual(mistake);
    expect(ofHashed(['customer-feedback:*'], 'job-application:*')).toEqual(mistake);
    expect(ofHashed([name ?? ''], 'job-application:*')).toEqual([]);
    expect(ofHashed(['field_old'], 'job-application:*')).toEqual([]);
    expect(ofHashed([name ?? ''], 'field_old')).toEqual([]);
  });

  it('are reported along with those that match, per name and variable', () => {
    const fields = ['job-application:*', 'job-aplication:*', 'field_1', '*'];
    expect(found(['customer-feedback', 'form_1', 'nope'], fields, { hashed: ['field_2'] })).toEqual(
      [
        'TARGET_FORMS nope → null',
        'TARGET_FIELDS job-aplication:* → job-application:*',
        'TARGET_FIELDS field_1 → null',
        'TARGET_HASH_FIELDS field_2 → null',
      ],
    );
  });

  it.each([
    ['a slip in an ID', 'field_1700000000001_nmae', 'field_1700000000001_name'],
    ['a label', 'E-mail', 'field_1700000000002_email'],
    ['a label in other signs', 'your_name', 'field_1700000000001_name'],
    ['the end of an ID', 'name', 'field_1700000000001_name'],
    ['a form without its star', 'customer-feedback', 'customer-feedback:*'],
    ['another ID of as many digits', 'field_1700000000009_birthday', null],
  ])('a field: %s', (_case, name, right) => {
    expect(found('*', [name])).toEqual([`TARGET_FIELDS ${name} → ${right}`]);
  });

  it.each([
    ['custmer-feedback', 'customer-feedback'],
    ['Job', null],
    ['nosuch', null],
  ])('a form: %s is nearest to %s', (name, right) => {
    expect(found([name], ['*'])).toEqual([`TARGET_FORMS ${name} → ${right}`]);
  });

  it('are none where a target knows them: a form that is gone, a field of its catalogue', () => {
    const gone = { id: 'form_9', slug: 'summer', name: 'Summer' };
    const known = { ...KNOWN, held: [gone], fields: new Set(['field_old']) };
    const target = settings(['summer', 'form_9', 'form_1'], ['summer:*', 'field_old']);
    expect(mistakesIn([target], known)).toEqual([]);
  });

  it('a form that has another slug now is not mirrored under its old one: the new one is named', () => {
    const before = { ...JOBS, slug: 'vacancies' };
    const known = { ...KNOWN, held: [before] };
    const [mistake] = mistakesIn([settings(['vacancies'], ['*'])], known);
    expect([mistake?.name, nearest(mistake)]).toEqual(['vacancies', 'job-application']);
  });

  it('one variable for two targets is reported once', () => {
    const both = ['a', 'b'].map((name) => settings('*', ['nope'], { name }));
    expect(mistakesIn(both, KNOWN)).toMatchObject([{ name: 'nope' }]);
  });

  it('are sentences', () => {
    const [form] = mistakesIn([settings(['custmer-feedback'], ['*'])], KNOWN);
    expect(form && mistakeText(form)).toBe(
      'TARGET_FORMS names custmer-feedback, and there is no such form: did you mean customer-feedback?',
    );
  });

  it('name the forms where none is near, and hold a line to copy', () => {
    const [form, field] = mistakesIn([settings(['nosuch'], ['field_9'])], KNOWN);
    expect(form?.message).toContain(': the forms are job-application, customer-feedback');
    expect(form?.example).toBe('TARGET_FORMS=job-application');
    expect(field?.message).toContain(': forms-mirror forms <form> lists the fields of a form');
    expect(field?.example).toBe("TARGET_FIELDS='job-application:*'");
  });

  it('L15: show nothing that looks like a key', () => {
    const key = 'sk_live_4eC39HqLyjWDarjtT1zdp7dcQ2xV8bNm';
    expect(JSON.stringify(mistakesIn([settings([key], [key])], KNOWN))).not.toContain(key);
  });
});

describe('the nearest name', () => {
  it('is none where nothing is near', () => {
    const forms = ['prihlaska-na-pozici', 'contact'].map((name) => ({ name }));
    expect(nearestName('nosuch', forms)).toBeUndefined();
    expect(nearestName('--', forms)).toBeUndefined();
    expect(nearestName('kontakt', forms)).toBe('contact');
    expect(nearestName('přihláška-na-pozici', forms)).toBe('prihlaska-na-pozici');
  });
});
