import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseExactJson } from '../../src/mirror/json.ts';
import { namelessKeys } from '../../src/forms/submission-item.ts';
import type { SubmissionItem } from '../../src/mirror/types.ts';
import { singleSubmission, submissionItem } from '../../src/forms/submission-item.ts';
import { ExactNumber } from '../../src/mirror/types.ts';

const whole = {
  id: 's1',
  formId: 'f1',
  status: 'NEW',
  createdAt: '2026-01-01T10:00:00.000Z',
  data: { a: 'x' },
};

const nameless = namelessKeys('fk_secret');

const item = (changes: object): SubmissionItem =>
  submissionItem({ ...whole, ...changes }, 'asked', nameless);

describe('L6: an item of the submissions list', () => {
  it.each<[object, string, object]>([
    [{ status: 'x'.repeat(501) }, 'The status cannot be stored.', { status: '' }],
    [{ status: 'a\0b' }, 'The status cannot be stored.', { status: '' }],
    [
      { createdAt: 'yesterday' },
      'The time of creation (createdAt) is not a date.',
      { createdAt: null },
    ],
    [{ createdAt: null }, 'The time of creation (createdAt) is missing.', { createdAt: null }],
    [{ createdAt: 7 }, 'The time of creation (createdAt) is not a date.', { createdAt: null }],
    [{ data: ['x'] }, 'The answers (data) are not an object.', { data: {} }],
    [{ data: new ExactNumber('1') }, 'The answers (data) are not an object.', { data: {} }],
  ])('keeps the usable parts of an item with a defect: %j', (changes, defect, kept) => {
    const { key, submission, defects } = item(changes);
    expect(defects).toEqual([defect]);
    expect(key).toBe('s1');
    expect(submission).toEqual({ ...whole, ...kept });
  });

  it.each([
    [null, 'The ID is missing.'],
    [['s1'], 'The ID is not a text.'],
    ['a\nb', 'The ID cannot be stored.'],
    ['\ud800', 'The ID cannot be stored.'],
    ['x'.repeat(501), 'The ID cannot be stored.'],
  ])('without a usable ID (%j) has a stable key', (id, defect) => {
    const first = item({ id });
    expect(first).toEqual({
      key: expect.stringMatching(/^no-id:[0-9a-f]{32}$/),
      submission: null,
      status: 'NEW',
      defects: [defect],
    });
    expect(item({ id }).key).toBe(first.key);
    expect(item({ id, data: { a: 'y' } }).key).not.toBe(first.key);
    expect(submissionItem({ ...whole, id }, 'asked', namelessKeys('fk_secret'))).toEqual(first);
  });

  it('L11: gets a key, if it has no ID, from which its answers cannot be guessed without the secret', () => {
    const answered = { ...whole, id: '', data: { a: 'yes' } };
    const { key } = submissionItem(answered, 'f1', nameless);
    // An attacker who knows everything else can try the few possible answers.
    for (const text of ['yes', JSON.stringify(answered), JSON.stringify(answered.data)]) {
      const digest = createHash('sha256').update(text).digest('hex');
      expect(key).not.toContain(digest.slice(0, 8));
    }
    expect(submissionItem(answered, 'f1', namelessKeys('another')).key).not.toBe(key);
  });

  it('keeps a field called __proto__, and ignores inherited ones', () => {
    const json = parseExactJson(
      '{"__proto__":{"id":"evil","status":"DONE"},"id":"s1","data":{"__proto__":12345678901234567890,"constructor":"x"}}',
    );
    const { submission } = submissionItem(json, 'f1', nameless);
    expect(submission).toMatchObject({ id: 's1', status: '' });
    expect(Object.entries(submission?.data ?? {})).toEqual([
      ['__proto__', new ExactNumber('12345678901234567890')],
      ['constructor', 'x'],
    ]);
  });

  it('may be absurdly nested without an ID', () => {
    const deep = parseExactJson(
      `{"x":${'[{"y":'.repeat(30_000)}1${'}]'.repeat(30_000)}}`,
    ) as object;
    expect(submissionItem({ data: deep }, 'f1', nameless).submission).toBeNull();
  });

  it('L11: never puts a value into a defect', () => {
    const secret = 'tajemství';
    const items = [
      item({ createdAt: secret }),
      item({ data: secret }),
      item({ id: [secret] }),
      submissionItem(secret, 'f', nameless),
    ];
    for (const { defects, key } of items) expect(`${defects.join()} ${key}`).not.toContain(secret);
  });
});

describe('the answer to one submission', () => {
  it.each<[string, unknown]>([
    ['wrapped beside other things', { success: true, data: whole, meta: { id: 'req-1' } }],
    ['wrapped beside an ID of its own', { id: 'req-1', status: 'ok', item: whole }],
  ])('is found %s', (_name, json) => {
    expect(singleSubmission(json, 's1')).toEqual({
      key: 's1',
      submission: whole,
      defects: [],
    });
  });

  it.each<[unknown]>([[{ ...whole, id: 's2' }], [[whole]], [{ a: { b: whole } }]])(
    'is not found in %j',
    (json) => {
      expect(singleSubmission(json, 's1')).toBeUndefined();
    },
  );
});
