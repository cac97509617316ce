/** The statuses of the specification. */
export const STATUSES = ['NEW', 'IN_PROGRESS', 'DONE', 'PAID', 'REJECTED', 'ARCHIVED'];

/** This many submissions, from `first` on, `step` places apart; the newest has place 0. */
export interface RowSpan {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/** The page of a list. */
interface PageQuery {
  readonly page: number;
  readonly limit: number;
  readonly oldestFirst: boolean;
}

/** A submission's bytes except for the parts that differ between submissions, and the places of these parts. */
interface Template {
  readonly bytes: Buffer;
  readonly idAt: number;
  readonly dateAt: number;
  readonly numberAt: number;
}

/** Nothing is dated at midnight. */
const NEWEST_MS = Date.UTC(2026, 8, 1, 11, 59, 30, 123);
const STEP_MS = 60_000;
const TEMPLATES = 300;
const ID_LENGTH = 7;
const NUMBER_LENGTH = 8;
/** The place of the number: not in the ID of a field. */
const NUMBER = '#'.repeat(NUMBER_LENGTH);
const DATE = '2026-01-01T00:00:00.000Z';
/** Odd, so that multiplying by it shuffles all 32-bit numbers: IDs are in no order, as in real services. */
const SHUFFLE = 0x9e3779b1;

const FIRST_FIELD = 1_700_000_000;
const LABELS = [
  'Full name, Email, Phone, Street, City, Postcode, Country, Born on, Order number, Quantity',
  'Price, Discount, Delivery, Options, How did you hear of us?, Company, Position, Rating, Message, Consent',
].flatMap((labels) => labels.split(', '));
const FIELDS = LABELS.map((label, nth) => ({
  id: `field_${FIRST_FIELD + nth}_${label.toLowerCase().replaceAll(/\W+/g, '_').slice(0, 12)}`,
  label,
}));

/** The submissions of one form with 20 fields, about 1 kB each, as bytes of JSON. */
export class CannedRows {
  readonly total: number;
  /** The form, as in a response. */
  readonly form: unknown;
  readonly #templates: readonly Template[];
  readonly #firstNumber: number;

  /** `firstNumber`: how many submissions other forms have before it, because no ID belongs to two forms. */
  constructor(formId: string, total: number, firstNumber: number) {
    this.total = total;
    this.#firstNumber = firstNumber;
    this.form = formOf(formId);
    this.#templates = Array.from({ length: TEMPLATES }, (_, nth) => template(formId, nth));
  }

  /** The submissions within the dates, both included, with a status (its place among {@link STATUSES}). */
  span(narrow: { fromMs: number | null; toMs: number | null; status: number | null }): RowSpan {
    const { fromMs, toMs, status } = narrow;
    const from = toMs === null ? 0 : Math.max(0, Math.ceil((NEWEST_MS - toMs) / STEP_MS));
    const oldest = fromMs === null ? Infinity : Math.floor((NEWEST_MS - fromMs) / STEP_MS);
    const end = Math.min(this.total, oldest + 1);
    if (status === null) return { first: from, step: 1, count: Math.max(0, end - from) };
    const step = STATUSES.length;
    const first = from + ((((status - from) % step) + step) % step);
    return { first, step, count: Math.max(0, Math.ceil((end - first) / step)) };
  }

