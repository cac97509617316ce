import { accounted } from '../mirror/form-state.ts';
import type { Count, Grain } from '../mirror/port.ts';
import { isOverLimit } from './absent.ts';
import type { Counts } from './counts.ts';
import { type Profile, queryOf, type Span, WHOLE } from './profile.ts';
import { middleOf } from './cuts.ts';
import { readRange } from './read-range.ts';
import { PAGE } from '../forms/source.ts';
import { accountedIn, pagesOf, spend, type Work } from './work.ts';

/**
 * Gains among up to this many pages are read page by page until all are found, which takes two requests on average. Halving the
 * span takes a count, and then at least a page.
 */
const FEW_PAGES = 3;
/** If more than this part differs, all of it is read. */
const MOSTLY = 1 / 8;
const MOST_HALVINGS = 40;

/** What is halved by time: one form, or the whole workspace. */
export interface Halved {
  readonly profile: Profile;
  /** The number that the target accounts for. */
  readonly counts: (span: Span, grain: Grain) => Promise<Count[]>;
  /** How many submissions the source has; null if the source should not be asked further. */
  readonly ask: (span: Span) => Promise<number | null>;
  /** Reads everything that the source shows of a span. `upTo`: stops when the target accounts for that many. */
  readonly read: (span: Span, upTo: number | null) => Promise<void>;
}

/**
 * Finds differences by date, and reads them. `count`: the number at the source within the span. `onlyGains`: looks only at spans in
 * which the source has more.
 */
export async function narrow(
  place: Halved,
  span: Span,
  count: number,
  onlyGains = false,
  halved = 0,
): Promise<void> {
  const stored = await accountedIn(place, span);
  if (onlyGains ? count <= stored : count === stored) return;
  const isFew = Math.max(count, stored) <= PAGE * (onlyGains ? FEW_PAGES : 1);
  const isMostlyOther = Math.abs(count - stored) > count * MOSTLY;
  const cutMs =
    isFew || isMostlyOther || halved >= MOST_HALVINGS
      ? null
      : await middleOf(place, place.profile, span);
  const left = cutMs === null ? null : await place.ask({ ...span, toMs: cutMs });
  if (left === null) return place.read(span, onlyGains && isFew ? count : null);
  const right = Math.max(0, count - left);
  await narrow(place, { ...span, toMs: cutMs }, left, onlyGains, halved + 1);
  await narrow(place, { ...span, fromMs: cutMs }, right, onlyGains, halved + 1);
}

/**
 * Finds what differs from the source's counts, and stores it. Gains come before losses, for all statuses: a row with a new status
 * is found under the new one, and is then not missing under the old one, which would take a request by its ID. A status that gained
 * and lost the same number differs once its losses are found under other statuses: then, or in the next round. If no status
 * differs, the sum of all does.
 */
export async function narrowAll(work: Work, statuses: Counts | null, total: number): Promise<void> {
  // A list of the whole form shows which rows are gone; a list of one status shows only which rows no longer have that status.
  if (isOverLimit(work)) return readRange(work, WHOLE, false);
  const { form, source, profile } = work;
  const place: Halved = {
    get profile() {
      return profile.now;
    },
    counts: (span, grain) => form.counts(span, grain),
    ask: async (span) => {
      spend(work);
      const { formId } = form.state;
      return source.count({ formId, ...queryOf(profile.now, span) });
    },
    read: (span, upTo) => (upTo === null ? readRange(work, span, false) : find(work, span, upTo)),
  };
  const counts = Object.entries(statuses ?? {});
  const differs = ([status, count]: readonly [string, number]): boolean =>
    count !== (accounted(form.state.tally).get(status) ?? 0);
  if (!counts.some(differs)) return narrow(place, WHOLE, total);
  for (const onlyGains of [true, false])
    for (const each of counts)
      if (differs(each)) await narrow(place, { ...WHOLE, status: each[0] }, each[1], onlyGains);
}

/** Reads a list from its newest page on, until the target accounts for `upTo` submissions of the span. */
async function find(work: Work, span: Span, upTo: number): Promise<void> {
  const { form, sink, profile } = work;
  for await (const page of pagesOf(work, queryOf(profile.now, span), undefined, 1)) {
    await sink.add(page.items);
    await sink.flush();
    if ((await accountedIn(form, span)) >= upTo) return;
  }
}
