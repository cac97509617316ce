import type {
  FormsClient,
  SubmissionItem,
  SubmissionPage,
  SubmissionQuery,
} from '../../src/forms/client.ts';
import { FormsApiError } from '../../src/forms/errors.ts';
import type { Form } from '../../src/mirror/types.ts';

export const FORM: Form = {
  id: 'form-1',
  slug: 'contact',
  name: 'Contact',
  fields: [{ id: 'answer', label: 'Answer' }],
};

/** How the list is ordered, whatever is asked for; `shuffled`: newest first, ties in a new order on each request. */
export const ORDERS = ['newest', 'oldest', 'id', 'insertion', 'shuffled'] as const;

const DAY_MS = 24 * 60 * 60_000;

/** What `dateFrom` and `dateTo` do: compare instants, days, or the last change; without their ends; nothing; or fail. */
export const DATES = ['instants', 'days', 'exclusive', 'updated', 'ignored', 'refused'] as const;

/** How a stand-in reads what the API leaves unsaid. */
export interface StandInReading {
  readonly order: (typeof ORDERS)[number];
  readonly limit: number;
  /** What `total` counts where a JOIN shows a submission twice. */
  readonly totalCounts: 'submissions' | 'entries';
  /** Where further entries of a submission are: beside the first, or after everything else. */
  readonly doubles: 'beside' | 'apart';
  /** Where the list ends: after all entries, after `total` of them, or after `totalPages` pages. */
  readonly ends: 'entries' | 'total' | 'pages';
  /** `sortOrder` turns the list round; otherwise it is ignored, or anything but `desc` is refused. */
  readonly reversal: 'honoured' | 'ignored' | 'refused';
  /** A page after the last one: empty, refused, or the last one again. */
  readonly pastEnd: 'empty' | 'refused' | 'last';
  readonly dates: (typeof DATES)[number];
}

export interface SoakItem {
  readonly id: string;
  readonly createdAt: string;
  status: string;
  answer: string;
  updatedAt: string;
  /** How many entries of the list it is. */
  copies: number;
}

/** Something that a count may show, and when it happened. */
export interface SoakEvent {
  readonly kind: 'came' | 'gone';
  readonly what: string;
  readonly id: string;
  readonly createdAt: string;
  /** After how many answers of each list. */
  readonly served: ReadonlyMap<SoakList, number>;
  readonly tick: number;
}

/** A list whose pages were read: that of the form, or of what is dated within bounds. */
export interface SoakList {
  readonly dateFrom: string | undefined;
  readonly dateTo: string | undefined;
  served: number;
  lastTick: number;
}

/** A form in memory whose list changes between any two requests, and the truth about what it was at every moment. */
export class StandIn {
  readonly items: SoakItem[] = [];
  readonly deleted: SoakItem[] = [];
  readonly events: SoakEvent[] = [];
  /** IDs of submissions that cannot be asked for. */
  readonly broken = new Set<string>();
  readonly reading: StandInReading;
  readonly form: Form;
  /** Called before each answer; may change the list. */
  onRequest: (page: number) => void = () => {};
  tick = 0;
  /** How far apart submissions are dated. */
  spacingMs = 1_000;
  /** By their bounds. */
  readonly lists = new Map<string, SoakList>();
  readonly #random: () => number;
  readonly #history = new Map<string, { tick: number; value: string | null }[]>();
  #made = 0;
  /** The list as last shown; undefined after a change. */
  #listed: readonly SoakItem[] | undefined;
  #clock = Date.parse('2026-03-01T00:00:00Z');

  constructor(reading: StandInReading, random: () => number, form = FORM) {
    this.reading = reading;
    this.form = form;
    this.#random = random;
  }

