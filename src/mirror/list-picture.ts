import { hash } from 'node:crypto';

/** A page as it was asked for and shown. */
export interface ShownPage {
  readonly asked: number;
  readonly total: number;
  readonly keys: readonly string[];
}

/** Entries of one submission that neighbouring pages show. Positions count from 0 within a page. */
export interface Crossing {
  readonly key: string;
  readonly entries: number;
  /** The pages of the first and of the last of them, and where they are on it. */
  readonly first: { readonly page: number; readonly position: number };
  readonly last: { readonly page: number; readonly position: number };
}

/** Where a page shows a submission. */
interface Place {
  readonly entries: number;
  readonly first: number;
  readonly last: number;
}

/** Where a page shows its submissions: the position of each of them, and of those that it shows more than once all places. */
interface Places {
  readonly first: ReadonlyMap<string, number>;
  readonly repeated: ReadonlyMap<string, Place>;
}

/** More submissions than this on the borders of pages are not kept, and prove nothing. */
const MOST_CROSSINGS = 50;

/**
 * What one sweep of a list showed: the entries of each page in their order, double ones included, and `total`. Memory: a
 * hash for each page, two pages of keys, and a bounded number of submissions that lie across borders.
 *
 * Two sweeps, one wholly after the other, that show the same pages tell what the list was at the instant between them,
 * unless something changed and changed back: each page was so before that instant and after it. When the entries add up
 * to `total`, nothing follows the last page, one response shows all entries of each double, and the list shows the same
 * submissions from its other end, that is the whole list. The last two points matter: in a list whose ties come in an order that
 * differs from page to page, a submission that two pages show hides another, and may do so each time; and a list that ends
 * after `total` entries, while `total` counts submissions, leaves out one for each double.
 */
export class ListPicture {
  readonly #pages = new Map<number, string>();
  readonly #totals = new Set<number>();
  /** Of the page added first, which may be the last one of the list, and of the newest. */
  #held = new Map<number, Places>();
  readonly #across = new Map<string, Map<number, Place>>();
  #base: number | undefined;
  #entries = 0;
  #repeated = 0;
  #ended = false;

  /** Adds a page of the sweep. An empty one after the others is the end of the list. */
  add({ asked, total, keys }: ShownPage): void {
    this.#totals.add(total);
    if (keys.length === 0) {
      this.#ended = true;
      return;
    }
    const places = placesOf(keys);
    this.#pages.set(asked, hash('sha1', keys.join('\n')));
    this.#entries += keys.length;
    this.#repeated += keys.length - places.first.size;
    for (const beside of [asked - 1, asked + 1]) this.#compare(asked, places, beside);
    this.#base ??= asked;
    const base = this.#held.get(this.#base) ?? places;
    this.#held = new Map([
      [this.#base, base],
      [asked, places],
    ]);
  }

  #compare(asked: number, places: Places, beside: number): void {
    const held = this.#held.get(beside);
    if (held === undefined) return;
    for (const key of held.first.keys()) {
      if (!places.first.has(key)) continue;
      const [here, other] = [placeOf(places, key), placeOf(held, key)];
      // One more is kept, to tell that there are too many.
      if (!this.#across.has(key) && this.#across.size > MOST_CROSSINGS) return;
      const across = this.#across.get(key) ?? new Map<number, Place>();
      this.#across.set(key, across.set(asked, here).set(beside, other));
    }
  }

  /** Whether this is a list from its first page to its end, whose entries add up to the one `total` that was said. */
  get whole(): boolean {
    const contiguous = Math.max(0, ...this.#pages.keys()) === this.#pages.size;
    return this.#ended && contiguous && this.#totals.size === 1 && this.#totals.has(this.#entries);
  }

  /** How many pages had entries. */
  get pages(): number {
    return this.#pages.size;
  }

  /** All entries, double ones included. */
  get entries(): number {
    return this.#entries;
  }

  /** Entries that repeat another one of the same response. */
  get repeated(): number {
    return this.#repeated;
  }

  /** The submissions that neighbouring pages show, from the first of these pages to the last; none when there are too many. */
  get crossings(): Crossing[] {
    if (this.#across.size > MOST_CROSSINGS) return [];
    return [...this.#across].flatMap(([key, places]) => crossingsOf(key, places));
  }

  /** Whether another sweep showed the same. */
  equals(other: ListPicture): boolean {
    return (
      this.#entries === other.#entries &&
      this.#totals.symmetricDifference(other.#totals).size === 0 &&
      this.#pages.size === other.#pages.size &&
      [...this.#pages].every(([page, shown]) => other.#pages.get(page) === shown)
    );
  }
}

function placesOf(keys: readonly string[]): Places {
  const first = new Map<string, number>();
  const repeated = new Map<string, Place>();
  for (const [at, key] of keys.entries()) {
    const before = first.get(key);
    if (before === undefined) {
      first.set(key, at);
      continue;
    }
    const entries = (repeated.get(key)?.entries ?? 1) + 1;
    repeated.set(key, { entries, first: before, last: at });
  }
  return { first, repeated };
}

/** Of a submission that the page shows. */
function placeOf({ first, repeated }: Places, key: string): Place {
  const at = first.get(key) ?? 0;
  return repeated.get(key) ?? { entries: 1, first: at, last: at };
}

/** One for each run of neighbouring pages. */
function crossingsOf(key: string, places: ReadonlyMap<number, Place>): Crossing[] {
  const crossings: Crossing[] = [];
  for (const [page, { entries, first, last }] of [...places].toSorted(([a], [b]) => a - b)) {
    const before = crossings.at(-1);
    const goesOn = before?.last.page === page - 1;
    const start = goesOn ? before : { entries: 0, first: { page, position: first } };
    if (goesOn) crossings.pop();
    crossings.push({
      key,
      entries: start.entries + entries,
      first: start.first,
      last: { page, position: last },
    });
  }
  return crossings;
}
