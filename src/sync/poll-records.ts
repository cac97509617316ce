import type { StoredUnder } from '../mirror/picks.ts';
import { z } from 'zod';
import { type Claim, claimOf, type FormState } from '../mirror/form-state.ts';
import type { Store } from '../mirror/port.ts';

/*
 * What polls keep in a target: when the workspace last agreed with it, and what the forms that a poll does not speak for amount to.
 */

const agreementSchema = z.object({
  atMs: z.number(),
  /** Statuses were counted. */
  onStatuses: z.boolean(),
  formIds: z.array(z.string()),
});
/** The workspace, asked as a whole, had what the target accounts for, of these forms. */
export type Agreement = z.infer<typeof agreementSchema>;

const restSchema = z.object({
  formIds: z.array(z.string()),
  total: z.number(),
  /** When the newest submission was created that the workspace showed then. */
  topMs: z.number().nullable(),
  statuses: z.record(z.string(), z.number()),
});
/** How many submissions the workspace has beyond the forms that the poll speaks for. */
export type Rest = z.infer<typeof restSchema>;

const [AGREEMENT, REST] = ['poll agreement', 'poll rest'];

export const readAgreement = async (store: Store): Promise<Agreement | null> =>
  agreementIn((await store.record(AGREEMENT))?.value);

/** The agreement that a record holds; `recordOf`: the value of a record. */
export const agreementOf = (recordOf: (key: string) => unknown): Agreement | null =>
  agreementIn(recordOf(AGREEMENT));

function agreementIn(value: unknown): Agreement | null {
  const parsed = agreementSchema.safeParse(value);
  return parsed.success ? parsed.data : null;
}

/**
 * What these forms of the workspace amount to; null where nothing is known of it. `topMs`: when the newest submission of them was
 * created that is shown now: one that came since makes the record old. Nothing is beyond all of them.
 */
export async function readRest(
  store: Store,
  formIds: readonly string[],
  topMs: number | null,
): Promise<Rest | null> {
  const parsed = restSchema.safeParse((await store.record(REST))?.value);
  if (parsed.success && isSameSet(parsed.data.formIds, formIds))
    return (topMs ?? -Infinity) > (parsed.data.topMs ?? -Infinity) ? null : parsed.data;
  return formIds.length === 0 ? { formIds: [], total: 0, topMs: null, statuses: {} } : null;
}

export const writeAgreement = (store: Store, agreement: Agreement): Promise<void> =>
  write(store, AGREEMENT, agreement);

export const writeRest = (store: Store, rest: Rest): Promise<void> => write(store, REST, rest);

/** Where another process was faster, its record stays: the next poll writes again. */
async function write(store: Store, key: string, value: unknown): Promise<void> {
  const record = await store.record(key);
  await store.putRecord(key, value, record?.revision ?? null);
}

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  new Set(a).symmetricDifference(new Set(b)).size === 0;

/** The claim of a form, with what polls have seen since its last run. `under`: what the settings say of it now. */
export function claimWith(
  state: FormState,
  under: StoredUnder | null,
  agreement: Agreement | null,
): Claim {
  const claim = claimOf(state, under);
  const { submissionsAsOfMs, statusesAsOfMs } = claim;
  // What a poll agreed with before the form was last read says nothing more.
  if (submissionsAsOfMs === null || agreement?.formIds.includes(state.formId) !== true)
    return claim;
  return {
    ...claim,
    submissionsAsOfMs: Math.max(submissionsAsOfMs, agreement.atMs),
    statusesAsOfMs: agreement.onStatuses
      ? Math.max(statusesAsOfMs ?? 0, agreement.atMs)
      : statusesAsOfMs,
  };
}
