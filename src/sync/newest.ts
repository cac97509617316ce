import {
  atStep,
  createdMsOf,
  isNewestFirst,
  queryOf,
  stepOf,
  type Span,
  timesOf,
} from './profile.ts';
import { readRange } from './read-range.ts';
import { type Page } from '../forms/source.ts';
import { idsOf } from './target.ts';
import { pagesOf, type Work } from './work.ts';

/** What the newest range showed. */
export interface Newest {
  /** The form's number of submissions when the reading began. */
  readonly total: number;
  /** Everything created since this time (milliseconds) was read; null: everything. */
  readonly fromMs: number | null;
}

/** The newest range overlaps the one read before, because a source's clock and commit times are not exact. */
const OVERLAP_MS = 5 * 60_000;
const MOST_TRIES = 3;

/**
 * Reads everything created since the watermark, and stores it. The watermark moves only if the range was read without a gap, and
 * never past the source's own clock. A source that is neither sorted nor bounded has no newest range; there the counts find
 * newcomers. `first`: the first page of the form's list, if it was just read.
 */
export async function readNewest(work: Work, first?: Page): Promise<Newest> {
  const { form, profile } = work;
  const { watermarkMs } = form.state;
  const stepMs = stepOf(profile.now);
  const fromMs = watermarkMs === null ? null : atStep(watermarkMs - OVERLAP_MS, stepMs);
  const span = { fromMs, toMs: null };
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { isSorted } = profile.now;
    if (!isSorted && stepMs === null) break;
    const before = isSorted ? null : await askTotal(work);
    const total = await readOnce(work, span, isSorted && tries === 0 ? first : undefined);
    if (total !== null) return { total: before ?? total, fromMs };
  }
  // The top of the list changes too much, or has too many submissions with one date, for a gapless reading.
  const total = await askTotal(work);
  if (stepMs !== null) await readRange(work, span, false);
  return { total, fromMs };
}

/** Reads once, and moves the watermark if there is no gap. Returns the total that it began with; null if there may be a gap. */
async function readOnce(work: Work, span: Span, first: Page | undefined): Promise<number | null> {
  const { form, profile, sink, target } = work;
  const { fromMs } = span;
  const { isSorted } = profile.now;
  const seen = new Set<string>();
  let [isSteady, isWhole, shown, topMs] = [true, false, 0, -Infinity];
  let total: number | null = null;
  let last = 0;
  let serverMs: number | null = null;
  const query = isSorted ? {} : queryOf(profile.now, span);
  for await (const page of pagesOf(work, query, first, 1)) {
    total ??= last = page.total;
    serverMs ??= page.serverMs;
    // In a sorted list, newcomers push others to the next page, where they are shown again and leave no gap.
    if (isSorted ? page.total < last : page.total !== last) isSteady = false;
    last = page.total;
    if (isSorted && !isNewestFirst(page)) profile.learn({ isSorted: false });
    if (shown > 0 && !(await isOldKnown(work, page))) isSteady = false;
    shown += page.items.length;
    for (const { key } of page.items) seen.add(key);
    const times = timesOf(page);
    topMs = Math.max(topMs, ...times);
    const oldestMs = Math.min(...times);
    await sink.add(page.items);
    isWhole = page.isLast || (isSorted && fromMs !== null && oldestMs < fromMs);
    if (isWhole) break;
  }
  await sink.flush();
  const came = last - (total ?? 0);
  const isGapless =
    isWhole && isSteady && shown - seen.size === came && isSorted === profile.now.isSorted;
  if (!isGapless) return null;
  const markMs = Math.min(topMs, serverMs ?? target.clock.now());
  if (markMs > (form.state.watermarkMs ?? -Infinity))
    await sink.note((state) => ({ ...state, watermarkMs: markMs }));
  return total ?? 0;
}

/**
 * Whether the target has everything on a page that is older than the watermark. Otherwise, one that was imported with an old date may
 * have taken the place of a newcomer, which moved to a page that was read before.
 */
async function isOldKnown({ form }: Work, { items }: Page): Promise<boolean> {
  const untilMs = form.state.watermarkMs ?? -Infinity;
  const old = items.filter((item) => (createdMsOf(item) ?? Infinity) < untilMs);
  const ids = old.map(({ key }) => key);
  const live = await idsOf(form.rows({ ids }));
  const others = ids.filter((id) => !live.has(id));
  if (others.length === 0) return true;
  const forgotten = await form.forgotten(others);
  const listed = new Set((await form.entries(['rejected'])).map(({ id }) => id));
  return others.every((id) => forgotten.has(id) || listed.has(id));
}

/** -1 if the source refuses the request: then nothing agrees with it. */
const askTotal = async ({ source, form }: Work): Promise<number> =>
  (await source.count({ formId: form.state.formId })) ?? -1;
