import { type IndexOrder, OrderIndex } from './order-index.ts';
import type { SubmissionColumns } from './submission-columns.ts';

/** The orders that lists can be in, ascending. Ties of `time` are in order of insertion. */
export type OrderName = 'time' | 'insertion' | 'id';

/**
 * The existing submissions in order, of one form or of all, built when first asked for and kept up to date from
 * then on, so that no page request sorts anything.
 */
export class SubmissionOrders {
  readonly #columns: SubmissionColumns;
  readonly #compareIds: IndexOrder;
  readonly #formExists: (form: number) => boolean;
  /** By form number; -1 for all forms. */
  readonly #scopes = new Map<number, Map<OrderName, OrderIndex>>();

  constructor(
    columns: SubmissionColumns,
    compareIds: IndexOrder,
    formExists: (form: number) => boolean,
  ) {
    this.#columns = columns;
    this.#compareIds = compareIds;
    this.#formExists = formExists;
  }

  /** Indexes of the existing submissions of this form (undefined: of all forms that exist). */
  get(form: number | undefined, name: OrderName): OrderIndex {
    const scope = this.#scopes.get(form ?? -1) ?? new Map<OrderName, OrderIndex>();
    this.#scopes.set(form ?? -1, scope);
    const known = scope.get(name);
    if (known) return known;
    const built = new OrderIndex(this.#select(form), this.#comparator(name));
    scope.set(name, built);
    return built;
  }

  /** A submission came to exist. */
  insert(index: number): void {
    for (const order of this.#ordersOf(index)) order.insert(index);
  }

  /** A submission is about to be gone. */
  remove(index: number): void {
    for (const order of this.#ordersOf(index)) order.remove(index);
  }

  /** After many changes at once, or a form's: rebuilt at the next request. */
  forget(): void {
    this.#scopes.clear();
  }

  *#ordersOf(index: number): Generator<OrderIndex> {
    const form = this.#columns.form[index] ?? 0;
    yield* this.#scopes.get(form)?.values() ?? [];
    if (this.#formExists(form)) yield* this.#scopes.get(-1)?.values() ?? [];
  }

  #select(form: number | undefined): Uint32Array {
    const { count, deleted, form: forms } = this.#columns;
    const selected = new Uint32Array(count);
    let length = 0;
    for (let index = 0; index < count; index++) {
      const owner = forms[index] ?? 0;
      const wanted = form === undefined ? this.#formExists(owner) : owner === form;
      if (wanted && deleted[index] === 0) selected[length++] = index;
    }
    return selected.slice(0, length);
  }

  #comparator(name: OrderName): IndexOrder {
    const columns = this.#columns;
    if (name === 'id') return this.#compareIds;
    if (name === 'insertion') return (left, right) => left - right;
    return (left, right) =>
      (columns.createdAtMs[left] ?? 0) - (columns.createdAtMs[right] ?? 0) || left - right;
  }
}
