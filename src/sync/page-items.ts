import type { SubmissionPage } from '../forms/client.ts';
import { canonicalTime } from '../mirror/canonical-time.ts';

/** The canonical times of a page's items. */
export function timesOf(page: SubmissionPage): (string | null)[] {
  return page.items.map((item) => canonicalTime(item.submission?.createdAt ?? ''));
}

/** The keys of a page's items, double ones included. */
export function keysOf(page: SubmissionPage): string[] {
  return page.items.map((item) => item.key);
}
