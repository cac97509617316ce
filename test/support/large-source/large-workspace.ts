import { DateOrder } from './date-order.ts';

/** The statuses of the specification. */
export const WIRE_STATUSES = ['NEW', 'IN_PROGRESS', 'DONE', 'PAID', 'REJECTED', 'ARCHIVED'];

/** How large a {@link LargeWorkspace} is at first. */
export interface WorkspaceSize {
  readonly forms: number;
  readonly submissions: number;
}

/** Which submissions; an omitted part narrows nothing. Both bounds belong to the span. */
export interface Narrowing {
  readonly formId?: string | undefined;
  readonly status?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

/** A submission as the wire has it. */
export interface LargeSubmission {
  readonly id: string;
  readonly formId: string;
  readonly status: string;
  readonly createdAt: string;
  readonly data: Readonly<Record<string, string | number>>;
}

/** The first submissions are spread over two years, up to this instant. */
const NEWEST_MS = Date.UTC(2026, 8, 1);
const SPAN_MS = 730 * 86_400_000;

/** Of the first submissions, how many in a hundred have each status. */
const SHARES = [8, 6, 50, 20, 6, 10];

const GONE = 255;
const FIELDS = ['name', 'email', 'phone', 'city', 'people', 'order', 'price', 'note'];
const WORDS = [
  'Žofie',
  'Ben',
  'Chloë',
  'Müller',
  'Dvořák',
  'Šumava',
  'Ústí nad Labem',
  '🐎',
  '007',
];

/** Odd, so that multiplying by it shuffles all numbers of 32 bits; and what undoes it. */
const SHUFFLE = 0x9e3779b1;
const UNSHUFFLE = inverseOf(SHUFFLE);

/**
 * Forms with millions of submissions, cheaply: of each submission form, status and date are kept, its answers come from its
 * index. Any request by form, status and dates is a span of one sorted list.
 */
export class LargeWorkspace {
  readonly formIds: readonly string[];
  #form = new Uint16Array(1_024);
  #status = new Uint8Array(1_024);
  #madeAt = new Float64Array(1_024);
  #made = 0;
  readonly #lists = new Map<string, DateOrder>();

  constructor({ forms, submissions }: WorkspaceSize) {
    this.formIds = Array.from({ length: forms }, (_, place) => `frm-${place + 1}`);
    const step = SPAN_MS / Math.max(1, submissions);
    for (let index = 0; index < submissions; index++) {
      const jitter = (mixed(index, 1) % 1_000) / 2_000;
      const atMs = Math.floor(NEWEST_MS - SPAN_MS + (index + jitter) * step);
      this.#make(index % forms, sharedStatus(mixed(index, 2) % 100), atMs);
    }
  }

  /** The list of all forms, as the wire has it. */
  forms(): unknown[] {
    return this.formIds.map((id) => this.form(id));
  }

  form(id: string): unknown {
    const place = this.formIds.indexOf(id);
    if (place === -1) return undefined;
    const fields = FIELDS.map((label, nth) => ({ id: fieldId(place, nth), label }));
    return {
      id,
      name: `Form ${place + 1}`,
      slug: `form-${place + 1}`,
      isPublished: true,
      createdAt: '2024-01-01T00:00:00.000Z',
      schema: { sections: [{ fields }], logic: [] },
    };
  }

  /** How many there are. */
  count(narrowing: Narrowing): number {
    const { first, end } = this.#span(narrowing);
    return end - first;
  }

  /** IDs of a span, newest first (or oldest first), `skip` of them left out. */
  ids(narrowing: Narrowing, skip: number, most: number, oldestFirst = false): string[] {
    const { list, first, end } = this.#span(narrowing);
    const found: string[] = [];
    for (let nth = skip; nth < Math.min(end - first, skip + most); nth++) {
      found.push(idOf(list?.at(oldestFirst ? first + nth : end - 1 - nth) ?? -1));
    }
    return found;
  }

