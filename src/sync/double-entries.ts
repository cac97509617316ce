import type { SubmissionPage } from '../forms/client.ts';
import { OrderWatch } from '../mirror/list-order.ts';
import { IdSet } from '../mirror/id-set.ts';
import { type Crossing, ListPicture } from '../mirror/list-picture.ts';
import { keysOf, timesOf } from './page-items.ts';

/** What is known of the double entries that one sweep showed. */
export interface DoublesEvidence {
  /** See {@link certainDoubles}. */
  readonly certain: number;
  /** Null: not asked, as not all of them are certain. */
  readonly fromEnd: FromEnd | null;
}

/**
 * What a list shows from its other end. `same`: what it showed before; `other`: not quite that. `unknown`: it could not be
 * seen that it was read from there.
 */
export type FromEnd = 'same' | 'other' | 'unknown';

/** A page of the list, cut into pages of a size; null where the API refuses it. */
type ReadSized = (page: number, size: number) => Promise<SubmissionPage | null>;

/** In how many page sizes one response is sought that shows a submission's entries together. */
const MOST_SIZES = 2;

/**
 * How many further entries of the list are certain. An entry is in a response once, so as many entries as one response shows
 * of a submission are there. Those of a submission on two pages or more are certain only when one response shows all of
 * them: they are asked for once more, in pages a little smaller, so that one page holds them.
 *
 * A submission of n entries counts n - 1 exactly when one response showed all n, and less otherwise: what its pages show
 * beyond one entry each, and once more for each border, when a response shows as many entries as its pages together.
 */
export async function certainDoubles(
  readSized: ReadSized,
  picture: ListPicture,
  pageSize: number,
): Promise<number> {
  let certain = picture.repeated;
  for (const crossing of picture.crossings) {
    if (await isShownTogether(readSized, crossing, picture.entries, pageSize))
      certain += crossing.last.page - crossing.first.page;
  }
  return certain;
}

async function isShownTogether(
  readSized: ReadSized,
  { key, entries, first, last }: Crossing,
  total: number,
  pageSize: number,
): Promise<boolean> {
  const start = (first.page - 1) * pageSize + first.position;
  const end = (last.page - 1) * pageSize + last.position;
  for (const size of sizesAround(start, end, pageSize)) {
    const shown = await readSized(Math.floor(start / size) + 1, size);
    if (shown?.total !== total) return false;
    if (shown.items.filter((item) => item.key === key).length >= entries) return true;
  }
  return false;
}

/** Page sizes, smaller than usual, with a page that holds what is from `start` to `end` of the list. */
function sizesAround(start: number, end: number, pageSize: number): number[] {
  const sizes: number[] = [];
  for (let size = pageSize - 1; size > end - start && sizes.length < MOST_SIZES; size--) {
    if (Math.floor(start / size) === Math.floor(end / size)) sizes.push(size);
  }
  return sizes;
}

/**
 * Reads a list in the opposite order, to see whether its double entries push others off its end. Where both orders are by
 * one key, what ends up on neither side has the key of all that is shown; so when the dates are seen to fall in one and to
 * rise in the other, and both show the same submissions, by certain entries, nothing is left out. A list of one page is read
 * in two: a server that sorts what it has cut to a page shows another order then. `unseen` is asked at the end, whether there
 * were submissions that the sweep had not shown.
 */
export async function readFromEnd(
  read: ReadSized,
  sweep: { picture: ListPicture; order: OrderWatch; pageSize: number; distinct: number },
  unseen: () => boolean,
): Promise<FromEnd> {
  const { picture, order, pageSize, distinct } = sweep;
  if (!order.sorted) return 'unknown';
  const size = picture.pages > 1 ? pageSize : Math.ceil(picture.entries / 2);
  const shown = new ListPicture();
  const ids = new IdSet();
  const opposite = new OrderWatch();
  for (let asked = 1; shown.entries < picture.entries; asked++) {
    const page = await read(asked, size);
    if (page === null || page.items.length >= picture.entries) return 'unknown';
    if (page.items.length === 0 || page.page !== asked) return 'other';
    if (page.total !== picture.entries) return 'other';
    opposite.add(timesOf(page));
    if ((order.falls > 0 ? opposite.falls : opposite.rises) > 0) return 'unknown';
    const keys = keysOf(page);
    for (const key of keys) ids.add(key);
    shown.add({ asked, total: page.total, keys });
  }
  if (!opposite.sorted) return 'unknown';
  if (unseen() || shown.entries !== picture.entries || ids.size !== distinct) return 'other';
  const certain = await certainDoubles(read, shown, size);
  return certain === shown.entries - ids.size ? 'same' : 'other';
}
