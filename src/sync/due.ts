import {
  accountedInAll,
  cutRanges,
  flagAll,
  flagOld,
  type FormState,
  liveRows,
  oldestReading,
  rangeRead,
  wholeRead,
} from '../mirror/form-state.ts';
import { cutsOf } from './cuts.ts';
import { GRAIN_MS } from '../mirror/port.ts';
import { Sweep } from '../mirror/proof.ts';
import { settleAbsent } from './absent.ts';
import { atStep, createdMsOf, queryOf, type Span, stepOf, timesOf, WHOLE } from './profile.ts';
import { readRange, readWhole, shownOf } from './read-range.ts';
import { type Page } from '../forms/source.ts';
import { accountedIn, type Work } from './work.ts';

/** A form of up to `MOST_OF_ONE` submissions is one range; a larger one is divided into ranges of about `RANGE`. */
const [MOST_OF_ONE, RANGE] = [40_000, 20_000];
const { day: DAY_MS } = GRAIN_MS;

/** The state in which the ranges that this run must read are flagged. */
export function flagDue(
  state: FormState,
  { target, asked }: Pick<Work, 'target' | 'asked'>,
): FormState {
  const { isFull = false, isComparison = false, acceptDeletes = 0 } = asked;
  const nowMs = target.clock.now();
  // A reading in the future got its time from a wrong clock, so it proves nothing.
  const isAhead = state.ranges.some(({ readAtMs }) => (readAtMs ?? 0) > nowMs + DAY_MS);
  if (isFull || acceptDeletes > 0 || isAhead) return flagAll(state);
  return isComparison ? flagOld(state, target.compareEveryMs, nowMs) : state;
}

/** A response that shows the whole form is a snapshot and proves everything. Returns whether `page` was one. */
export async function takeSnapshot(work: Work, page: Page, atMs: number): Promise<boolean> {
  const sweep = new Sweep();
  sweep.add(shownOf(page, WHOLE));
  if (sweep.verdict !== 'proven') return false;
  await work.sink.add(page.items);
  await settleAbsent(work, WHOLE, sweep.seen);
  await noteWhole(work, atMs);
  return true;
}

/** Everything was read and proven, from `atMs` on. */
const noteWhole = ({ sink }: Work, atMs: number): Promise<void> =>
  sink.note((state) => ({
    ...wholeRead(state, atMs),
    // A submission may be dated in the future.
    watermarkMs: sink.topMs === null ? state.watermarkMs : Math.min(sink.topMs, atMs),
  }));

/**
 * Reads every range that is due, the newest last. Throws Incomplete if a range cannot be proven; the ranges read before stay proven,
 * so the next run continues there.
 */
export async function readDue(work: Work, first: Page): Promise<void> {
  const { form, sink, profile } = work;
  const { clock } = work.target;
  const atMs = clock.now();
  const isRanged = stepOf(profile.now) !== null && !(await hasUndated(work, first));
  if (!isRanged || !(await cutDue(work, first))) {
    await readWhole(work, first);
    return noteWhole(work, atMs);
  }
  const isWhole = form.state.ranges.every(({ isDue }) => isDue);
  const due = form.state.ranges.filter(({ isDue }) => isDue);
  // While a range is read, the first page of the next one is requested, so that no range begins with a wait for a single response.
  let coming = begin(work, due[0]);
  for (const [at, range] of due.entries()) {
    const { beganMs, page } = coming;
    const first = await page;
    coming = begin(work, due[at + 1]);
    await readRange(work, range, range.readAtMs === null, 0, first);
    // Its dates may turn out to be of no use. Then the whole form was read.
    if (stepOf(profile.now) === null) return noteWhole(work, atMs);
    await sink.note((state) => rangeRead(state, range.toMs, beganMs));
  }
  await sink.note((state) => {
    const endMs = state.ranges.at(-1)?.fromMs ?? null;
    return {
      ...state,
      watermarkMs: endMs === null ? state.watermarkMs : Math.max(endMs, state.watermarkMs ?? endMs),
      isListDoubted: state.isListDoubted && !isWhole,
    };
  });
}

/** Requests the first page of a range, if there is one. */
function begin({ source, form, profile, target }: Work, range: Span | undefined) {
  const beganMs = target.clock.now();
  const query = range && { formId: form.state.formId, ...queryOf(profile.now, range) };
  const page = query && source.page(query);
  page?.catch(() => {}); // It is awaited in its turn, or no longer needed.
  return { beganMs, page };
}

/** Whether some submissions have no date. They are in no range; only a list without bounds shows them. */
async function hasUndated(work: Work, { total }: Page): Promise<boolean> {
  const { form, source, profile } = work;
  const anyDate = { fromMs: 0, toMs: null };
  const shown = await source.count({
    formId: form.state.formId,
    ...queryOf(profile.now, anyDate),
  });
  if (shown !== null && shown < total) return true;
  if (accountedInAll(form.state.tally) > (await accountedIn(form, anyDate))) return true;
  // Rows that the source does not show are not counted.
  const missing = await form.entries(['held', 'undecided']);
  return missing.some(({ createdAt }) => createdAt === null);
}

/**
 * Divides the form into ranges, unless its ranges can be read unchanged. The last cut is just after the newest submission, so that
 * new submissions move no range. False if no submission has a date.
 */
async function cutDue(work: Work, first: Page): Promise<boolean> {
  const { form, sink } = work;
  const { ranges } = form.state;
  const last = ranges.at(-1);
  const isBegun = ranges.length > 1 && ranges.some((range) => !range.isDue);
  if (isBegun && last?.isDue !== true) return true;
  const stepMs = stepOf(work.profile.now);
  const topMs = Math.max(...timesOf(first), form.state.watermarkMs ?? -Infinity);
  if (!Number.isFinite(topMs)) return false;
  const end = atStep(topMs + 1, stepMs);
  if (isBegun) {
    // Only the ranges added to the end since are new.
    if (last === undefined || (last.fromMs !== null && end <= last.fromMs)) return true;
    await sink.note((state) => ({
      ...state,
      ranges: [...state.ranges.slice(0, -1), { ...last, toMs: end }, { ...last, fromMs: end }],
    }));
    return true;
  }
  const cuts = await plannedCuts(work, first, end);
  await sink.note((state) => cutRanges(state, [...cuts, end]));
  return true;
}

/** Cuts at midnights, chosen by the stored rows, or in a first copy by the dates on the pages at these ranks. */
async function plannedCuts(work: Work, first: Page, endMs: number): Promise<number[]> {
  const { form, source, profile } = work;
  const rows = liveRows(form.state.tally);
  const many = Math.max(rows, first.total);
  if (many <= MOST_OF_ONE) return [];
  const isFirst = oldestReading(form.state) === null && rows < many / 2;
  if (!isFirst) return cutsOf(await form.counts({ toMs: endMs }, 'day'), RANGE);
  if (!profile.now.isSorted) return [];
  const size = Math.max(1, first.items.length);
  const cuts = new Set<number>();
  for (let rank = RANGE; rank < many - RANGE / 2; rank += RANGE) {
    const number = Math.floor(rank / size) + 1;
    const [top] = (await source.page({ formId: form.state.formId }, number, size)).items;
    const ms = top === undefined ? null : createdMsOf(top);
    // Ranks past the end of the list show nothing: the total only plans.
    if (ms === null) break;
    cuts.add(atStep(ms, DAY_MS));
  }
  return [...cuts];
}
