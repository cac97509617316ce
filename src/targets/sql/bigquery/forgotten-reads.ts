import { MirrorError } from '../../../base/errors.ts';
import { plural } from '../../../base/format.ts';
import { forgottenHash } from '../../../mirror/forgotten.ts';
import type { FormHold } from './form-hold.ts';
import { STATE } from './catalogue-shapes.ts';
import { textParameter } from './sql-text.ts';
import { isAbsent } from './store.ts';

/** Digests of what was forgotten of a form, as this writer knows them: nobody else changes them meanwhile. */
const known = new WeakMap<FormHold, { readonly count: number; readonly hashes: Set<string> }>();

/**
 * Of these IDs those that were forgotten. Throws TARGET_FAILED where notes are lost, as what they kept away could come back. Costs
 * nothing where nothing of the form was forgotten.
 */
export async function forgottenIn(hold: FormHold, ids: Iterable<string>): Promise<Set<string>> {
  const { salt, counts } = hold.state;
  if (salt === null || counts.forgotten === 0) return new Set();
  const hashes = await hashesOf(hold);
  return new Set([...ids].filter((id) => hashes.has(forgottenHash(salt, hold.form.id, id))));
}

async function hashesOf(hold: FormHold): Promise<ReadonlySet<string>> {
  const { form, state, store } = hold;
  const count = state.counts.forgotten;
  const before = known.get(hold);
  if (before?.count === count) return before.hashes;
  const sql = `SELECT DISTINCT id_hash FROM ${store.relation('mirror_forgotten')} WHERE form_id = @form`;
  const rows = await store
    .query({ sql, parameters: { form: textParameter(form.id) } })
    .catch((error: unknown) => {
      if (isAbsent(error)) return [];
      throw error;
    });
  const hashes = new Set(rows.map((row) => row['id_hash'] ?? ''));
  if (hashes.size < count) {
    throw new MirrorError(
      'TARGET_FAILED',
      `${store.place}: the table ${store.shownRelation('mirror_forgotten')}, which keeps forgotten submissions away, was dropped or changed: ` +
        `${plural(count - hashes.size, 'submission')} of ${form.slug} could come back, so nothing was written. ` +
        'Restore it (FOR SYSTEM_TIME AS OF shows it as it was in the last days), or use another dataset and forget them there.',
      { retryable: false },
    );
  }
  known.set(hold, { count, hashes });
  return hashes;
}

/**
 * Throws TARGET_FAILED where submissions of a form were forgotten of which nothing else is known any more: by what they are recognised
 * is gone with its row of `mirror_state`. For a form that begins.
 */
export async function assertNoneForgotten({ form, state, store }: FormHold): Promise<void> {
  if (state.counts.forgotten > 0) return;
  const sql = `SELECT COUNT(*) AS n FROM ${store.relation('mirror_forgotten')} WHERE form_id = @form`;
  const [row] = await store.query({ sql, parameters: { form: textParameter(form.id) } });
  const count = Number(row?.['n'] ?? 0);
  if (count === 0) return;
  throw new MirrorError(
    'TARGET_FAILED',
    `${store.place}: the row of form ${form.slug} in ${store.shownRelation(STATE)} was removed, and with it by what forgotten submissions are known: ` +
      `${plural(count, 'submission')} could come back, so nothing was written. ` +
      `Restore the row (FOR SYSTEM_TIME AS OF shows it as it was in the last days), or use another dataset and forget them there.`,
    { retryable: false },
  );
}