  /** An import, dated so long before a midnight (UTC) some days ago. */
  insertAtMidnight(days: number, beforeMs: number): void {
    const midnight = Math.floor(this.#clock / DAY_MS - days) * DAY_MS;
    this.insert(this.#clock + this.spacingMs - midnight + beforeMs);
  }

  /** A respondent submits; `ageMs` back-dates it (an import). */
  insert(ageMs = 0, sameInstant = false): SoakItem {
    if (!sameInstant) this.#clock += this.spacingMs;
    // Spread like UUIDs, so that the order of IDs says nothing about dates.
    const id = `${((this.#made * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')}-${this.#made++}`;
    const createdAt = new Date(this.#clock - ageMs).toISOString();
    const updatedAt = new Date(this.#clock).toISOString();
    const answer = `answer ${this.#made}`;
    const item = { id, createdAt, updatedAt, status: 'NEW', answer, copies: 1 };
    this.items.push(item);
    this.#note('came', ageMs > 0 ? 'import' : 'insert', item);
    return item;
  }

  delete(id: string): void {
    const index = this.items.findIndex((item) => item.id === id);
    const [item] = index < 0 ? [] : this.items.splice(index, 1);
    if (item === undefined) return;
    this.deleted.push(item);
    this.#note('gone', 'delete', item);
  }

  restore(id: string): void {
    const index = this.deleted.findIndex((item) => item.id === id);
    const [item] = index < 0 ? [] : this.deleted.splice(index, 1);
    if (item === undefined) return;
    this.items.push(item);
    this.#note('came', 'restore', item);
  }

  change(id: string, changes: { status?: string; answer?: string }): void {
    const item = this.items.find((each) => each.id === id);
    if (item === undefined) return;
    Object.assign(item, changes, { updatedAt: new Date(this.#clock).toISOString() });
    this.#listed = undefined;
    this.#remember(item.id, valueOf(item));
  }

  /** The list shows it so many times from now on. */
  repeat(id: string, copies: number): void {
    const item = this.items.find((each) => each.id === id);
    if (item === undefined || item.copies === copies) return;
    const kind = copies > item.copies ? 'came' : 'gone';
    item.copies = copies;
    this.#listed = undefined;
    if (this.reading.totalCounts === 'entries') this.#note(kind, 'double', item);
  }

  /** What a submission was from one tick to another, in order; null: it did not exist. */
  valuesBetween(id: string, from: number, to: number): (string | null)[] {
    const all = this.#history.get(id) ?? [];
    const before = all.findLast(({ tick }) => tick <= from)?.value ?? null;
    const during = all.filter(({ tick }) => tick > from && tick <= to);
    return [before, ...during.map(({ value }) => value)];
  }

  get everSeen(): Iterable<string> {
    return this.#history.keys();
  }

  /** The list's entries in their order now. */
  entries(): readonly SoakItem[] {
    if (this.#listed === undefined || this.reading.order === 'shuffled')
      this.#listed = this.#list();
    return this.#listed;
  }

  #list(): SoakItem[] {
    const sorted = this.#sorted();
    if (this.reading.doubles === 'beside')
      return sorted.flatMap((item) => times(item, item.copies));
    return [...sorted, ...sorted.flatMap((item) => times(item, item.copies - 1))];
  }

  /** What a pass needs of a client, as one. */
  get client(): FormsClient {
    const { getSubmission, getForm } = this;
    const listSubmissions: FormsClient['listSubmissions'] = (query) => this.listSubmissions(query);
    return { listSubmissions, getSubmission, getForm } as unknown as FormsClient;
  }

  listSubmissions: FormsClient['listSubmissions'] = async (query) => {
    await this.#arrive(query.page);
    const { ends, reversal, pastEnd, totalCounts, dates } = this.reading;
    const isBounded = query.dateFrom !== undefined || query.dateTo !== undefined;
    if (isBounded && dates === 'refused') throw refused(400, 'FORMS_REFUSED');
    const reversed = query.sortOrder === 'asc' && reversal !== 'ignored';
    if (reversed && reversal === 'refused') throw refused(400, 'FORMS_REFUSED');
    const all = reversed ? this.entries().toReversed() : this.entries();
    const matching = all.filter(
      (item) =>
        (query.status === undefined || item.status === query.status) &&
        isWithin(dates, item, query),
    );
    const limit = Math.min(this.reading.limit, query.limit ?? Infinity);
    const total = totalCounts === 'entries' ? matching.length : new Set(matching).size;
    const totalPages = Math.ceil(total / limit);
    const length = { entries: matching.length, total, pages: totalPages * limit }[ends];
    const entries = matching.slice(0, length);
    const shownPages = Math.ceil(entries.length / limit);
    const beyond = query.page > Math.max(1, shownPages);
    if (query.status === undefined && limit > 1) this.#served(query);
    if (beyond && pastEnd === 'refused') throw refused(404, 'FORMS_NOT_FOUND');
    const page = beyond && pastEnd === 'last' ? Math.max(1, shownPages) : query.page;
    const items = entries
      .slice((page - 1) * limit, page * limit)
      .map((item) => toItem(item, this.form.id));
    return { items, total, page, limit, totalPages, serverTimeMs: null } satisfies SubmissionPage;
  };

  readonly getSubmission: FormsClient['getSubmission'] = async (id) => {
    await this.#arrive(0);
    if (this.broken.has(id)) throw refused(500, 'FORMS_FAILED');
    const item = this.items.find((each) => each.id === id);
    if (item === undefined) throw refused(404, 'FORMS_NOT_FOUND');
    return toItem(item, this.form.id);
  };

  readonly getForm: FormsClient['getForm'] = async () => {
    await this.#arrive(0);
    return this.form;
  };

  /** Lets requests in flight overtake each other, then something happens. */
  async #arrive(page: number): Promise<void> {
    for (let ticks = Math.floor(this.#random() * 4); ticks > 0; ticks--) await Promise.resolve();
    this.onRequest(page);
    this.tick++;
  }

  #note(kind: SoakEvent['kind'], what: string, item: SoakItem): void {
    const exists = what === 'double' || kind === 'came';
    this.#listed = undefined;
    this.#remember(item.id, exists ? valueOf(item) : null);
    const { id, createdAt } = item;
    const served = new Map([...this.lists.values()].map((list) => [list, list.served] as const));
    this.events.push({ kind, what, id, createdAt, served, tick: this.tick });
  }

  #served({ dateFrom, dateTo }: Bounds): void {
    const key = `${dateFrom} ${dateTo}`;
    const list = this.lists.get(key) ?? { dateFrom, dateTo, served: 0, lastTick: 0 };
    this.lists.set(key, list);
    list.served++;
    list.lastTick = this.tick;
  }

  #remember(id: string, value: string | null): void {
    const all = this.#history.get(id) ?? [];
    all.push({ tick: ++this.tick, value });
    this.#history.set(id, all);
  }

  #sorted(): SoakItem[] {
    const byDate = (a: SoakItem, b: SoakItem): number => compare(a.createdAt, b.createdAt);
    const byId = (a: SoakItem, b: SoakItem): number => compare(a.id, b.id);
    switch (this.reading.order) {
      case 'newest':
        return this.items.toSorted((a, b) => byDate(b, a) || byId(b, a));
      case 'oldest':
        return this.items.toSorted((a, b) => byDate(a, b) || byId(a, b));
      case 'id':
        return this.items.toSorted(byId);
      case 'insertion':
        return [...this.items];
      case 'shuffled': {
        const keys = new Map(this.items.map((item) => [item.id, this.#random()]));
        const keyOf = ({ id }: SoakItem): number => keys.get(id) ?? 0;
        return this.items.toSorted((a, b) => byDate(b, a) || keyOf(a) - keyOf(b));
      }
    }
  }
}

type Bounds = Pick<SubmissionQuery, 'dateFrom' | 'dateTo'>;

/** Whether it is dated within the bounds. */
export function isDated(
  { createdAt }: Pick<SoakItem, 'createdAt'>,
  { dateFrom = '', dateTo = '9' }: Bounds,
): boolean {
  return createdAt >= dateFrom && createdAt <= dateTo;
}

function isWithin(dates: StandInReading['dates'], item: SoakItem, bounds: Bounds): boolean {
  if (dates === 'ignored') return true;
  if (dates === 'updated') return isDated({ ...item, createdAt: item.updatedAt }, bounds);
  const { dateFrom, dateTo } = bounds;
  if (dates !== 'days') {
    const isOnEnd = item.createdAt === dateFrom || item.createdAt === dateTo;
    return isDated(item, bounds) && !(isOnEnd && dates === 'exclusive');
  }
  const dayOf = (time: string | undefined): string | undefined => time?.slice(0, 10);
  const day = { ...item, createdAt: item.createdAt.slice(0, 10) };
  return isDated(day, { dateFrom: dayOf(dateFrom), dateTo: dayOf(dateTo) });
}

/** What a mirror should hold of a submission, as one text. */
export function valueOf({ status, createdAt, answer }: SoakItem): string {
  return [status, createdAt, answer].join(' | ');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function times(item: SoakItem, count: number): SoakItem[] {
  return Array.from({ length: count }, () => item);
}

function toItem({ id, createdAt, status, answer }: SoakItem, formId: string): SubmissionItem {
  const data = new Map([['answer', answer]]);
  return { key: id, submission: { id, formId, status, createdAt, data }, defects: [] };
}

export function refused(
  status: number,
  code: 'FORMS_NOT_FOUND' | 'FORMS_FAILED' | 'FORMS_REFUSED',
): FormsApiError {
  return new FormsApiError(code, { request: 'GET', reason: `answered ${status}`, status });
}
