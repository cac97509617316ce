/**
 * The most requests of a scan, so that it ends even when the list grows faster than it is read: a fixed number plus a
 * multiple of the list's pages; for a short list, whose ties may come in a new order each time, a higher multiple.
 */
const REPAIR_REQUESTS = 100;
const REPAIR_SWEEPS = 4;
const REPEAT_SWEEPS = 30;
const REPEAT_REQUESTS = 1_000;

/** For a list that has so many pages at first. */
export function budgetFor(pages: number): number {
  const repeats = Math.min(REPEAT_SWEEPS * pages, REPEAT_REQUESTS);
  return Math.max(REPAIR_REQUESTS + REPAIR_SWEEPS * pages, repeats);
}
