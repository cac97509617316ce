import { plural } from '../../../base/format.ts';
import { MirrorError } from '../../../base/errors.ts';
import { forgottenHash, newSalt } from '../../../mirror/forgotten.ts';
import type { FormSheet } from './form-sheet.ts';
import { type FormState, stateWithoutIds } from './form-state.ts';
import type { ForgottenNote, StateTab } from './state-tab.ts';

/*
 * Which submissions stay away (L18) stands on the hidden state tab, which people may delete; how many there are stands in
 * the form's state, which they can't, with a sum over them. Where the two differ, nothing is written that might bring one
 * back. Forgetting others, or letting them come back, changes both alike; only those that are lost make the sum true again.
 */

/** The notes that there should be. */
export interface ForgottenTally {
  readonly count: number;
  readonly salt: string;
  /** Of their hashes, bit by bit, in whatever order. */
  readonly sum: string;
}

/** The tally of a tab that has them all. */
const tallyOf = (notes: readonly ForgottenNote[]): ForgottenTally => ({
  count: notes.length,
  salt: notes[0]?.salt ?? '',
  sum: sumOf(notes.map(({ hash }) => hash)),
});

/** The exclusive or of digests: adding one takes the same one away. */
function sumOf(hashes: readonly string[]): string {
  const sum = Buffer.alloc(32);
  for (const hash of hashes) {
    for (const [at, byte] of Buffer.from(hash, 'base64url').subarray(0, sum.length).entries()) {
      sum[at] = (sum[at] ?? 0) ^ byte;
    }
  }
  return sum.toString('base64url');
}

/** Of these IDs those that were forgotten, each with when. */
export function forgottenIn(
  stateTab: StateTab,
  formId: string,
  ids: Iterable<string>,
): Map<string, string> {
  const notes = stateTab.forgotten(formId);
  if (notes.length === 0) return new Map();
  const times = new Map(notes.map(({ hash, at }) => [hash, at]));
  const salts = new Set(notes.map(({ salt }) => salt));
  const found = new Map<string, string>();
  for (const id of ids) {
    for (const salt of salts) {
      const at = times.get(forgottenHash(salt, formId, id));
      if (at !== undefined) found.set(id, at);
    }
  }
  return found;
}

/**
 * The same for a writer, which reads the tab only where something was forgotten, or where that is not known because the
 * form's own tab is new. Throws TARGET_FAILED when notes are lost.
 */
export async function forgottenOf(
  sheet: FormSheet,
  ids: Iterable<string>,
): Promise<Map<string, string>> {
  const { spreadsheet, form, structure } = sheet;
  const { forgotten } = sheet.view.state;
  if (forgotten?.count === 0) return new Map();
  const stateTab = await spreadsheet.stateTab();
  const notes = stateTab.forgotten(form.id);
  if (forgotten === null) sheet.countForgotten(tallyOf(notes));
  else if (notes.length < forgotten.count) {
    const missing = forgotten.count - notes.length;
    const what = structure.roles.has('state') ? 'was changed' : 'was deleted';
    throw new MirrorError(
      'TARGET_FAILED',
      `The hidden tab that keeps forgotten submissions away ${what}: ${plural(missing, 'submission')} of ${form.slug} could ` +
        'come back, so nothing was written. Bring the tab back (File › Version history), or forget just those again, all ' +
        `with one command: forms-mirror forget <submission-id>… (${spreadsheet.address})`,
      { retryable: false },
    );
  }
  return forgottenIn(stateTab, form.id, ids);
}

/** Of these IDs those that are noted as forgotten, whether notes are missing or not. */
export async function notedOf(
  { spreadsheet, form, view }: FormSheet,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0 || view.state.forgotten?.count === 0) return [];
  return [...forgottenIn(await spreadsheet.stateTab(), form.id, ids).keys()];
}

/** Notes submissions as forgotten on the state tab, in memory; the state to be written with it. */
export async function forgetting(
  { spreadsheet, form, view }: FormSheet,
  ids: readonly string[],
  at: string,
): Promise<FormState> {
  const stateTab = await spreadsheet.stateTab();
  const before = stateTab.forgotten(form.id);
  const expected = view.state.forgotten ?? tallyOf(before);
  const salt = expected.salt || before[0]?.salt || newSalt();
  const hashes = [...new Set(ids)].map((id) => forgottenHash(salt, form.id, id));
  const known = new Set(before.map(({ hash }) => hash));
  const added = hashes.filter((hash) => !known.has(hash));
  for (const hash of added) stateTab.forget(form.id, { hash, salt, at });
  const isGap = (some: readonly string[]): boolean =>
    some.length === expected.count - before.length && sumOf([...known, ...some]) === expected.sum;
  const isWhole = before.length >= expected.count || isGap(added) || isGap(hashes);
  const forgotten = isWhole
    ? tallyOf(stateTab.forgotten(form.id))
    : {
        count: expected.count + added.length,
        salt,
        sum: sumOf([expected.sum, ...added]),
      };
  return { ...stateWithoutIds(view.state, ids), forgotten };
}

/** Takes such notes back, in memory; the state to be written with it. `onDropped` is told how many there were. */
export async function remembering(
  { spreadsheet, form, view }: FormSheet,
  ids: readonly string[],
  onDropped: (notes: number) => void,
): Promise<FormState> {
  const stateTab = await spreadsheet.stateTab();
  const isOne = ({ hash, salt }: ForgottenNote): boolean =>
    ids.some((id) => forgottenHash(salt, form.id, id) === hash);
  const dropped = stateTab.forgotten(form.id).filter(isOne);
  for (const note of dropped) stateTab.unforget(form.id, note);
  onDropped(dropped.length);
  const expected = view.state.forgotten;
  const hashes = dropped.map(({ hash }) => hash);
  const isWhole =
    expected === null || stateTab.forgotten(form.id).length + dropped.length >= expected.count;
  const forgotten = isWhole
    ? tallyOf(stateTab.forgotten(form.id))
    : {
        ...expected,
        count: expected.count - dropped.length,
        sum: sumOf([expected.sum, ...hashes]),
      };
  const checkpoint = dropped.length === 0 ? view.state.checkpoint : null;
  return { ...view.state, checkpoint, forgotten };
}
