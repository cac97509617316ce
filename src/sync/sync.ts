import { isDeepStrictEqual } from 'node:util';
import {
  accounted,
  accountedInAll,
  agreed,
  isDue,
  sumOf,
  type Tally,
} from '../mirror/form-state.ts';
import { areAllAsked, areIgnored, askCounts, type Counts } from './counts.ts';
import { flagDue, readDue, takeSnapshot } from './due.ts';
import { isNewestFirst, learnBounds, queryOf, stepOf } from './profile.ts';
import { narrowAll } from './narrow.ts';
import { type Newest, readNewest } from './newest.ts';
import { readWhole } from './read-range.ts';
import { type Page } from '../forms/source.ts';
import { accountedIn, Incomplete, type Work } from './work.ts';

/** How often a source that moves is compared with the copy before a run gives up. */
const MOST_MOVES = 5;

/**
 * Brings one form in one target up to date: first copies, new submissions, changes to old ones and row comparisons. Returns when
 * source and copy agree; throws Incomplete if nothing can be proven. The numbered steps are those of docs/how-it-works.md.
 */
export async function sync(work: Work): Promise<void> {
  const { form, source, sink, profile, target, asked } = work;
  await sink.note((state) => flagDue(state, work));
  const isReading = isDue(form.state);
  const startMs = target.clock.now();
  const first = await source.page({ formId: form.state.formId });
  // For a form of more than one page, everything not yet known is requested at the same time.
  await Promise.all([
    first.items.length === 0 ? null : requireForms(work),
    first.isLast ? null : learnLists(work, first, isReading),
  ]);
  noteTotal(work, first.total);
  // A form that fits on one page needs no further step.
  if (await takeSnapshot(work, first, startMs)) return agree(work, startMs, true);
  if (first.isLast) await learnLists(work, first, isReading);

  // 1. Due: the ranges that are flagged, the newest last.
  // If every range is read again, each is proven after `startMs`, so everything is stored as of then. A first reading proves less: it
  // cannot notice that a submission with an old date takes the place of another. No times are compared, because clocks can go back.
  const { ranges } = form.state;
  const isCompared =
    ranges.length > 0 && ranges.every((range) => range.isDue && range.readAtMs !== null);
  if (isReading) await readDue(work, first);

  // The newest submissions of a poll are on the form's first page only if the list is sorted. The poll did not know that people have
  // changed rows since, which took the claim back.
  const isAsPolled = !isReading && profile.now.isSorted && form.state.submissionsAsOfMs !== null;
  let polled = isAsPolled ? asked.polled : undefined;
  if (isCompared || polled?.statuses === null) {
    const { total } = await readNewest(work, isCompared ? undefined : first);
    noteTotal(work, total);
    const { tally } = form.state;
    const onStatuses =
      isCompared || (profile.now.hasWorkspaceStatuses === true && areAllAsked(tally));
    if (accountedInAll(tally) === total) return agree(work, polled?.atMs ?? startMs, onStatuses);
    polled = undefined;
  }
  let before: Counts | null = null;
  let hasFound = true;
  for (let moves = 0; moves < MOST_MOVES;) {
    // 2. Counts come before the newest: a submission that arrives in between can only add to the stored ones, like an
    // unseen deletion.
    const askedAtMs = polled?.atMs ?? target.clock.now();
    const statuses = polled?.statuses ?? (await askOwnCounts(work));
    const { tally } = form.state;
    // 3. Newest: the submissions created since the watermark.
    const newest = await readNewest(work, polled && first);
    const { total } = newest;
    noteTotal(work, total);
    learnStatuses(work, statuses, total);
    // 4. Compare. Equal numbers agree as of the time before step 2.
    const changed = changedSince(tally, form.state.tally);
    if (await agrees(work, statuses, newest, changed)) {
      const isAsked = statuses !== null && profile.now.hasStatuses !== false;
      return agree(work, askedAtMs, isAsked && areAllAsked(form.state.tally));
    }
    const isStill = moves > 0 && isDeepStrictEqual(statuses, before);
    if (!isStill || !hasFound) moves++;
    const isCurrent = changed.size === 0 || sumOf(Object.values(statuses ?? {})) === total;
    // Nothing moves at the source, and narrowing found nothing: its dates do not mean the time of creation.
    if (isStill && !hasFound) await readWhole(work);
    // Counts that may be older than what was read are asked again, once: in a busy form, every round sees a newcomer.
    else if (isCurrent || moves > 1) await narrowAll(work, statuses, total);
    hasFound = polled !== undefined || !isDeepStrictEqual(form.state.tally, tally);
    [before, polled] = [statuses, undefined];
  }
  throw new Incomplete('MOVING');
}

