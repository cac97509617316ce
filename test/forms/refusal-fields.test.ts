import { describe, expect, it } from 'vitest';
import { type RefusalLimits, refusalFields } from '../../src/forms/refusal-fields.ts';

const any = (secrets: string[] = []): RefusalLimits => ({ secrets, subjects: null });

const read = (fields: unknown, secrets: string[] = []): Record<string, string> =>
  Object.fromEntries(refusalFields(JSON.stringify({ message: 'no', fields }), any(secrets)));

describe('refusalFields', () => {
  it.each<[string, unknown, Record<string, string>]>([
    [
      'an object of texts',
      { a: 'is required', b: 'is wrong' },
      { a: 'is required', b: 'is wrong' },
    ],
    ['an object of lists', { a: ['is required', 'is short'] }, { a: 'is required; is short' }],
    ['an object of objects', { a: { message: 'is required' } }, { a: 'is required' }],
    ['a list of objects', [{ field: 'a', message: 'is required' }], { a: 'is required' }],
    ['other names', [{ path: ['data', 'a'], error: 'bad' }], { 'data.a': 'bad' }],
    ['a list of texts', ['a is required'], { '#1': 'a is required' }],
    ['no message', [{ field: 'a' }, 7, null], { a: 'refused', '#2': 'refused', '#3': 'refused' }],
    ['nothing usable', 'all', {}],
  ])('reads %s', (_name, fields, expected) => {
    expect(read(fields)).toEqual(expected);
  });

  it.each(['', '<html>', '[]', 'null', '{"fields":', '{"errors":{"a":"b"}}'])(
    'finds none in %j',
    (body) => {
      expect(refusalFields(body, any()).size).toBe(0);
    },
  );

  it('shows nothing but `fields` of a body', () => {
    expect([...refusalFields('{"message":"Anna Nová","fields":{"a":"x"}}', any())]).toEqual([
      ['a', 'x'],
    ]);
  });

  it.each([
    ['anna@example.com', '"anna@example.com" is not an address'],
    ['Anna Nováková', 'ANNA NOVÁKOVÁ is known already'],
    ['a very long answer that the server cuts', 'invalid: a very long ans…'],
    ['42', 'must not be 42.'],
    ['č. 7', 'got č. 7 instead'],
  ])('L11: withholds a message that repeats the answer %j', (secret, message) => {
    const shown = read({ a: message }, [secret])['a'];
    expect(shown).toContain('not shown');
    expect(shown).not.toContain(message.slice(0, 8));
  });

  it('L11: withholds a name that is an answer', () => {
    expect(read({ 'Anna Nová': 'is wrong' }, ['Anna Nová'])).toEqual({
      '(name hidden)': 'is wrong',
    });
  });

  it('L11: shows only what is about what we sent, where the API may speak of what it holds', () => {
    const limits = { secrets: [], subjects: ['status'] };
    const fields = {
      fields: { status: 'cannot follow PAID', field_1: '"Anna Nová" is too short' },
    };
    expect([...refusalFields(JSON.stringify(fields), limits)]).toEqual([
      ['status', 'cannot follow PAID'],
      ['field_1', expect.stringContaining('not shown')],
    ]);
    const sentences = { fields: ['status: no', 'Anna Nová is no status'] };
    expect([...refusalFields(JSON.stringify(sentences), limits).values()]).toEqual([
      'status: no',
      expect.stringContaining('not shown'),
    ]);
  });

  it('does not take chance for a repetition', () => {
    expect(read({ a: 'must be at least 15' }, ['1', 'e', '', ' ', 'm'])['a']).toBe(
      'must be at least 15',
    );
  });

  it('is bounded and well-formed, and takes a field called __proto__', () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, at) => [`f${at}`, 'x'.repeat(5_000)]),
    );
    const fields = refusalFields(JSON.stringify({ fields: many }), any());
    expect(fields.size).toBe(50);
    expect(fields.get('f0')).toHaveLength(200);
    expect([...refusalFields('{"fields":{"__proto__":"\\ud800\\u0000"}}', any())]).toEqual([
      ['__proto__', '\ufffd\u2400'],
    ]);
  });
});
