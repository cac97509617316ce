import { isAbort, MirrorError } from '../base/errors.ts';
import { iso } from '../base/format.ts';
import { shellOption } from '../base/printable.ts';
import { looksHashed } from '../mirror/cells.ts';
import { fieldTest, storedUnder } from '../mirror/selection.ts';
import type { ReadForm, StoredField, StoredForm, TargetNotice } from '../mirror/port.ts';
import { identityOf, type OutcomeName } from '../mirror/form-state.ts';
import { pauseOf } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { type ErasureOptions, type ErasureReport, inEach, writing } from './erase.ts';
import { PAUSES } from './records.ts';
import type { RunReport } from './run-form.ts';
import { allRows, isOutdated, reading, type Target } from './target.ts';

/*
 * Removes data that a copy should no longer have: rows that were marked deleted long ago, answers of fields that are no longer
 * selected, and plain answers of fields to be hashed in forms that no run writes to anymore.
 */

/** A form in the target. */
type Copy = Pick<StoredForm, 'state' | 'fields'>;

/** The forms of a target to purge: one, or all. */
const formsOf =
  (formId: string | undefined) =>
  async ({ store }: Target): Promise<{ form: FormIdentity; copy: Copy }[]> =>
    (await store.states())
      .filter(({ state }) => formId === undefined || state.formId === formId)
      .map((copy) => ({ form: identityOf(copy.state), copy }));

/** A field whose column has answers that the settings do not allow (L11). */
interface Leftover {
  readonly field: StoredField;
  /**
   * It is selected and to be hashed, but no run hashes it, because the form is gone or no longer selected. Only plain answers are
   * left over.
   */
  readonly isPlain: boolean;
}

/** Whether runs write to a form: it is there at the source, and selected. */
const getsRuns = ({ isChosen }: Target, { state }: Copy): boolean =>
  state.goneAtMs === null && isChosen(identityOf(state));

function leftoversOf(target: Target, copy: Copy): Leftover[] {
  const { joining } = target;
  if (joining === undefined) return [];
  const form = identityOf(copy.state);
  const { storedUnder: before } = copy.state;
  const mayBePlain =
    !getsRuns(target, copy) && before?.hashing !== storedUnder(joining, form).hashing;
  const isSelected = fieldTest(joining.selection.fields, form);
  const isHashed = fieldTest(joining.selection.hashed, form);
  return copy.fields
    .filter(({ isFilled, id }) => isFilled && (!isSelected(id) || (mayBePlain && isHashed(id))))
    .map((field) => ({ field, isPlain: isSelected(field.id) }));
}

/** The notice about columns with answers that the settings do not allow. */
export function leftoverNotices(target: Target, copy: StoredForm): TargetNotice[] {
  const fields = leftoversOf(target, copy).map(({ field }) => field);
  if (fields.length === 0) return [];
  const shown = fields.map(({ id, label }) => `"${label}" (${id})`);
  const form = shellOption('--form', copy.state.slug);
  return [
    {
      code: 'UNSELECTED_ANSWERS',
      blocks: false,
      message: `Columns may still hold answers that the settings do not allow: ${shown.join(', ')}. The fields are not selected, or are to be hashed in a form that no run writes to.`,
      remedy: `Select the fields or the form again. Or empty the columns, which cannot be undone: forms-mirror purge --unselected ${form} ${shellOption('--target', target.name)}`,
    },
  ];
}

/** Removes rows that were marked deleted before that time, of one form or all. Returns the forms that had any. */
export const purgeDeleted = (
  targets: readonly Target[],
  formId: string | undefined,
  beforeMs: number,
  options: ErasureOptions,
): Promise<ErasureReport[]> =>
  inEach(targets, formsOf(formId), async (target, { form, copy }) => {
    if (copy.state.tally.deleted === 0) return null;
    const rows = (await reading(target, form.id, (open) => deletedBefore(open, beforeMs))) ?? 0;
    if (rows === 0) return null;
    if (options.dryRun) return { asked: rows, rows };
    const erasure = { kind: 'purge', deletedBeforeMs: beforeMs, versionsBeforeMs: null } as const;
    const { done } = await writing(target, form, options, (open) => open.erase(erasure));
    return { asked: rows, rows: done };
  });

async function deletedBefore(form: ReadForm, beforeMs: number): Promise<number> {
  const before = iso(beforeMs);
  let many = 0;
  for await (const rows of form.rows({ isDeleted: true }))
    many += rows.filter(({ deletedAt }) => (deletedAt ?? '') < before).length;
  return many;
}

/**
 * Empties the columns that {@link leftoverNotices} names. Returns the forms that had such columns. Does nothing in a target in which
 * rows of these forms were stored under other settings, and reports COPY_OUTDATED: a mistake in the settings, which a run would have
 * refused, would empty everything.
 */