/** The counts of the form; null if the source is known to ignore statuses. */
const askOwnCounts = async ({ source, form, profile }: Work): Promise<Counts | null> =>
  profile.now.hasStatuses === false ? null : askCounts(source, { formId: form.state.formId });

/** The statuses in which a target accounts for another number than before. */
function changedSince(before: Tally, after: Tally): Set<string> {
  const [was, is] = [accounted(before), accounted(after)];
  return new Set(
    [...was.keys(), ...is.keys()].filter((status) => was.get(status) !== is.get(status)),
  );
}

/** Learns whether lists are sorted, and how they treat date bounds, if that matters and is not known. */
async function learnLists(
  { source, form, profile }: Work,
  first: Page,
  isReading: boolean,
): Promise<void> {
  if (!isNewestFirst(first)) profile.learn({ isSorted: false });
  if (profile.now.bounds === null && (isReading || !profile.now.isSorted))
    profile.learn({ bounds: await learnBounds(source, form.state.formId, first) });
}

function learnStatuses({ profile }: Work, statuses: Counts | null, total: number): void {
  if (statuses === null || total === 0) return;
  if (areIgnored(statuses, total)) profile.learn({ hasStatuses: false });
  // Counts from another moment than the total, or beside an undocumented status, say nothing.
  else if (sumOf(Object.values(statuses)) === total) profile.learn({ hasStatuses: true });
}

/** Notes how many rows the source does not show, at least: submissions without a row may be gone, too. */
function noteTotal(work: Work, total: number): void {
  const { tally } = work.form.state;
  work.shortBy = accountedInAll(tally) - sumOf(Object.values(tally.unstored)) - total;
}

/**
 * Whether the source's counts equal what the target accounts for. `changed`: statuses that the newest range changed in the target.
 * The counts may include these changes or not, so these statuses are compared without the newest range.
 */
async function agrees(
  work: Work,
  statuses: Counts | null,
  { total, fromMs }: Newest,
  changed: ReadonlySet<string>,
): Promise<boolean> {
  const { form, profile } = work;
  const stored = accounted(form.state.tally);
  if (sumOf(stored.values()) !== total) return false;
  // Without counts by status, only the first page of a sorted list has its total and its newest submissions as of the same instant.
  if (statuses === null || profile.now.hasStatuses === false)
    return changed.size === 0 || profile.now.isSorted;
  const isEqual = Object.entries(statuses).every(
    ([status, count]) => changed.has(status) || (stored.get(status) ?? 0) === count,
  );
  return isEqual && areEqualBefore(work, changed, fromMs);
}

/** Whether the source has as many submissions in these statuses, created before `toMs`, as the target accounts for. */
async function areEqualBefore(
  { source, form, profile }: Work,
  statuses: ReadonlySet<string>,
  toMs: number | null,
): Promise<boolean> {
  if (toMs === null || statuses.size === 0) return true;
  if (stepOf(profile.now) === null) return false;
  const equal = await Promise.all(
    [...statuses].map(async (status) => {
      const span = { fromMs: null, toMs, status };
      const { formId } = form.state;
      const count = await source.count({ formId, ...queryOf(profile.now, span) });
      return count === (await accountedIn(form, span));
    }),
  );
  return equal.every(Boolean);
}

async function agree(work: Work, atMs: number, onStatuses: boolean): Promise<void> {
  const { sink, form } = work;
  // Another form may have been created while this one was read. If the source shows nothing of this one, nothing is mixed.
  if (accountedInAll(form.state.tally) > 0) await requireForms(work);
  // New rows that the target refuses are missing, although they are listed.
  const refusal = await form.refusal();
  if (refusal !== null) throw refusal;
  await sink.note((state) => agreed(state, atMs, onStatuses));
  if (form.state.isListDoubted) throw new Incomplete('HIDES');
}

/** Throws Incomplete unless it is known that the form's list contains only its own submissions, or that no other form exists. */
async function requireForms({ source, profile, form }: Work): Promise<void> {
  if (profile.now.hasForms === true) return;
  const isApart = await source.areFormsApart(form.state.formId);
  if (isApart === null) return;
  profile.learn({ hasForms: isApart });
  if (!isApart) throw new Incomplete('MIXED');
}