  get(id: string): LargeSubmission | undefined {
    const index = this.#indexOf(id);
    if (index === undefined) return undefined;
    const place = this.#form[index] ?? 0;
    return {
      id,
      formId: this.formIds[place] ?? '',
      status: WIRE_STATUSES[this.#status[index] ?? 0] ?? '',
      createdAt: new Date(this.#madeAt[index] ?? 0).toISOString(),
      data: answers(index, place),
    };
  }

  insert(formId: string, status: string, atMs: number): string {
    return idOf(this.#make(this.formIds.indexOf(formId), WIRE_STATUSES.indexOf(status), atMs));
  }

  /** False without such a submission. */
  setStatus(id: string, status: string): boolean {
    const index = this.#indexOf(id);
    if (index === undefined) return false;
    for (const list of this.#listsOf(index, 'status')) list.remove(index);
    this.#status[index] = WIRE_STATUSES.indexOf(status);
    for (const list of this.#listsOf(index, 'status')) list.add(index);
    return true;
  }

  /** False without such a submission. */
  remove(id: string): boolean {
    const index = this.#indexOf(id);
    if (index === undefined) return false;
    for (const list of this.#listsOf(index, 'all')) list.remove(index);
    this.#status[index] = GONE;
    return true;
  }

  #make(place: number, status: number, atMs: number): number {
    const index = this.#made++;
    if (index === this.#form.length) this.#grow();
    this.#form[index] = place;
    this.#status[index] = status;
    this.#madeAt[index] = atMs;
    for (const list of this.#listsOf(index, 'all')) list.add(index);
    return index;
  }

  #grow(): void {
    const length = this.#form.length * 2;
    const [form, status, madeAt] = [this.#form, this.#status, this.#madeAt];
    this.#form = new Uint16Array(length);
    this.#status = new Uint8Array(length);
    this.#madeAt = new Float64Array(length);
    this.#form.set(form);
    this.#status.set(status);
    this.#madeAt.set(madeAt);
  }

  #indexOf(id: string): number | undefined {
    const index = Math.imul(Number.parseInt(id.slice('sub-'.length), 36), UNSHUFFLE) >>> 0;
    const isThere = index < this.#made && idOf(index) === id && this.#status[index] !== GONE;
    return isThere ? index : undefined;
  }

  /** The lists that hold a submission: all of them, or only those by status. */
  #listsOf(index: number, which: 'all' | 'status'): DateOrder[] {
    const form = this.formIds[this.#form[index] ?? 0];
    const status = WIRE_STATUSES[this.#status[index] ?? 0];
    const byStatus = [this.#list(undefined, status), this.#list(form, status)];
    return which === 'status'
      ? byStatus
      : [...byStatus, this.#list(undefined, undefined), this.#list(form, undefined)];
  }

  #list(formId: string | undefined, status: string | undefined): DateOrder {
    const key = `${formId ?? '*'} ${status ?? '*'}`;
    const list = this.#lists.get(key) ?? new DateOrder((index) => this.#madeAt[index] ?? 0);
    this.#lists.set(key, list);
    return list;
  }

  /** The places of a span in its list; none where the form is unknown. */
  #span({ formId, status, fromMs, toMs }: Narrowing) {
    const list = this.#lists.get(`${formId ?? '*'} ${status ?? '*'}`);
    if (list === undefined) return { list, first: 0, end: 0 };
    const first = fromMs === undefined ? 0 : list.countBefore(fromMs);
    const end = toMs === undefined ? list.length : list.countBefore(toMs + 1);
    return { list, first, end: Math.max(first, end) };
  }
}

function idOf(index: number): string {
  return `sub-${(Math.imul(index, SHUFFLE) >>> 0).toString(36).padStart(7, '0')}`;
}

function fieldId(place: number, nth: number): string {
  return `field_${1_700_000_000 + place * 100 + nth}_${FIELDS[nth]}`;
}

function sharedStatus(percent: number): number {
  let sum = 0;
  return SHARES.findIndex((share) => (sum += share) > percent);
}

function answers(index: number, place: number): Record<string, string | number> {
  const word = (nth: number): string => WORDS[mixed(index, nth) % WORDS.length] ?? '';
  const values = [
    `${word(3)} ${word(4)}`,
    `person.${index}@example.com`,
    `+420 ${100_000_000 + (mixed(index, 5) % 900_000_000)}`,
    word(6),
    1 + (mixed(index, 7) % 12),
    String(index).padStart(8, '0'),
    (mixed(index, 8) % 100_000) / 100,
    index % 3 === 0 ? `${word(9)}, ${word(10)} (${index})` : '',
  ];
  const given = values.flatMap((value, nth) =>
    value === '' ? [] : [[fieldId(place, nth), value] as const],
  );
  return Object.fromEntries(given);
}

/** A number of 32 bits that looks like chance, always the same for the same two. */
function mixed(index: number, nth: number): number {
  let bits = Math.imul(index + 1, 0x85ebca6b) ^ Math.imul(nth, 0xc2b2ae35);
  bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d);
  bits = Math.imul(bits ^ (bits >>> 12), 0x297a2d39);
  return (bits ^ (bits >>> 15)) >>> 0;
}

/** The number that times an odd one is 1, in 32 bits; each step doubles the bits that are right. */
function inverseOf(odd: number): number {
  let inverse = odd;
  for (let step = 0; step < 5; step++) {
    inverse = Math.imul(inverse, 2 - Math.imul(odd, inverse));
  }
  return inverse;
}