export const purgeLeftovers = (
  targets: readonly Target[],
  formId: string | undefined,
  options: ErasureOptions,
): Promise<ErasureReport[]> =>
  inEach(targets, settledForms(formId), async (target, { form, copy }) => {
    const leftovers = leftoversOf(target, copy);
    if (leftovers.length === 0) return null;
    const found = await reading(target, form.id, (open) => leftIn(open, leftovers));
    if (found === null || found.fields.length === 0) return null;
    const fieldIds = found.fields.map(({ id }) => id);
    if (!options.dryRun)
      await writing(target, form, options, (open) => open.erase({ kind: 'columns', fieldIds }));
    return { asked: fieldIds.length, ...found };
  });

const settledForms =
  (formId: string | undefined): ReturnType<typeof formsOf> =>
  async (target) => {
    const forms = await formsOf(formId)(target);
    const behind = forms.find(
      ({ form, copy }) => target.isChosen(form) && isOutdated(target, copy.state),
    );
    if (behind === undefined) return forms;
    throw new MirrorError(
      'COPY_OUTDATED',
      `Nothing is emptied: the rows of form ${behind.form.slug} were stored under other settings than these. ` +
        'Check TARGET_FIELDS, resume the form if it is paused, and run: forms-mirror sync',
    );
  };

/** The fields to empty, and how many rows have an answer in one of them. */
async function leftIn(
  form: ReadForm,
  leftovers: readonly Leftover[],
): Promise<{ readonly fields: StoredField[]; readonly rows: number }> {
  const toEmpty = new Set(leftovers.filter(({ isPlain }) => !isPlain));
  let rows = 0;
  for await (const batch of allRows(form, {}, true))
    for (const { cells } of batch) {
      const here = leftovers.filter(({ field, isPlain }) => {
        const cell = cells.get(field.id) ?? null;
        return cell !== null && !(isPlain && looksHashed(cell));
      });
      for (const one of here) toEmpty.add(one);
      if (here.length > 0) rows++;
    }
  return { fields: leftovers.filter((one) => toEmpty.has(one)).map(({ field }) => field), rows };
}

/** Runs that ended normally, with or without a proof: history may be removed without one. */
const ENDED: ReadonlySet<OutcomeName> = new Set(['ok', 'held', 'incomplete']);

/** For how long {@link upkeep} keeps things (milliseconds); undefined: forever. */
export interface KeptFor {
  /** How long rows marked deleted stay: PURGE_DELETED_AFTER. */
  readonly purgeDeletedAfterMs: number | undefined;
  /** How long histories keep former values: PURGE_HISTORY_AFTER. */
  readonly purgeHistoryAfterMs: number | undefined;
}

/**
 * Removes rows that were marked deleted long ago (if the run was proven) and old versions. Never rejects: it logs failures, and
 * tries again after the next comparison.
 */
export async function upkeep(
  target: Target,
  { form, outcome }: Pick<RunReport, 'form' | 'outcome'>,
  { purgeDeletedAfterMs, purgeHistoryAfterMs }: KeptFor,
  signal: AbortSignal,
): Promise<void> {
  const { logger, clock } = target;
  const before = (ageMs: number | undefined): number | null =>
    ageMs === undefined ? null : clock.now() - ageMs;
  let deletedBeforeMs = outcome === 'ok' ? before(purgeDeletedAfterMs) : null;
  const versionsBeforeMs = ENDED.has(outcome) ? before(purgeHistoryAfterMs) : null;
  const fields = { target: target.name, form: form.id };
  try {
    const ms = deletedBeforeMs;
    // An erasure rewrites a whole SQLite file.
    if (ms !== null && !(await reading(target, form.id, (open) => deletedBefore(open, ms))))
      deletedBeforeMs = null;
    if (deletedBeforeMs === null && versionsBeforeMs === null) return;
    const erasure = { kind: 'purge', deletedBeforeMs, versionsBeforeMs } as const;
    const { done: removed } = await writing(target, form, { waitMs: 0, signal }, (open) =>
      open.erase(erasure),
    );
    if (removed > 0)
      logger.info(
        { ...fields, removed },
        'Old rows that were marked deleted, or old history, were removed.',
      );
  } catch (error) {
    if (!isAbort(error))
      logger.warn({ ...fields, err: error }, 'Old rows or history were not removed: tried again.');
  }
}

/**
 * The same for the forms that get no runs, because they are gone at the source or no longer selected. A paused form keeps
 * everything, because nothing may be written to it. Rejects as the target does while it lists its forms.
 */
export async function upkeepWithoutRuns(
  target: Target,
  keptFor: KeptFor,
  signal: AbortSignal,
): Promise<void> {
  const pauses = await PAUSES.read(target.store);
  for (const { form, copy } of await formsOf(undefined)(target)) {
    if (getsRuns(target, copy) || pauseOf(pauses, form.id) !== null) continue;
    // If people have removed its table or tab, a form that is opened for writing gets a new one. If its rows cannot be read, `upkeep`
    // reports why.
    const hasRows = await reading(target, form.id, async (open) => {
      for await (const rows of allRows(open)) if (rows.length > 0) return true;
      return false;
    }).catch(() => true);
    // No run will find one of its submissions again.
    if (hasRows) await upkeep(target, { form, outcome: 'ok' }, keptFor, signal);
  }
}
