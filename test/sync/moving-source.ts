import type { FormsClient, SubmissionItem, SubmissionPage } from '../../src/forms/client.ts';
import { FormPages } from '../../src/forms/form-pages.ts';
import { ProofLedger } from '../../src/mirror/proof.ts';
import type { Checkpoint } from '../../src/mirror/types.ts';
import { fullScan, type ItemSink, type ScanParts } from '../../src/sync/full-scan.ts';
import { incrementalScan, oldestPlausible } from '../../src/sync/incremental-scan.ts';

/** How the list is ordered; `shuffled`: newest first, ties in a new order on each request. */
export type ListOrder = 'newest' | 'oldest' | 'id' | 'shuffled';

export interface Item {
  id: string;
  createdAt: string;
  status: string;
}

/** A list of submissions in memory that changes between any two requests; fast enough for thousands of scans a second. */
export class MovingSource {
  items: Item[] = [];
  requests = 0;
  /** Called before each answer; may change the list. */
  onRequest: () => void = () => {};
  readonly order: ListOrder;
  readonly limit: number;
  readonly #random: () => number;
  #ids = 0;
  #clock = Date.parse('2026-03-01T00:00:00Z');

  constructor(order: ListOrder, limit: number, random: () => number) {
    this.order = order;
    this.limit = limit;
    this.#random = random;
  }

  /** A respondent submits; `ageMs` back-dates it (an import). */
  insert(ageMs = 0, sameInstant = false): Item {
    if (!sameInstant) this.#clock += 1_000;
    // Spread like UUIDs, so that the order of IDs says nothing about dates.
    const id = `${((this.#ids * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')}-${this.#ids++}`;
    const createdAt = new Date(this.#clock - ageMs).toISOString();
    const item = { id, createdAt, status: 'NEW' };
    this.items.push(item);
    return item;
  }

  delete(index: number): void {
    this.items.splice(index % Math.max(1, this.items.length), 1);
  }

  listSubmissions: FormsClient['listSubmissions'] = async (query) => {
    this.requests++;
    // Lets requests in flight overtake each other.
    for (let ticks = Math.floor(this.#random() * 4); ticks > 0; ticks--) await Promise.resolve();
    this.onRequest();
    const all = this.#sorted().filter(
      (item) =>
        (query.status === undefined || item.status === query.status) &&
        (query.dateFrom === undefined || item.createdAt >= query.dateFrom),
    );
    const start = (query.page - 1) * this.limit;
    return {
      items: all.slice(start, start + this.limit).map(toItem),
      total: all.length,
      page: query.page,
      limit: this.limit,
      totalPages: Math.ceil(all.length / this.limit),
      serverTimeMs: null,
    } satisfies SubmissionPage;
  };

  #sorted(): Item[] {
    const byDate = (a: Item, b: Item): number => a.createdAt.localeCompare(b.createdAt);
    switch (this.order) {
      case 'newest':
        return this.items.toSorted((a, b) => byDate(b, a) || b.id.localeCompare(a.id));
      case 'oldest':
        return this.items.toSorted((a, b) => byDate(a, b) || a.id.localeCompare(b.id));
      case 'id':
        return this.items.toSorted((a, b) => a.id.localeCompare(b.id));
      case 'shuffled': {
        const keys = new Map(this.items.map((item) => [item.id, this.#random()]));
        return this.items.toSorted(
          (a, b) => byDate(b, a) || (keys.get(a.id) ?? 0) - (keys.get(b.id) ?? 0),
        );
      }
    }
  }
}

function toItem({ id, createdAt, status }: Item): SubmissionItem {
  const submission = { id, formId: 'f', status, createdAt, data: new Map() };
  return { key: id, submission, defects: [] };
}

/** A target reduced to what the proof needs: which IDs are stored. */
export class StoredIds implements ItemSink {
  readonly stored = new Set<string>();
  checkpoint: Checkpoint | undefined;
  #ledger = new ProofLedger();
  #pending: SubmissionItem[] = [];

  async take(items: readonly SubmissionItem[]): Promise<void> {
    this.#pending.push(...items);
    if (this.#pending.length > 30) await this.flush();
  }

  async flush(): Promise<void> {
    for (const { key, submission } of this.#pending.splice(0)) {
      const existed = this.stored.has(key);
      this.stored.add(key);
      this.#ledger.sight({ key, createdAt: submission?.createdAt ?? null, existed });
    }
  }

  /** One pass, as runPass does it. True when it is proven. */
  async pass(source: MovingSource, kind: 'full' | 'incremental', readAhead = 3): Promise<boolean> {
    this.#ledger = new ProofLedger(oldestPlausible(this.checkpoint));
    const parts: ScanParts = {
      pages: new FormPages(source, 'f', {}),
      sink: this,
      ledger: this.#ledger,
      readAhead,
      signal: new AbortController().signal,
      history: this.checkpoint !== undefined,
      onTotal: () => {},
    };
    const proof =
      kind === 'incremental' && this.checkpoint !== undefined
        ? await incrementalScan(parts, this.checkpoint)
        : (await fullScan(parts)) && { total: this.#ledger.accounted };
    if (proof === 'large') throw new TypeError('no list is too large');
    if (proof) {
      this.checkpoint = {
        watermark: this.#ledger.watermark(this.checkpoint?.watermark ?? null),
        total: proof.total,
        absent: 0,
        withheld: 0,
        provenAt: '',
        fullProvenAt: null,
        hidden: 0,
        provenFor: '',
        statuses: null,
        unstored: new Map(),
        countsAt: null,
      };
    }
    return Boolean(proof);
  }
}
