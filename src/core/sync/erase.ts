import { distrust } from '../mirror/form-state.ts';
import type { Erasure, Store } from '../mirror/port.ts';
import type { FormIdentity } from '../../mirror/types.ts';

/** What an erasure did to one form of a target. */
export interface ErasedForm {
  readonly formId: string;
  /** Rows that it concerned. */
  readonly rows: number;
}

/**
 * Removes from every form of a target, or from one, what a person asked to be removed (L18). `only`: the one form; the target
 * need not have it yet, as an ID of a submission that is not stored is remembered too, so that it stays away. Rejects as the
 * target does; what was erased before stays erased.
 */
export async function eraseIn(
  store: Store,
  what: Erasure,
  only: FormIdentity | null,
): Promise<ErasedForm[]> {
  const erased: ErasedForm[] = [];
  const stored = (await store.forms()).map(({ state }) => state);
  const all = stored.map(({ formId, slug, name }): FormIdentity => ({ id: formId, slug, name }));
  for (const identity of only === null ? all : [only]) {
    await using form = await store.open(identity, 'write');
    // What may come back is not in the copy until a run has looked for it.
    if (what.kind === 'remember') await form.commit({ state: distrust });
    const rows = await form.erase(what);
    await form.finish();
    erased.push({ formId: identity.id, rows });
  }
  return erased;
}