  /** A page of the list, as in a response. */
  page({ first, step, count }: RowSpan, { page, limit, oldestFirst }: PageQuery): Buffer {
    const skip = (page - 1) * limit;
    const many = Math.max(0, Math.min(limit, count - skip));
    const places = Array.from({ length: many }, (_, nth) => {
      const place = oldestFirst ? count - 1 - skip - nth : skip + nth;
      return first + place * step;
    });
    const end = `],"total":${count},"page":${page},"limit":${limit},"totalPages":${Math.ceil(count / limit)}}`;
    const begin = '{"items":[';
    const sizes = places.reduce((sum, place) => sum + this.#template(place).bytes.length + 1, 0);
    const bytes = Buffer.allocUnsafe(begin.length + sizes + end.length);
    let at = bytes.write(begin, 0, 'latin1');
    for (const place of places) {
      at = this.#write(bytes, at, place);
      bytes[at++] = 0x2c;
    }
    // The end replaces the last comma.
    if (many > 0) at--;
    at += bytes.write(end, at, 'latin1');
    return bytes.subarray(0, at);
  }

  /** One submission, by its ID without the prefix; undefined if it does not exist. */
  one(id: string): Buffer | undefined {
    for (let place = 0; place < this.total; place++) {
      if (this.#idOf(place) !== id) continue;
      const bytes = Buffer.allocUnsafe(this.#template(place).bytes.length);
      this.#write(bytes, 0, place);
      return bytes;
    }
    return undefined;
  }

  #idOf(place: number): string {
    const number = this.#firstNumber + place;
    return (Math.imul(number, SHUFFLE) >>> 0).toString(36).padStart(ID_LENGTH, '0');
  }

  #template(place: number): Template {
    return this.#templates[place % TEMPLATES]!;
  }

  #write(into: Buffer, at: number, place: number): number {
    const { bytes, idAt, dateAt, numberAt } = this.#template(place);
    into.set(bytes, at);
    into.write(this.#idOf(place), at + idAt, 'latin1');
    into.write(new Date(NEWEST_MS - place * STEP_MS).toISOString(), at + dateAt, 'latin1');
    into.write(String(place).padStart(NUMBER_LENGTH, '0'), at + numberAt, 'latin1');
    return at + bytes.length;
  }
}

function formOf(id: string): unknown {
  return {
    id,
    name: `Orders ${id}`,
    slug: `orders-${id}`,
    isPublished: true,
    createdAt: '2024-01-01T00:00:00.000Z',
    schema: { sections: [{ fields: FIELDS }], logic: [] },
  };
}

const NAMES = ['Žofie Dvořáková', 'Ben Miller', 'Chloë Khan', 'Jürgen Müller', 'Anna Nováková'];
const STREETS = ['Na Příkopě', 'High Street', 'Große Straße', 'Rue de la Paix', 'Via Roma'];
const TOWNS = ['Ústí nad Labem', 'Leeds', 'Köln', 'Lyon', 'Bologna', 'Praha', 'Brno'];
const HEARD = ['a friend', 'an advertisement', 'a search engine', 'the press'];
const NOTE =
  '🐎 Please ring twice, the bell is faint; leave it with the neighbours if nobody is in.';

/** Texts, four numbers, dates that are texts, a multiple choice, and a yes or no. */
function answers(nth: number): unknown[] {
  const of = <T>(list: readonly T[], salt = 1): T => list[(nth * salt + salt) % list.length]!;
  return [
    of(NAMES),
    `person.${String(nth).padStart(4, '0')}@example.com`,
    `+420 ${600_000_000 + nth * 317_011}`,
    `${of(STREETS, 3)} ${1 + (nth % 180)}`,
    of(TOWNS, 5),
    String(10_000 + nth * 13),
    of(['Czechia', 'United Kingdom', 'Germany', 'France', 'Italy'], 2),
    `19${50 + (nth % 50)}-0${1 + (nth % 9)}-1${nth % 10}`,
    NUMBER,
    1 + (nth % 12),
    (nth * 791) / 100,
    nth % 4 === 0 ? '' : nth % 30,
    of(['to the door', 'pick-up point', 'locker', 'in person']),
    ['gift wrap', 'express', 'insurance'].slice(0, 1 + (nth % 3)),
    of(HEARD, 7),
    nth % 3 === 0 ? '' : `${of(NAMES, 2).split(' ')[1]} & Sons Ltd.`,
    of(['buyer', 'owner', 'assistant', 'engineer'], 3),
    1 + (nth % 5),
    NOTE.slice(0, 30 + (nth % 57)),
    nth % 2 === 0,
  ];
}

function template(formId: string, nth: number): Template {
  const data = Object.fromEntries(answers(nth).map((value, place) => [FIELDS[place]!.id, value]));
  const id = '~'.repeat(ID_LENGTH);
  const text = JSON.stringify({
    id: `sub-${id}`,
    formId,
    status: STATUSES[nth % STATUSES.length],
    createdAt: DATE,
    data,
  });
  const bytes = Buffer.from(text);
  const [idAt, dateAt] = [bytes.indexOf(id), bytes.indexOf(DATE)];
  return { bytes, idAt, dateAt, numberAt: bytes.indexOf(NUMBER) };
}
