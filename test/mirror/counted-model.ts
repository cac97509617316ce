import { GRAIN_MS, type HeldBucket, type MsSpan } from '../../src/mirror/cut-span.ts';
import {
  type BoundsReading,
  narrow,
  queryBounds,
  type SeenBounds,
  unseenBounds,
} from '../../src/mirror/narrowing.ts';
import type { TimeGrain } from '../../src/mirror/time-counts.ts';

/** A submission at the source, or a row of the copy. */
export interface Dated {
  readonly id: number;
  readonly status: string;
  readonly createdMs: number;
  /** What some APIs compare bounds with. */
  readonly updatedMs: number;
}

/** How a model of the API reads `dateFrom` and `dateTo`. */
export interface ModelReading {
  readonly grain: 'instant' | 'day';
  readonly from: 'inclusive' | 'exclusive';
  readonly to: 'inclusive' | 'exclusive';
  readonly stamp: 'created' | 'updated';
  readonly filter: 'honoured' | 'ignored';
}

export const PLAIN: ModelReading = {
  grain: 'instant',
  from: 'inclusive',
  to: 'inclusive',
  stamp: 'created',
  filter: 'honoured',
};

/** What a leaf showed that no bound of its span allows: its reading of the bounds is refuted. */
export class OutOfBounds extends Error {}

/** A source and a copy of it, by ID, and what it costs to make them agree by counts. */
export class CountedModel {
  readonly source = new Map<number, Dated>();
  readonly copy = new Map<number, Dated>();
  readonly reading: ModelReading;
  /** Called before each answer of the source; may change it. */
  onRequest: () => void = () => {};
  requests = 0;
  pages = 0;

  constructor(reading: ModelReading = PLAIN) {
    this.reading = reading;
  }

  /** Narrows one status once; false where bounds are of no use. */
  async narrow(status: string, seen: SeenBounds = unseenBounds()): Promise<boolean> {
    const source = this.count(status, {});
    const held = [...this.copy.values()].filter((row) => row.status === status);
    const days = bucketsOf(datesOf(held), 'day');
    return narrow({ source, undated: 0, days, leafSize: 100 }, seen, {
      countSource: async (span, reading) => this.count(status, queryBounds(span, reading)),
      countHeld: async (span, grain) => bucketsOf(datesOf(held.filter(within(span))), grain),
      settle: async (leaf, reading) => this.#settle(status, leaf, reading),
    });
  }

  /** Statuses by how many of each the source has beyond the copy; those that agree are not in it. */
  differences(): Map<string, number> {
    const counts = new Map<string, number>();
    const add = (status: string, by: number): void =>
      void counts.set(status, (counts.get(status) ?? 0) + by);
    for (const { status } of this.source.values()) add(status, 1);
    for (const { status } of this.copy.values()) add(status, -1);
    return new Map([...counts].filter(([, count]) => count !== 0));
  }

  count(status: string, bounds: { dateFrom?: string; dateTo?: string }): number {
    this.requests++;
    this.onRequest();
    return this.#matching(status, bounds).length;
  }

  /** Reads a span as a pass does: stores what it shows, and asks by ID for what it does not. */
  #settle(status: string, span: MsSpan, reading: BoundsReading): void {
    this.onRequest();
    const shown = this.#matching(status, queryBounds(span, reading));
    const pages = Math.max(1, Math.ceil(shown.length / 100));
    this.requests += pages;
    this.pages += pages;
    for (const item of shown) this.copy.set(item.id, item);
    if (!shown.every(within(span))) throw new OutOfBounds();
    const ids = new Set(shown.map(({ id }) => id));
    for (const row of [...this.copy.values()].filter(within(span))) {
      if (row.status !== status || ids.has(row.id)) continue;
      this.requests++;
      const there = this.source.get(row.id);
      if (there === undefined) this.copy.delete(row.id);
      else if (there.status === status) throw new OutOfBounds();
      else this.copy.set(row.id, there);
    }
  }

  #matching(status: string, bounds: { dateFrom?: string; dateTo?: string }): Dated[] {
    const { grain, from, to, stamp, filter } = this.reading;
    const day = (ms: number): number =>
      grain === 'day' ? Math.floor(ms / GRAIN_MS.day) * GRAIN_MS.day : ms;
    const [low, high] = [bounds.dateFrom, bounds.dateTo].map((text) =>
      text === undefined || filter === 'ignored' ? undefined : day(Date.parse(text)),
    );
    return [...this.source.values()].filter((item) => {
      const ms = day(stamp === 'created' ? item.createdMs : item.updatedMs);
      if (item.status !== status) return false;
      if (low !== undefined && (from === 'inclusive' ? ms < low : ms <= low)) return false;
      return high === undefined || (to === 'inclusive' ? ms <= high : ms < high);
    });
  }
}

const datesOf = (rows: readonly Dated[]): number[] => rows.map(({ createdMs }) => createdMs);

const within =
  ({ fromMs, toMs }: MsSpan) =>
  ({ createdMs }: Dated): boolean =>
    (fromMs === null || createdMs >= fromMs) && (toMs === null || createdMs < toMs);

/** How many of these dates are in each grain. */
export function bucketsOf(dates: Iterable<number>, grain: TimeGrain): HeldBucket[] {
  const size = GRAIN_MS[grain];
  const counts = new Map<number, number>();
  for (const createdMs of dates) {
    const startMs = Math.floor(createdMs / size) * size;
    counts.set(startMs, (counts.get(startMs) ?? 0) + 1);
  }
  return [...counts]
    .map(([startMs, held]) => ({ startMs, rows: held }))
    .toSorted((a, b) => a.startMs - b.startMs);
}
