import type { Copy } from './copy.ts';
import type { Assertion, Unseen } from './judge.ts';
import type { Source, SourceEvent, Submission } from './source.ts';

/**
 * Changes that no client can see (DESIGN, section 4): two changes that cancel each other in every count that is requested. An excuse names the
 * submission that is wrong in the copy, and for each group of submissions that is counted (a status of a form) the other change that hides it
 * there. A change hides another only if the copy does not know it either, or if it happened while the counts were being requested.
 */

/** How the counts of this source group submissions: by form and status, or by form only. */
export interface Groups {
  readonly byStatus: boolean;
  /** Newcomers are found without counts: the list is sorted or bounded. */
  readonly seesNewcomers: boolean;
  /**
   * The counts of this claim were requested for the workspace, so changes in two of its forms may cancel each other.
   */
  readonly together: boolean;
}

export interface Excuse {
  readonly rule: 'counts cancel' | 'list moves';
  readonly submission: string;
  /** The change that is not seen, and the changes that hide it. */
  readonly event: SourceEvent;
  readonly hiddenBy: readonly SourceEvent[];
}

/** Null if nothing excuses it. */
export function excuseFor(
  source: Source,
  copy: Copy,
  submission: Submission,
  aspect: Unseen,
  claim: Assertion,
  groups: Groups,
): Excuse | null {
  if (aspect === 'answers') return null;
  if (aspect === 'status' && !groups.byStatus) return null;
  const to = claim.askedTo;
  const from = claim.isWhole ? claim.askedFrom : claim.comparedAt;
  const window = source.events.filter(({ at }) => at > from && at <= to);
  const event = window.findLast(({ id }) => id === submission.id);
  if (event === undefined)
    return aspect === 'missing' ? movedAway(source, submission, window, claim) : null;
  if (event.isNewcomer && groups.seesNewcomers) return null;
  const { submissionsAsOf, statusesAsOf } = claim;
  // If statuses are older than submissions, or nothing is claimed about them, only totals were requested.
  const areStatusesAsked =
    statusesAsOf !== null && submissionsAsOf !== null && statusesAsOf >= submissionsAsOf;
  const byStatus = groups.byStatus && (areStatusesAsked || aspect === 'status');
  const rule = claim.isWhole ? 'list moves' : 'counts cancel';
  // The list of a first reading cannot be distinguished from one that moved; later readings know the earlier content.
  if (claim.isWhole && aspect !== 'missing') return null;
  const stored = storedStatus(copy, submission);
  // The state at the time of the claim: it may have changed since then.
  const there = event.entered;
  const isTogether = groups.together && !claim.isWhole;
  // A poll learns what changed in forms that the copy does not have, or if other forms changed, too, the poll after it does. A
  // change since then, before this one, may hide it.
  const othersFrom = claim.polledAt.filter((at) => at <= event.at).at(-2) ?? 0;
  // Counts are requested before the newest submissions are read: one that came in between is stored, and hides nothing.
  const others = source.events.filter(
    ({ id, formId, isNewcomer, at }) =>
      id !== submission.id &&
      at <= to &&
      (formId === submission.formId ? at > from : isTogether && at > Math.min(from, othersFrom)) &&
      !(isNewcomer && groups.seesNewcomers),
  );
  const hides = (other: SourceEvent): boolean =>
    other.at > Math.min(claim.askedFrom, claim.knownUntil) ||
    isUnseen(source, copy, other, claim.askedFrom);
  const isIn = (status: string | null, group: string): boolean =>
    status !== null && (!byStatus || claim.isWhole || status === group);
  const hiddenBy: SourceEvent[] = [];
  const missed = missedFor(source, copy, submission, window, claim);
  if (aspect === 'ghost' && missed !== null) return missed;
  // The source has one more with this status than the copy: another submission must have left the status.
  if (there !== null) {
    const other = others.find((each) => isIn(each.left, there) && hides(each));
    if (other === undefined) return null;
    hiddenBy.push(other);
  }
  // The copy has one more: another submission must have entered the status.
  if (stored !== null && (byStatus || there === null)) {
    const other = others.find((each) => isIn(each.entered, stored) && hides(each));
    if (other === undefined) return null;
    hiddenBy.push(other);
  }
  return { rule, submission: submission.id, event, hiddenBy };
}

/**
 * While a long list was read for the first time, one submission was deleted, so that this one moved to a page that had been read,
 * and another with an old date took its place on the page that was read next. Or the form was gone while it was read, and came back
 * with all its submissions. `goneId`: that one was deleted.
 */
function movedAway(
  source: Source,
  { id, formId, status }: Submission,
  window: readonly SourceEvent[],
  { askedFrom, comparedAt, isWhole, submissionsAsOf }: Assertion,
  goneId?: string,
): Excuse | null {
  const from = isWhole ? askedFrom : comparedAt;
  const inForm = window.filter((each) => each.formId === formId && each.at > from);
  // If the claim is based on more than the reading: later counts are equal only if the one that is gone, and still stored, has
  // the status of the one that is missing.
  const isReading = isWhole || submissionsAsOf === comparedAt;
  const gone = inForm.find(
    (each) =>
      (goneId === undefined || each.id === goneId) &&
      each.left !== null &&
      each.entered === null &&
      (isReading || each.left === status),
  );
  const came = inForm.find(
    ({ left, entered, isNewcomer }) => left === null && entered !== null && !isNewcomer,
  );
  const lives = source.formOf(formId)?.lives.slice(1) ?? [];
  const cameBack = lives.some(({ at, exists }) => exists && at > from);
  if (gone === undefined || (came === undefined && !cameBack)) return null;
  return { rule: 'list moves', submission: id, event: gone, hiddenBy: came ? [came] : [] };
}

/** One with the same status that moved away while this one was deleted, and is missing: the counts are equal. */
function missedFor(
  source: Source,
  copy: Copy,
  { id, formId }: Submission,
  window: readonly SourceEvent[],
  claim: Assertion,
): Excuse | null {
  for (const other of source.existing(formId)) {
    if (storedStatus(copy, other) !== null) continue;
    const excuse = movedAway(source, other, window, claim, id);
    if (excuse !== null) return { ...excuse, submission: id };
  }
  return null;
}

/**
 * Whether the copy lacks a change, too, or lacked it when the counts were requested, and the next change reverted it.
 */
function isUnseen(source: Source, copy: Copy, event: SourceEvent, askedAt: number): boolean {
  const submission = source.submissions.get(event.id);
  if (submission === undefined) return false;
  const stored = storedStatus(copy, submission);
  if (stored !== (submission.exists ? submission.status : null)) return true;
  const before = source.events.findLast(({ id, at }) => id === event.id && at <= askedAt);
  // The copy has the state before the change.
  return event === before && stored === event.left && stored !== event.entered;
}

/** The status that the copy accounts for; null if it has no live row. */
function storedStatus(copy: Copy, { id, formId }: Submission): string | null {
  const row = copy.get(formId)?.rows.get(id);
  return row === undefined || row.isDeleted ? null : row.status;
}
