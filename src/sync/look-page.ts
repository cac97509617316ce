import type { SubmissionPage } from '../forms/client.ts';
import { canonicalTime, compareTimes } from '../mirror/canonical-time.ts';
import { type ForeignPage, idDigest } from '../mirror/look-record.ts';
import type { Submission } from '../mirror/types.ts';

/** The newest page of the workspace. */
export type NewestPage = Pick<SubmissionPage, 'items' | 'total' | 'limit'>;

/** So many steps down, and none up, show that a page is in the order of dates. */
const STEPS_OF_AN_ORDER = 5;

/** What a page shows of other forms than those `planned`; null where it does not show all down to some date. */
export function foreignPage(page: NewestPage, planned: ReadonlySet<string>): ForeignPage | null {
  const submissions = submissionsOf(page);
  if (submissions === null) return null;
  const isAll = submissions.length === page.total;
  const oldest = isAll ? null : oldestOf(submissions);
  if (!isAll && oldest === null) return null;
  const foreign = submissions.filter(({ formId }) => !planned.has(formId));
  return { digests: new Set(foreign.map(({ id }) => idDigest(id))), oldest };
}

/**
 * The submissions on a page, of other forms than those `planned`, that certainly were not there at the time of the page
 * `before`: that page would have shown them. No clock but the source's own dates is asked.
 */
export function foreignSince(
  page: NewestPage,
  planned: ReadonlySet<string>,
  before: ForeignPage | null,
): Submission[] {
  const submissions = submissionsOf(page);
  if (before === null || submissions === null) return [];
  const { digests, oldest } = before;
  // In another order than that of dates what was there before may come up from further down.
  if (oldest !== null && oldestOf(submissions) === null) return [];
  return submissions.filter(({ id, formId, createdAt }) => {
    if (formId === '' || planned.has(formId) || digests.has(idDigest(id))) return false;
    if (oldest === null) return true;
    const time = canonicalTime(createdAt);
    // Of those of one date a page may show some and leave out others.
    return time !== null && compareTimes(time, oldest) > 0;
  });
}

/** Null for a page that lacks some, shows one twice, or has one without an ID. */
function submissionsOf({ items, total, limit }: NewestPage): Submission[] | null {
  const found = items.flatMap(({ submission }) => (submission === null ? [] : [submission]));
  const ids = new Set(found.map(({ id }) => id));
  return ids.size === items.length && items.length === Math.min(limit, total) ? found : null;
}

/** The date of the last one; null where the page is not seen to be in the order of dates. */
function oldestOf(submissions: readonly Submission[]): string | null {
  let oldest: string | null = null;
  let steps = 0;
  for (const { createdAt } of submissions) {
    const time = canonicalTime(createdAt);
    if (time === null) return null;
    const step: number = oldest === null ? 0 : compareTimes(oldest, time);
    if (step < 0) return null;
    if (step > 0) steps++;
    oldest = time;
  }
  return steps < STEPS_OF_AN_ORDER ? null : oldest;
}
