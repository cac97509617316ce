import { plural } from '../base/format.ts';
import type { FormReader } from '../mirror/target.ts';
import type { Checkpoint } from '../mirror/types.ts';

/**
 * How long a full pass that was not due leaves a form alone, for each page of it: so that deletions cost one request in
 * three seconds at most, however often something is deleted. A form of up to 20 pages is read in full by the next tick
 * of a minute; one of 7,200 pages waits six hours, which is what the schedule does anyway.
 */
const REST_MS_A_PAGE = 3_000;
/** So many passes tell when the last full one was tried: those of some hours. */
const RECENT_PASSES = 400;

/**
 * Whether a form may be read in full, before it is due, to find deletions that the counts show. The last full pass counts
 * however it ended: one that finds no proof is not tried at each tick.
 */
export async function mayReadInFull(
  reader: Pick<FormReader, 'passes'>,
  { fullProvenAt }: Checkpoint,
  pages: number,
  nowMs: number,
): Promise<boolean> {
  const isRested = (at: string): boolean => nowMs - Date.parse(at) >= pages * REST_MS_A_PAGE;
  if (fullProvenAt === null) return true;
  if (!isRested(fullProvenAt)) return false;
  const last = (await reader.passes(RECENT_PASSES)).find(({ kind }) => kind === 'full');
  return last === undefined || isRested(last.endedAt);
}

/** Why a pass reads everything though it was not asked to: the source's count says nothing of what became of them. */
export function deletionsReason(fewer: number): string {
  const what = plural(fewer, 'submission');
  return `By its count the source has ${what} fewer than are stored here; everything is read, to find out which.`;
}

/** The same where counts by status differ, and only reading everything tells of which submissions. */
export const countsReason =
  "The source's counts by status differ from those stored here; everything is read, to find out where.";

/** The same where counts by status were to be compared, and reading everything costs no more. */
export const shortReason =
  'Counts by status were to be compared; everything is read instead, as the list is short.';

/** The same where it is not known how many of each status are stored or listed. */
export const unknownReason =
  'The counts by status are not known here; everything is read to count it again.';

/** The same where the list was found to hide submissions; null where it was not. */
export function hiddenReason({ hidden }: Checkpoint): string | null {
  if (hidden === 0) return null;
  const what = plural(hidden, 'submission');
  return `The last full pass found ${what} by ID that the list does not show; everything is read, to see whether it does now.`;
}
