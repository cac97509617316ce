import { isDeepStrictEqual } from 'node:util';
import { accounted, accountedInAll, agreed, isDue, isEmpty, sumOf } from '../mirror/form-state.ts';
import { areIgnored, askCounts, type Counts, uncounted } from './counts.ts';
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
 * source and copy agree; throws Incomplete if nothing can be proven.
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
  if (await takeSnapshot(work, first, startMs)) return agree(work, startMs, true);
  if (first.isLast) await learnLists(work, first, isReading);

  // 1. Due: the ranges that are flagged, the newest last.
  if (isReading) await readDue(work, first);

  // Submissions that the newest page of a poll explained are on the form's first page only if the list is sorted.
  let given = isReading || !profile.now.isSorted ? null : (asked.counts ?? null);
  let before: Counts | null = null;
  let hasFound = true;
  for (let moves = 0; moves < MOST_MOVES;) {
    // 2. Counts come before the newest: a submission that arrives in between can only add to the stored ones, like an
    // unseen deletion.
    const counts = given ?? (await askOwnCounts(work));
    // 3. Newest: the submissions created since the watermark.
    const newest = await readNewest(work, counts, given === null ? undefined : first);
    noteTotal(work, newest.total);
    learnStatuses(work, counts, newest);
    // 4. Compare. Equal numbers agree as of the time before step 2.
    if (await agrees(work, counts, newest))
      return agree(work, counts.askedAtMs, hasStatuses(work, counts, given));
    const isStill = before !== null && isDeepStrictEqual(counts.statuses, before.statuses);
    if (!isStill || !hasFound) moves++;
    const { tally } = form.state;
    const hasChanged = newest.changed.size > 0;
    // Nothing moves at the source, and narrowing found nothing: its dates do not mean the time of creation.
    if (isStill && !hasFound) await readWhole(work);
    // Counts that may be older than what was read are asked again, once: in a busy form, every round sees a newcomer.
    else if ((!hasChanged || moves > 1) && (given === null || counts.statuses !== null))
      await narrowAll(work, counts, newest.total);
    hasFound = hasChanged || given !== null || !isDeepStrictEqual(form.state.tally, tally);
    [before, given] = [counts, null];
  }
  throw new Incomplete('MOVING');
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

/** Whether agreement with these counts says anything about statuses. A poll may have counted them for the whole workspace. */
const hasStatuses = ({ profile }: Work, counts: Counts, given: Counts | null): boolean =>
  counts.statuses === null
    ? given !== null && profile.now.hasWorkspaceStatuses === true
    : profile.now.hasStatuses !== false;

function learnStatuses({ profile }: Work, counts: Counts, { total }: Newest): void {
  if (counts.statuses === null || total === 0) return;
  if (areIgnored(counts, total)) profile.learn({ hasStatuses: false });
  // Counts from another moment than the total, or beside an undocumented status, say nothing.
  else if (sumOf(Object.values(counts.statuses)) === total) profile.learn({ hasStatuses: true });
}

/** Notes how many fewer submissions the source has than the target accounts for. */
function noteTotal(work: Work, total: number): void {
  work.shortBy = accountedInAll(work.form.state.tally) - total;
}

/** The counts of the form; without statuses if the source is known to ignore them. */
async function askOwnCounts({ source, form, profile, target }: Work): Promise<Counts> {
  const nowMs = target.clock.now();
  if (profile.now.hasStatuses === false) return uncounted(nowMs);
  return askCounts(source, { formId: form.state.formId }, nowMs);
}

/**
 * Whether the source's counts equal what the target accounts for. Counts may include newcomers or not, so their statuses are
 * compared without what was read after the counts.
 */
async function agrees(work: Work, { statuses }: Counts, newest: Newest): Promise<boolean> {
  const { form, profile } = work;
  const { total, isExact, changed, fromMs } = newest;
  const stored = accounted(form.state.tally);
  if (sumOf(stored.values()) !== total) return false;
  if (statuses === null || profile.now.hasStatuses === false) return true;
  if (changed.size > 0 && !isExact) return false;
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
      const answer = await source.count({ formId, ...queryOf(profile.now, span) });
      return answer?.total === (await accountedIn(form, span));
    }),
  );
  return equal.every(Boolean);
}

async function agree(work: Work, atMs: number, onStatuses: boolean): Promise<void> {
  const { sink, form } = work;
  // Another form may have been created while this one was read.
  if (!isEmpty(form.state.tally)) await requireForms(work);
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
