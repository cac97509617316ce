import { describe, expect, it } from 'vitest';
import { fieldsOf } from '../../src/sandbox/store.ts';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';

const NOW = Date.UTC(2026, 5, 15, 9, 30);

describe('a sample workspace', () => {
  const store = createSampleWorkspace({
    submissions: 2000,
    clock: { now: () => NOW },
    seed: 'sample',
  });

  it('spreads 1,250 submissions over 3 forms by default', () => {
    const usual = createSampleWorkspace({ clock: { now: () => NOW } });
    expect(
      usual.forms().map(({ slug }) => [slug, usual.all(usual.formBySlug(slug)?.id).length]),
    ).toEqual([
      ['prihlaska-na-pozici', 625],
      ['anmeldung-sommerfest', 375],
      ['customer-feedback', 250],
    ]);
    expect(usual.all()).toHaveLength(1250);
  });

  it('has a field in each form that was deleted: only older answers still have it', () => {
    for (const form of store.forms()) {
      const known = new Set(fieldsOf(form).map(({ id }) => id));
      const gone = Array.from(store.all(form.id), ({ data }) =>
        Object.keys(data).some((id) => !known.has(id)),
      );
      expect(gone.includes(true)).toBe(true);
      expect(gone.lastIndexOf(true)).toBeLessThan(gone.length * 0.4);
    }
  });
});
