import { throwIfAborted } from '../base/clock.ts';
import type { SubmissionPage } from '../forms/client.ts';
import type { LeafParts } from './compare-leaf.ts';

/** So many are read of a list that may be of what changed lately. */
const MOST_CHANGED = 4_000;

/**
 * Bounds that are of no use for a date may compare the time of the last change: then they show what changed since. What
 * they show is newer than what is held, whatever they compare; whether it was all, the counts tell. `total`: of the whole list.
 */
export async function readChanged(
  parts: Pick<LeafParts, 'pages' | 'sink' | 'signal' | 'spend'>,
  dateFrom: string,
  total: number,
): Promise<void> {
  const { pages, sink, signal, spend } = parts;
  const read = async (page: number): Promise<SubmissionPage> => {
    throwIfAborted(signal);
    spend();
    const response = await pages.read({ dateFrom, page });
    await sink.take(response.items);
    return response;
  };
  const first = await read(1);
  if (first.total < total && first.total <= MOST_CHANGED) {
    for (let page = 2; page <= first.totalPages; page++) await read(page);
  }
  await sink.flush();
}
