import { MirrorError } from '../../../base/errors.ts';
import { plural } from '../../../base/format.ts';
import { forgottenHash } from '../../../mirror/forgotten.ts';
import { copyKey, STATE } from './catalogue-shapes.ts';
import type { FormHold } from './form-hold.ts';
import { type ForgottenNote, saveCopies, saveForgotten } from './list-statements.ts';
import { textParameter, type Statement } from './sql-text.ts';
import { counted } from './state-changes.ts';
import { timeOf } from './table-reads.ts';

/*
 * Which submissions stay away (L18): by digests in `mirror_forgotten`, and once more in a row of `mirror_state`, from which what people
 * deleted is restored. The form's state counts them: where some are missing in both, nothing is stored that might be one of them.
 */

/** What is noted of a form: the digests in the list, and in their copy, each with when. */
interface Notes {
  readonly listed: ReadonlyMap<string, string>;
  readonly copied: ReadonlyMap<string, string>;
  /** Of the digests, as the copy has it. */
  readonly salt: string | null;
}

/** Digests of what was forgotten of a form, as this writer knows them: nobody else changes them meanwhile. */
const known = new WeakMap<FormHold, { readonly count: number; readonly hashes: Set<string> }>();

/**
 * Of these IDs those that were forgotten; notes that people deleted are restored first. Throws TARGET_FAILED where some are lost for
 * good, as what they kept away could come back. Costs nothing where nothing of the form was forgotten.
 */
export async function forgottenIn(hold: FormHold, ids: Iterable<string>): Promise<Set<string>> {
  const { salt, counts } = hold.state;
  if (salt === null || counts.forgotten === 0) return new Set();
  const before = known.get(hold);
  const hashes = before?.count === counts.forgotten ? before.hashes : await settledHashes(hold);
  return withHashes(hold, ids, hashes);
}

/** The same as far as it is known: for who forgets others, or lets some come back, while notes are lost. */
export async function knownAmong(hold: FormHold, ids: Iterable<string>): Promise<Set<string>> {
  if (hold.state.salt === null) return new Set();
  const { listed, copied } = await readNotes(hold);
  return withHashes(hold, ids, new Set([...listed.keys(), ...copied.keys()]));
}

/**
 * For a form that begins: takes over what was forgotten of it before people removed its row of `mirror_state`. Throws TARGET_FAILED where
 * that by what it is recognised is gone with the row.
 */
export async function takeOverForgotten(hold: FormHold): Promise<void> {
  if (hold.state.counts.forgotten > 0) return;
  const { listed, copied, salt } = await readNotes(hold);
  if (listed.size + copied.size === 0) return;
  const { form, store } = hold;
  if (salt === null) {
    throw new MirrorError(
      'TARGET_FAILED',
      `${store.place}: the row of form ${form.slug} in ${store.shownRelation(STATE)} was removed, and with it by what forgotten submissions are known: ` +
        `${plural(listed.size, 'submission')} could come back, so nothing was written. ` +
        `Restore the row (FOR SYSTEM_TIME AS OF shows it as it was in the last days), or use another dataset and forget them there.`,
      { retryable: false },
    );
  }
  hold.keep({ ...hold.state, salt });
  await restore(hold, { listed, copied, salt });
}

const withHashes = (
  { form, state }: FormHold,
  ids: Iterable<string>,
  hashes: ReadonlySet<string>,
): Set<string> =>
  new Set([...ids].filter((id) => hashes.has(forgottenHash(state.salt ?? '', form.id, id))));

async function settledHashes(hold: FormHold): Promise<ReadonlySet<string>> {
  const { form, store } = hold;
  const notes = await readNotes(hold);
  const hashes = new Set([...notes.listed.keys(), ...notes.copied.keys()]);
  const missing = hold.state.counts.forgotten - hashes.size;
  if (missing > 0) {
    throw new MirrorError(
      'TARGET_FAILED',
      `${store.place}: the table ${store.shownRelation('mirror_forgotten')}, which keeps forgotten submissions away, was dropped or changed: ` +
        `${plural(missing, 'submission')} of ${form.slug} could come back, so nothing was written. Their copy in ${store.shownRelation(STATE)} is gone, too: ` +
        'restore one of them (FOR SYSTEM_TIME AS OF shows it as it was in the last days), or use another dataset and forget them there.',
      { retryable: false },
    );
  }
  await restore(hold, notes);
  known.set(hold, { count: hold.state.counts.forgotten, hashes });
  return hashes;
}

/** Restores in each place what only the other one has, and counts them. */
async function restore(hold: FormHold, { listed, copied }: Notes): Promise<void> {
  const { form, state, store } = hold;
  const only = (
    notes: ReadonlyMap<string, string>,
    others: ReadonlyMap<string, string>,
  ): ForgottenNote[] =>
    [...notes].filter(([hash]) => !others.has(hash)).map(([hash, at]) => ({ hash, at }));
  const unlisted = only(copied, listed);
  const uncopied = only(listed, copied);
  const more = listed.size + unlisted.length - state.counts.forgotten;
  if (unlisted.length + uncopied.length + more === 0) return;
  const statements: Statement[] = [
    ...(unlisted.length > 0 ? [saveForgotten(store.relation, form.id, unlisted)] : []),
    ...(uncopied.length > 0
      ? [saveCopies(store.relation, form.id, state.salt ?? '', uncopied)]
      : []),
  ];
  await hold.commit(counted(state, { forgotten: more }), statements);
}

async function readNotes({ form, store }: FormHold): Promise<Notes> {
  const rows = await store.query({
    sql: `SELECT id_hash, MIN(forgotten_at) AS forgotten_at, CAST(NULL AS STRING) AS copy
      FROM ${store.relation('mirror_forgotten')} WHERE form_id = @form GROUP BY id_hash
      UNION ALL SELECT NULL, NULL, state FROM ${store.relation(STATE)} WHERE form_id = @copy`,
    parameters: { form: textParameter(form.id), copy: textParameter(copyKey(form.id)) },
  });
  const listed = new Map<string, string>();
  let copy: string | null = null;
  for (const row of rows) {
    const hash = row['id_hash'] ?? null;
    if (hash === null) copy = row['copy'] ?? null;
    else listed.set(hash, timeOf(row, 'forgotten_at') ?? '');
  }
  const [salt = '', ...lines] = copy?.split('\n') ?? [];
  const copied = new Map(
    lines.map((line) => {
      const [hash = '', at = ''] = line.split(' ');
      return [hash, at] as const;
    }),
  );
  return { listed, copied, salt: salt === '' ? null : salt };
}
