import type { StoredField } from '../mirror/port.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { deletionLimit } from './absent.ts';
import { type Mirroring, sourceOf } from './mirroring.ts';
import { ProfileRecord } from './profile.ts';
import { blankRun, DONE, type Ending, type RunReport } from './run-form.ts';
import { Comparison, type Difference } from './verify.ts';
import type { RunOptions } from './work.ts';

/** What a run would do to a row: `restored` takes the mark of deletion away. */
export const FORESEEN = ['inserted', 'updated', 'restored', 'deleted'] as const;

/** What a dry run found. Holds names and no answer (L11). */
export interface ForeseenChange {
  readonly kind: (typeof FORESEEN)[number];
  readonly submissionId: string;
  /**
   * Of a row that is there and would be changed or restored, in the order of the columns: a system column (`field` is
   * null), or a field's label and ID.
   */
  readonly columns: readonly { readonly column: string; readonly field: string | null }[];
}

/** Predicts the changes of a run, and how it would end: compares everything, and writes nothing. Rejects as source and target do. */
export async function dryRun(
  mirroring: Mirroring,
  { id }: FormIdentity,
  { acceptDeletes }: RunOptions,
  signal: AbortSignal,
): Promise<{ readonly report: RunReport; readonly changes: readonly ForeseenChange[] }> {
  const { client, clock, store, target, maxDeleteFraction } = mirroring;
  const startedAtMs = clock.now();
  const source = sourceOf(mirroring, signal);
  const form = await client.getForm(id, { signal });
  const joining = await mirroring.joining(form, signal, false);
  const profile = await ProfileRecord.load(store, mirroring.sourceName, startedAtMs);
  const stored = (await store.forms()).find(({ state }) => state.formId === form.id);
  await using held = await store.open({ id: form.id }, 'read');
  const comparison = new Comparison({ form, held, joining, clock }, (difference) =>
    foreseenOf(difference, held?.fields ?? []),
  );
  const isProven = await comparison.readAll(source, profile.now);
  const { found, undecided } = comparison;
  const compared = comparison.compared.size;
  const of = (...kinds: readonly ForeseenChange['kind'][]): ForeseenChange[] =>
    [...found.values()].filter(({ kind }) => kinds.includes(kind));
  const [changes, gone] = [of('inserted', 'updated', 'restored'), of('deleted')];
  const limit = held && deletionLimit(held.state, { maxDeleteFraction, acceptDeletes });
  const isHeld = gone.length > (limit ?? 0);
  const ending: Ending = isHeld
    ? {
        outcome: 'held',
        code: 'DELETIONS_HELD',
        error: `${gone.length} deletions would wait for a person.`,
        failure: null,
      }
    : (isProven && undecided.size === 0) || found.size > 0
      ? DONE
      : { outcome: 'incomplete', code: 'RUN_INCOMPLETE', error: UNPROVEN, failure: null };
  const identity = { id: form.id, slug: form.slug, name: form.name };
  const report: RunReport = {
    ...blankRun(identity, target, ending, startedAtMs, clock.now()),
    isWhole: true,
    accounted: compared,
    requests: source.requests,
    inserted: of('inserted').length,
    updated: of('updated', 'restored').length,
    unchanged: compared - changes.length,
    deleted: isHeld ? 0 : gone.length,
    held: isHeld ? gone.length : 0,
    reasons: stored?.losses ?? [],
  };
  return { report, changes: isHeld ? changes : [...changes, ...gone] };
}

const UNPROVEN = 'The source gave no proof that it showed every submission.';

/** A difference as what a run would do about it. `fields`: as the target knows them. */
function foreseenOf(
  { kind, id, stored, row, columns, fieldIds }: Difference,
  fields: readonly StoredField[],
): ForeseenChange {
  if (row === null) return { kind: 'deleted', submissionId: id, columns: [] };
  if (stored === null) return { kind: 'inserted', submissionId: id, columns: [] };
  const labels = new Map(fields.map(({ id: fieldId, label }) => [fieldId, label]));
  return {
    kind: kind === 'missing' ? 'restored' : 'updated',
    submissionId: id,
    columns: [
      ...columns.map((column) => ({ column, field: null })),
      ...fieldIds.map((field) => ({ column: labels.get(field) ?? field, field })),
    ],
  };
}
