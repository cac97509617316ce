import { accountedInAll, isEmpty } from '../mirror/form-state.ts';
import { isIn } from '../mirror/accounting.ts';
import { BaseProof, type Shown, Sweep } from '../mirror/proof.ts';
import { settleAbsent } from './absent.ts';
import { middleOf } from './cuts.ts';
import { queryOf, type Span, WHOLE } from './profile.ts';
import { type Page } from '../forms/source.ts';
import { NO_TOTAL } from '../forms/wire.ts';
import { idsOf } from './target.ts';
import { Incomplete, pagesOf, type Work } from './work.ts';

/** How often a range that moves is divided. */
const MOST_DIVISIONS = 12;
/** Full readings of a list that cannot be divided: in all, and without progress. 640 submissions in random order take about 14. */
const [MOST_READINGS, MOST_IDLE] = [24, 2];

/**
 * Reads the submissions created within a span, stores them, and proves that none was missed; then settles those that the proven
 * list did not show. A list of one status that moves proves nothing, and is left to the next round. `isNew`: the target may lack
 * submissions of the span that are not new, because the span was never read to its end, settings changed or people removed rows. Throws
 * Incomplete if nothing can be proven.
 */
export async function readRange(
  work: Work,
  span: Span,
  isNew: boolean,
  divided = 0,
  first?: Page,
): Promise<void> {
  const sweep = await sweepOnce(work, span, isNew, first);
  const { verdict, seen } = sweep;
  if (verdict === 'proven') return settleOrReadWhole(work, span, seen);
  if (sweep.total === NO_TOTAL) throw new Incomplete('UNCOUNTED');
  if (verdict === 'elsewhere') {
    work.profile.learn({ bounds: 'none' });
    return readWhole(work);
  }
  if (span.status !== undefined) return;
  if (verdict === 'contradiction')
    throw new Incomplete('CONTRADICTION', `${sweep.shown} instead of ${sweep.total}`);
  const cutMs = divided < MOST_DIVISIONS ? await middleOf(work.form, work.profile.now, span) : null;
  if (cutMs === null) return readFromBases(work, span);
  for (const half of [
    { ...span, toMs: cutMs },
    { ...span, fromMs: cutMs },
  ])
    await readRange(work, half, isNew, divided + 1);
}

/** The whole form as one list, for a source that cannot be asked by date. */
export const readWhole = (work: Work, first?: Page): Promise<void> =>
  readRange(work, WHOLE, isEmpty(work.form.state.tally), MOST_DIVISIONS, first);

/** Settles what a proven list did not show. Reads the whole form if the list hid something because of its dates. */
async function settleOrReadWhole(work: Work, span: Span, seen: ReadonlySet<string>): Promise<void> {
  if (!(await settleAbsent(work, span, seen))) await readWhole(work);
}

/** Reads a list once, and stores its submissions. `isNew`: as in {@link readRange}. `first`: its first page, if it was read before. */
async function sweepOnce(work: Work, span: Span, isNew: boolean, first?: Page): Promise<Sweep> {
  const { sink } = work;
  const sweep = new Sweep();
  let before: number | null = null;
  for await (const page of pagesOf(work, queryOf(work.profile.now, span), first)) {
    sweep.add(shownOf(page, span));
    await sink.add(page.items);
    // Whatever enters a list without an end while it is read for the first time looks like what was there.
    if (isNew && span.toMs === null && !page.isLast) sweep.noteNewcomer();
    if (isNew || before !== null || page.isLast) continue;
    await sink.flush();
    before = accountedInAll(work.form.state.tally);
  }
  await sink.flush();
  if (before !== null && accountedInAll(work.form.state.tally) !== before) sweep.noteNewcomer();
  return sweep;
}

/** Reads a list repeatedly until the base argument proves it. */
async function readFromBases(work: Work, span: Span): Promise<void> {
  const { form } = work;
  // The live rows, and the entries without a row.
  const known = await idsOf(form.rows(span));
  if (form.state.tally.rejected > 0)
    for (const { id } of await form.entries(['rejected'])) known.add(id);
  const proof = new BaseProof(known);
  let [idle, progress] = [0, -1];
  for (let reading = 1; reading <= MOST_READINGS && idle <= MOST_IDLE; reading++) {
    for await (const page of pagesOf(work, queryOf(work.profile.now, span))) {
      proof.add(shownOf(page, span));
      await work.sink.add(page.items);
    }
    await work.sink.flush();
    if (proof.isProven) return settleOrReadWhole(work, span, proof.seen);
    idle = proof.progress > progress ? 0 : idle + 1;
    progress = proof.progress;
  }
  throw new Incomplete('UNPROVEN');
}

export const shownOf = ({ items, total, isLast }: Page, { fromMs, toMs }: Span): Shown => ({
  keys: items.map(({ key }) => key),
  total,
  isLast,
  isWithin: items.every(({ submission }) => isIn(submission ?? NOTHING, { fromMs, toMs })),
});

const NOTHING = { status: null, createdAt: null };
