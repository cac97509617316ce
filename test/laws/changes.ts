import type { Json } from '../../src/mirror/types.ts';
import type { WatchedStore } from './watched-store.ts';

/** What respondents, colleagues and owners do between any two requests. */
export const CHANGES = [
  'submit',
  'burst',
  'twin',
  'import',
  'delete',
  'restore',
  'status',
  'exchange',
  'midnight',
  'elsewhere',
  'answer',
  'relabel',
  'add-field',
  'delete-field',
  'odd',
  'late',
] as const;
/** What moves counts, in both directions. */
export const COUNTED_CHANGES = ['submit', 'import', 'delete', 'restore', 'status', 'late'] as const;
/** One of {@link CHANGES}. */
export type Change = (typeof CHANGES)[number];

const STATUSES = ['NEW', 'IN_PROGRESS', 'DONE', 'PAID', 'REJECTED', 'ARCHIVED'];
const DAY_MS = 86_400_000;
const ANSWERS = [
  'Žluťoučký kůň 🐎',
  '00123',
  '=1+1',
  'two\nlines',
  7,
  2.5,
  '',
  true,
  null,
] as const;

/** What changes are made of. */
export interface MeddlerParts {
  readonly store: WatchedStore;
  readonly random: () => number;
  /** Moves the clock of the source on. */
  readonly tick: (ms: number) => void;
  /** Forms that change by `elsewhere` alone. */
  readonly elsewhere?: ReadonlySet<string>;
}

/** Changes a workspace at random, reproducibly for the same random numbers, and records the changes. */
export class Meddler {
  readonly #store: WatchedStore;
  readonly #random: () => number;
  readonly #tick: (ms: number) => void;
  readonly #elsewhere: ReadonlySet<string>;
  /** Submissions that appeared with an old date (imported or restored), and that disappeared; by form. */
  readonly imports = new Map<string, number>();
  readonly deletions = new Map<string, number>();
  /** Lists left some out for a time: a form is read in full then. */
  hid = false;
  /** Submissions that appeared in a shape that cannot be stored completely. */
  readonly odd = new Set<string>();
  readonly #deleted: { id: string; formId: string }[] = [];
  #fields = 0;

  constructor({ store, random, tick, elsewhere = new Set() }: MeddlerParts) {
    this.#store = store;
    this.#random = random;
    this.#tick = tick;
    this.#elsewhere = elsewhere;
  }

