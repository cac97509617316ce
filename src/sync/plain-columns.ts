import { isHashed, isPicked, storedUnder as storedUnderOf } from '../mirror/picks.ts';
import { count } from '../base/format.ts';

import { shellOption } from '../base/printable.ts';
import type { TargetNotice } from '../mirror/port.ts';
import { knownChangesSince, type StoringSettings } from '../mirror/proven-for.ts';
import type { Copy, CopyReader, FormOverview } from '../mirror/target.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { plainFields } from './hash-unseen-rows.ts';

/*
 * Answers that were stored before hashing was switched on, of forms that no pass writes again: gone at the source, or no
 * longer chosen.
 */

/** The settings of a target; `isChosen`: whether they choose a form. */
export interface PlainSettings {
  readonly storing: StoringSettings;
  readonly isChosen: (form: FormIdentity) => boolean;
}

type Field = FormOverview['filledFields'][number];

/** The fields to be hashed whose columns may hold plain answers that no pass will hash. As its checkpoint tells; reads no row. */
export function maybePlainFields(settings: PlainSettings, overview: FormOverview): Field[] {
  const { formId: id, slug, name, goneAt, checkpoint, filledFields } = overview;
  const { storing, isChosen } = settings;
  const form = { id, slug, name };
  if (overview.rows + overview.deletedRows === 0) return [];
  if (goneAt === null && isChosen(form)) return [];
  const { picks } = storing;
  const hashed = filledFields.filter(
    (field) => isPicked(picks, form, field.id) && isHashed(picks, form, field.id),
  );
  const { storedUnder } = overview;
  const isOther =
    checkpoint === null ||
    (storedUnder !== undefined && storedUnder?.hashing !== storedUnderOf(storing, form).hashing) ||
    (storedUnder === undefined &&
      knownChangesSince(checkpoint.provenFor, form, storing, filledFields).includes('hashes'));
  return isOther ? hashed : [];
}

/** Of the fields that {@link maybePlainFields} names those of which a row does hold a plain answer. Reads rows until all were found. */
export async function plainFieldsOf(
  target: Copy,
  settings: PlainSettings,
  overview: FormOverview,
): Promise<Field[]> {
  const maybe = maybePlainFields(settings, overview);
  const reader = maybe.length === 0 ? undefined : await target.reader(overview.formId);
  if (reader === undefined) return [];
  const ids = maybe.map(({ id }) => id);
  const found = new Set<string>();
  for await (const piece of idsIn(reader, target.batchRows)) {
    for (const row of (await reader.rows(piece)).values()) {
      for (const id of plainFields(row, ids)) found.add(id);
    }
    if (found.size === ids.length) break;
  }
  return maybe.filter(({ id }) => found.has(id));
}

async function* idsIn(reader: CopyReader, size: number): AsyncGenerator<string[]> {
  for (const all of [reader.liveIds(), reader.deletedIds()]) {
    for await (const ids of all) {
      for (let from = 0; from < ids.length; from += size) yield ids.slice(from, from + size);
    }
  }
}

/** Columns named in a notice. */
const MOST_NAMED = 10;

/** What there is to say of such columns; undefined when there are none. */
export function plainNotice(
  settings: PlainSettings,
  overview: FormOverview,
  target: string,
): TargetNotice | undefined {
  const fields = maybePlainFields(settings, overview);
  if (fields.length === 0) return undefined;
  const isGone = overview.goneAt !== null;
  const shown = fields.slice(0, MOST_NAMED).map(({ id, label }) => `"${label}" (${id})`);
  const more = fields.length - shown.length;
  const names = `${shown.join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`;
  const form = shellOption('--form', overview.slug || overview.formId);
  const which = `${form} ${shellOption('--target', target)}`;
  const [columns, them] = fields.length === 1 ? ['column', 'it'] : ['columns', 'them'];
  const why = isGone ? 'the form is gone at the source' : 'the form is no longer chosen';
  const again = isGone
    ? ''
    : 'To hash what the source still has, choose the form again and run forms-mirror sync --full. ';
  return {
    code: 'PLAIN_ANSWERS',
    blocks: false,
    tab: overview.location,
    columns: fields.map(({ label }) => label),
    rows: [],
    message: `The ${columns} of ${names} may still hold plain answers from before hashing was switched on: ${why}, so no pass hashes ${them}.`,
    remedy: `${again}To empty ${them}, which cannot be undone: forms-mirror purge --unpicked ${which}`,
  };
}
