import { accounted } from '../mirror/form-state.ts';
import { accountedIn, isOverLimit, settleAbsent } from './absent.ts';
import type { Counts } from './counts.ts';
import { dated } from './profile.ts';
import { PAGE } from './source.ts';
import { cutRows, readRange, sweepOnce } from './read-range.ts';
import { type Span, spend, WHOLE, type Work } from './work.ts';

/** Where more than this part differs, all of it is read. */
const MOSTLY = 1 / 8;
export const MOST_HALVINGS = 40;

/**
 * Finds what differs from the source's counts, by date, and stores it. Gains before losses: a row that has another status now is
 * found where it is, and not missed where it was. Where no status differs, the sum of all does.
 */
export async function narrowAll(work: Work, { statuses }: Counts, total: number): Promise<void> {
  // A list of the whole form shows which rows are gone; one of a status, only which do not have it.
  if (isOverLimit(work)) return readRange(work, WHOLE, 'all');
  const stored = accounted(work.form.state.tally);
  const gain = (status: string): number => (statuses?.get(status) ?? 0) - (stored.get(status) ?? 0);
  const differing = [...(statuses?.keys() ?? [])]
    .filter((status) => gain(status) !== 0)
    .toSorted((a, b) => gain(b) - gain(a));
  for (const status of differing)
    await narrow(work, { ...WHOLE, status }, statuses?.get(status) ?? 0);
  if (differing.length === 0) await narrow(work, WHOLE, total);
}

/** `count`: how many the source has within the span. */
async function narrow(work: Work, span: Span, count: number, halved = 0): Promise<void> {
  const { form, source, profile } = work;
  const stored = await accountedIn(work, span);
  if (stored === count) return;
  const isFew = Math.max(count, stored) <= PAGE;
  const isMostlyOther = Math.abs(count - stored) > count * MOSTLY;
  const cutMs =
    isFew || isMostlyOther || halved >= MOST_HALVINGS ? null : await cutRows(work, span);
  if (cutMs === null) return settle(work, span);
  spend(work);
  const left = await source.count({
    formId: form.state.formId,
    ...(span.status !== undefined && { status: span.status }),
    ...dated(profile.now, span.fromMs, cutMs),
  });
  if (left === null) return settle(work, span);
  await narrow(work, { ...span, toMs: cutMs }, left.total, halved + 1);
  await narrow(work, { ...span, fromMs: cutMs }, Math.max(0, count - left.total), halved + 1);
}

/** Reads all of a span. One of a status may move while it is read: then it proves nothing, and the next round looks again. */
async function settle(work: Work, span: Span): Promise<void> {
  if (span.status === undefined) return readRange(work, span, 'all');
  const { verdict, seen } = await sweepOnce(work, span, 'all');
  if (verdict === 'elsewhere') work.profile.learn({ bounds: 'none' });
  // A list of one status that stood still as far as it can be seen.
  if (verdict === 'proven') await settleAbsent(work, span, seen);
}
