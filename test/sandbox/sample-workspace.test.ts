import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/mirror/types.ts';
import { fieldsOf } from '../../src/sandbox/store.ts';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import type { FormsStore } from '../../src/sandbox/store.ts';

const NOW = Date.UTC(2026, 5, 15, 9, 30);

/** Every answer of the workspace, with the label of its field (undefined: the field is gone). */
function answersOf(store: FormsStore): { label: string | undefined; answer: Json }[] {
  const labels = new Map(
    store
      .forms()
      .flatMap(fieldsOf)
      .map(({ id, label }) => [id, label]),
  );
  return [...store.all()].flatMap(({ data }) =>
    Array.from(data, ([id, answer]) => ({ label: labels.get(id), answer })),
  );
}

const textsOf = (store: FormsStore): string[] =>
  answersOf(store).flatMap(({ answer }) => (typeof answer === 'string' ? [answer] : []));

describe('a sample workspace', () => {
  const store = createSampleWorkspace({ submissions: 2000, now: NOW, seed: 'sample' });

  it('spreads 1,250 submissions over 3 forms by default', () => {
    const usual = createSampleWorkspace({ now: NOW });
    expect(
      usual.forms().map(({ slug }) => [slug, usual.count(usual.formBySlug(slug)?.id)]),
    ).toEqual([
      ['prihlaska-na-pozici', 625],
      ['anmeldung-sommerfest', 375],
      ['customer-feedback', 250],
    ]);
    expect(usual.count()).toBe(1250);
  });

  it.each([0, 1, 7])('has exactly %i submissions on request', (submissions) => {
    expect(createSampleWorkspace({ submissions, now: NOW }).count()).toBe(submissions);
  });

  it('is the same for the same seed and time, and another for another seed', () => {
    const shown = (seed: string) => {
      const one = createSampleWorkspace({ seed, now: NOW, submissions: 60 });
      return JSON.stringify([
        one.forms(),
        [...one.all()].map(({ data, ...rest }) => [rest, Array.from(data)]),
      ]);
    };
    expect(shown('a')).toBe(shown('a'));
    expect(shown('a')).not.toBe(shown('b'));
  });

  it('ends before now, begins after its forms did, and goes on in time', () => {
    for (const form of store.forms()) {
      const times = Array.from(store.all(form.id), ({ createdAtMs }) => createdAtMs);
      expect(times).toEqual(times.toSorted((left, right) => left - right));
      expect(times[0]).toBeGreaterThan(form.createdAtMs);
      expect(times.at(-1)).toBeLessThan(NOW);
    }
  });

  it('has several languages, diacritics and emoji in labels and answers', () => {
    const labels = store
      .forms()
      .flatMap(fieldsOf)
      .map(({ label }) => label)
      .join();
    expect(labels).toMatch(/č.*ß.*⭐/s);
    const texts = textsOf(store).join();
    for (const sign of ['ř', 'ß', 'Ö', 'ı', '小', '🙌', '👩🏽‍🔧']) expect(texts).toContain(sign);
  });

  it('has phones with + and 0, codes and postcodes with leading zeros as text', () => {
    const texts = textsOf(store);
    for (const pattern of [/^\+420/, /^0049/, /^0151/, /^00\d{6}$/, /^01067$/]) {
      expect(texts.some((text) => pattern.test(text))).toBe(true);
    }
  });

  it('has long texts with line breaks, and texts that look like formulas', () => {
    const texts = textsOf(store);
    expect(texts.some((text) => text.length > 2000 && text.includes('\n\n'))).toBe(true);
    expect(texts).toContain('=great');
    expect(texts).toContain('@reception, 2nd floor');
  });

  it('has whole numbers, decimals, empty answers, and answers left out', () => {
    const answers = answersOf(store).map(({ answer }) => answer);
    expect(answers.some((answer) => Number.isInteger(answer))).toBe(true);
    expect(answers.some((answer) => typeof answer === 'number' && answer % 1 !== 0)).toBe(true);
    expect(answers).toContain('');
    const [form] = store.forms();
    const sizes = new Set(Array.from(store.all(form?.id), ({ data }) => data.size));
    expect(sizes.size).toBeGreaterThan(3);
  });

  it('has a field in each form that was deleted: only older answers still carry it', () => {
    for (const form of store.forms()) {
      const known = new Set(fieldsOf(form).map(({ id }) => id));
      const gone = Array.from(store.all(form.id), ({ data }) =>
        data.keys().some((id) => !known.has(id)),
      );
      expect(gone.includes(true)).toBe(true);
      expect(gone.lastIndexOf(true)).toBeLessThan(gone.length * 0.4);
    }
  });

  it('has two fields with one label, labels that differ in case, and one that is a system column', () => {
    const labels = store
      .forms()
      .flatMap(fieldsOf)
      .map(({ label }) => label);
    expect(labels.filter((label) => label === 'Poznámka')).toHaveLength(2);
    expect(labels).toEqual(expect.arrayContaining(['Comments', 'comments', 'Status']));
  });

  it('answers every required field', () => {
    for (const form of store.forms()) {
      const required = fieldsOf(form).filter((field) => field.required);
      for (const { data } of store.all(form.id)) {
        for (const { id } of required) expect(data.get(id)).not.toBeOneOf([undefined, '']);
      }
    }
  });

  it('has every status; the newest are mostly NEW, the oldest not', () => {
    const [form] = store.forms();
    const statuses = Array.from(store.all(form?.id), ({ status }) => status);
    const fresh = (some: string[]) => some.filter((status) => status === 'NEW').length;
    expect(fresh(statuses.slice(-30))).toBeGreaterThan(20);
    expect(fresh(statuses.slice(0, 30))).toBe(0);
    expect(new Set(Array.from(store.all(), ({ status }) => status)).size).toBe(6);
  });
});
