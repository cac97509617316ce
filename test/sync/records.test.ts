import { expect, it } from 'vitest';
import type { Store, StoredRecord } from '../../src/mirror/port.ts';
import { noteWriteBack, WRITE_BACKS } from '../../src/sync/records.ts';

/** A target that only keeps records. */
function recordStore(): Store {
  const records = new Map<string, StoredRecord>();
  const store: Pick<Store, 'record' | 'putRecord'> = {
    record: async (key) => records.get(key) ?? null,
    putRecord: async (key, value, revision) => {
      records.set(key, { value, revision: (revision ?? 0) + 1 });
      return true;
    },
  };
  return store as Store;
}

it('L17: a write-back that could not open the targets keeps how many submissions are refused', async () => {
  const store = recordStore();
  const since = '2026-03-01T00:00:00.000Z';
  await noteWriteBack(store, 'f', { since, code: null, error: null, refused: 1 });
  const full = { since, code: 'TARGET_FULL', error: 'No room.' } as const;
  await noteWriteBack(store, 'f', { ...full, refused: null });
  expect(await WRITE_BACKS.read(store)).toEqual({ f: { ...full, refused: 1 } });
  await noteWriteBack(store, 'f', null);
  expect(await WRITE_BACKS.read(store)).toEqual({});
});
