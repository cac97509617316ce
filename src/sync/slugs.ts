import type { Store } from '../mirror/port.ts';
import { changeRecord, readRecord } from './records.ts';

/*
 * A slug in the settings means the form that it first named (L11): slugs move from form to form at the source. The target keeps
 * which form that was, for every process that writes there.
 */

const KEY = 'slugs';
const NONE: Readonly<Record<string, string>> = {};

/** IDs of forms by the slug that first named them in the settings. */
export const readSlugs = async (store: Store): Promise<ReadonlyMap<string, string>> =>
  new Map(Object.entries(await readRecord(store, KEY, NONE)));

/** Keeps that a slug names a form, unless it names one already. The ID of the form that it names. */
export async function bindSlug(store: Store, slug: string, formId: string): Promise<string> {
  const slugs = await changeRecord(store, KEY, NONE, (before) =>
    Object.hasOwn(before, slug) ? before : { ...before, [slug]: formId },
  );
  return slugs[slug] ?? formId;
}
