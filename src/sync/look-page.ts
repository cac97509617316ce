import type { SubmissionPage } from '../forms/client.ts';
import { canonicalTime, compareTimes } from '../mirror/canonical-time.ts';
import { type ForeignPage, idDigest } from '../mirror/look-record.ts';
import type { StatusCounts } from '../mirror/status-counts.ts';
import type { Submission } from '../mirror/types.ts';

/** The newest page of the workspace. */
export type NewestPage = Pick<SubmissionPage, 'items' | 'total' | 'limit'>;

/** Pages of a list as one: each submission once, as the first of them shows it. */
export function asOnePage([first, ...further]: readonly NewestPage[]): NewestPage | null {
  if (first === undefined || further.length === 0) return first ?? null;
  const items = new Map(first.items.map((item) => [item.key, item]));
  for (const item of further.flatMap((page) => page.items)) {
    if (!items.has(item.key)) items.set(item.key, item);
  }
  return { items: [...items.values()], total: first.total, limit: items.size };
}

/** What tells whether further pages of the workspace's list are worth their requests. */
export interface ReadingOn {
  /** By status, what is not explained yet. */
  readonly left: StatusCounts;
  /** Pages that were read, and those that there are. */
  readonly read: number;
  readonly pages: number;
  /** How many submissions the end of the last page shows that explain something, reckoned for a page. */
  readonly perPage: number;
  /** Forms that are to be searched otherwise. */
  readonly forms: number;
}

/** Requests for the workspace's counts once more, with its newest page. */
const COUNTED_AGAIN = 7;

/**
 * How many further pages would explain the rest, if they show as much as the last one; 0 where a search of the forms is
 * expected to cost less than all that is read, or nothing is left that a list can show.
 */
export function pagesWorth({ left, read, pages, perPage, forms }: ReadingOn): number {
  const counts = [...left.values()];
  const gained = counts.reduce((sum, count) => sum + Math.max(0, count), 0);
  if (gained === 0) return 0;
  const all = Math.max(0, pages - read);
  const needed = perPage === 0 ? all : Math.min(all, Math.ceil(gained / perPage));
  // Of k forms that differ, a search in no order has met the last one after so many.
  const searched = counts.reduce((sum, count) => {
    const differ = Math.min(Math.abs(count), forms);
    return sum + (forms * differ) / (differ + 1);
  }, 0);
  return read + needed + COUNTED_AGAIN < searched ? needed : 0;
}

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