  pick(below: number): number {
    return Math.floor(this.#random() * below);
  }

  do(change: Change): void {
    const isElsewhere = change === 'elsewhere';
    const forms = this.#store.forms().filter(({ id }) => this.#elsewhere.has(id) === isElsewhere);
    const form = forms[this.pick(forms.length)];
    if (form === undefined) return;
    const kinds = ['submit', 'status', 'exchange', 'delete', 'import'] as const;
    this.#do(isElsewhere ? (kinds[this.pick(kinds.length)] ?? 'submit') : change, form.id);
  }

  /** A submission of this form, dated so long before now. */
  submit(formId: string, tickMs: number, ageMs = 0): string {
    this.#tick(tickMs);
    return this.#insert(formId, this.#store.now() - ageMs);
  }

  #do(change: Change, formId: string): void {
    switch (change) {
      case 'submit':
        this.submit(formId, 1_000);
        return;
      case 'burst':
        for (let n = this.pick(30); n > 0; n--) this.submit(formId, 1_000);
        return;
      case 'twin':
        this.submit(formId, 0);
        return;
      case 'import':
        this.submit(formId, 1_000, DAY_MS * (2 + this.pick(300)));
        count(this.imports, formId);
        return;
      case 'delete':
        this.#onOne(formId, (id) => {
          this.#store.delete(id);
          this.#deleted.push({ id, formId });
          count(this.deletions, formId);
        });
        return;
      case 'restore':
        this.#restore();
        return;
      case 'status':
        this.#onOne(formId, (id) => this.#store.setStatus(id, STATUSES[this.pick(6)] ?? 'NEW'));
        return;
      case 'exchange':
        this.#exchange(formId);
        return;
      case 'midnight':
        this.#atMidnight(formId);
        return;
      case 'elsewhere':
        return;
      case 'answer':
        this.#onOne(formId, (id) => this.#store.setAnswers(id, this.#answers(formId)));
        return;
      case 'relabel':
        this.#onField(formId, (field) =>
          this.#store.relabelField(formId, field, `Label ${this.pick(5)}`),
        );
        return;
      case 'add-field': {
        if (this.#fieldIds(formId).length > 12) return;
        const id = `field_${this.#fields}_${formId}`;
        this.#store.addField(formId, { id, label: `Added ${this.#fields++ % 3}` });
        return;
      }
      case 'delete-field':
        this.#onField(formId, (field) => this.#store.deleteField(formId, field));
        return;
      case 'odd':
        this.#odd(formId);
        return;
      case 'late':
        if (this.pick(2) === 0) this.showHidden(1);
        else this.#hide(formId);
    }
  }

  /** A replica lags behind: its lists lack what is there by its ID. */
  #hide(formId: string): void {
    this.#onOne(formId, (id) => {
      this.#store.hide(id);
      this.hid = true;
      count(this.deletions, formId);
    });
  }

  /** Lists show again what they left out. */
  showHidden(most?: number): void {
    for (const { formId } of this.#store.showHidden(most)) count(this.imports, formId);
  }

  /** Brings a deleted submission back, which then has an old date. */
  #restore(): void {
    const back = this.#deleted.splice(this.pick(this.#deleted.length), 1)[0];
    if (back === undefined) return;
    this.#store.restore(back.id);
    count(this.imports, back.formId);
  }

  /** Two submissions of a form trade their statuses: no count by status moves. */
  #exchange(formId: string): void {
    this.#onOne(formId, (one) =>
      this.#onOne(formId, (other) => {
        const statuses = [one, other].map((id) => this.#store.get(id)?.status ?? 'NEW');
        this.#store.setStatus(one, statuses[1] ?? 'NEW');
        this.#store.setStatus(other, statuses[0] ?? 'NEW');
      }),
    );
  }

  /** An import dated on the border of two days (UTC), or a millisecond before it. */
  #atMidnight(formId: string): void {
    this.#tick(1_000);
    const midnight = Math.floor(this.#store.now() / DAY_MS - this.pick(6)) * DAY_MS;
    this.#insert(formId, midnight - this.pick(2));
    count(this.imports, formId);
  }

  #insert(formId: string, createdAt: number): string {
    const status = this.pick(4) === 0 ? (STATUSES[this.pick(6)] ?? 'NEW') : 'NEW';
    return this.#store.insert({ formId, data: this.#answers(formId), createdAt, status }).id;
  }

  #odd(formId: string): void {
    const id = this.submit(formId, 1_000);
    this.odd.add(id);
    const shapes = [
      { id: undefined },
      { createdAt: 'yesterday' },
      { data: undefined },
      { data: [1, 2] },
      { status: undefined },
    ] as const;
    this.#store.distort(id, shapes[this.pick(shapes.length)]);
  }

  #answers(formId: string): Map<string, Json> {
    const data = new Map<string, Json>([[`field_gone_${formId}`, 'answer of a deleted field']]);
    for (const field of this.#fieldIds(formId)) {
      data.set(field, ANSWERS[this.pick(ANSWERS.length)] ?? null);
    }
    return data;
  }

  #fieldIds(formId: string): string[] {
    const sections = this.#store.form(formId)?.sections ?? [];
    return sections.flatMap((section) => (section.fields ?? []).map((field) => field.id));
  }

  #onOne(formId: string, act: (id: string) => void): void {
    const ids = this.#store.ids(formId);
    const id = ids[this.pick(ids.length)];
    if (id !== undefined) act(id);
  }

  #onField(formId: string, act: (fieldId: string) => void): void {
    const ids = this.#fieldIds(formId);
    const id = ids[this.pick(ids.length)];
    if (id !== undefined) act(id);
  }
}

function count(counts: Map<string, number>, formId: string): void {
  counts.set(formId, (counts.get(formId) ?? 0) + 1);
}
