import { accounted } from '../mirror/form-state.ts';
import type { Count, Grain } from '../mirror/port.ts';
import { isOverLimit } from './absent.ts';
import type { Counts } from './counts.ts';
import { type Profile, queryOf, type Span, WHOLE } from './profile.ts';
import { middleOf } from './cuts.ts';
import { readRange } from './read-range.ts';
import { PAGE } from '../forms/source.ts';
import { accountedIn, spend, type Work } from './work.ts';

/** If more than this part differs, all of it is read. */
const MOSTLY = 1 / 8;
const MOST_HALVINGS = 40;

/** What is halved by time: one form, or the whole workspace. */
export interface Place {
  readonly profile: Profile;
  /** The number that the target accounts for. */
  readonly counts: (span: Span, grain: Grain) => Promise<Count[]>;
  /** How many submissions the source has; null if the source should not be asked further. */
  readonly ask: (span: Span) => Promise<number | null>;
  /** Reads everything that the source shows of a span. */
  readonly read: (span: Span) => Promise<void>;
}

/** Finds differences by date, and reads them. `count`: the number at the source within the span. */
export async function narrow(place: Place, span: Span, count: number, halved = 0): Promise<void> {
  const stored = await accountedIn(place, span);
  if (count === stored) return;
  const isOnePage = Math.max(count, stored) <= PAGE;
  const isMostlyOther = Math.abs(count - stored) > count * MOSTLY;
  const cutMs =
    isOnePage || isMostlyOther || halved >= MOST_HALVINGS
      ? null
      : await middleOf(place, place.profile, span);
  const left = cutMs === null ? null : await place.ask({ ...span, toMs: cutMs });
  if (left === null) return place.read(span);
  await narrow(place, { ...span, toMs: cutMs }, left, halved + 1);
  await narrow(place, { ...span, fromMs: cutMs }, Math.max(0, count - left), halved + 1);
}

/**
 * Finds what differs from the source's counts, and stores it. The status that gained most comes first: a row with a new status is
 * found under the new one, and is then not missing under the old one, which would take a request by its ID. A status that gained
 * and lost the same number differs in the next round, once its losses are found under other statuses. If no status differs, the sum
 * of all does.
 */
export async function narrowAll(work: Work, statuses: Counts | null, total: number): Promise<void> {
  // A list of the whole form shows which rows are gone; a list of one status shows only which rows no longer have that status.
  if (isOverLimit(work)) return readRange(work, WHOLE, false);
  const { form, source, profile } = work;
  const place: Place = {
    get profile() {
      return profile.now;
    },
    counts: (span, grain) => form.counts(span, grain),
    ask: async (span) => {
      spend(work);
      const { formId } = form.state;
      return source.count({ formId, ...queryOf(profile.now, span) });
    },
    read: (span) => readRange(work, span, false),
  };
  const stored = accounted(form.state.tally);
  const gain = ([status, count]: readonly [string, number]): number =>
    count - (stored.get(status) ?? 0);
  const differing = Object.entries(statuses ?? {}).filter((each) => gain(each) !== 0);
  if (differing.length === 0) return narrow(place, WHOLE, total);
  for (const [status, count] of differing.toSorted((a, b) => gain(b) - gain(a)))
    await narrow(place, { ...WHOLE, status }, count);
}
