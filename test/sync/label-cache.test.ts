import { describe, expect, it } from 'vitest';
import type { FormsClient } from '../../src/forms/client.ts';
import type { Form } from '../../src/mirror/types.ts';
import { LABEL_TTL_MS, LabelCache, LISTED_LABEL_TTL_MS } from '../../src/sync/label-cache.ts';

const FIELD = { id: 'field_1', label: 'Name' };
const form = (...fields: Form['fields'][number][]): Form => {
  return { id: 'f1', slug: 'contact', name: 'Contact', fields };
};

describe('the labels of a form', () => {
  let now = 0;
  const client = { asked: 0, getForm: async (): Promise<Form> => (client.asked++, form(FIELD)) };
  const clock = { now: () => now, sleep: async (): Promise<void> => {} };
  const cache = new LabelCache(client as unknown as FormsClient, clock);
  /** Whether they are read again after so long. */
  const isReadAfter = async (ms: number): Promise<boolean> => {
    now += ms;
    const before = client.asked;
    await cache.form('f1', { fresh: false, call: {} });
    return client.asked > before;
  };

  it('are read again after some minutes, unless the list of forms shows the same fields meanwhile', async () => {
    expect(await isReadAfter(0)).toBe(true);
    expect(await isReadAfter(LABEL_TTL_MS - 1)).toBe(false);
    expect(await isReadAfter(1)).toBe(true);
    for (let minutes = 0; minutes < 5; minutes++) {
      now += LABEL_TTL_MS - 1;
      cache.follow(form(FIELD));
      expect(await isReadAfter(LABEL_TTL_MS - 1)).toBe(false);
    }
  });

  it('L9: are read again after an hour all the same, as the list may be an old copy', async () => {
    await cache.form('f1', { fresh: true, call: {} });
    for (let ms = 0; ms < LISTED_LABEL_TTL_MS; ms += 60_000) {
      now += 60_000;
      cache.follow(form(FIELD));
    }
    expect(await isReadAfter(0)).toBe(true);
  });

  it('L9: are read again at once where it shows other fields, and not where it shows none', async () => {
    await cache.form('f1', { fresh: true, call: {} });
    cache.follow(form());
    expect(await isReadAfter(0)).toBe(false);
    cache.follow(form({ ...FIELD, label: 'Full name' }));
    expect(await isReadAfter(0)).toBe(true);
  });
});
