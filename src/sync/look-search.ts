import { minusCounts, plusCounts, type StatusCounts, totalOf } from '../mirror/status-counts.ts';
import { STATUSES } from '../mirror/types.ts';
import { OTHER } from './look-counts.ts';

/** How a search asks for a form's own counts. */
export interface FormCounts {
  /** How many submissions of a form have a status, or, for null, any; undefined where the source does not say. */
  count(formId: string, status: string | null): Promise<number | undefined>;
  /** Questions at the same time. */
  readonly width: number;
}

/** What a search found. */
export interface Found {
  /** Forms whose own counts differ from what was accounted for, and by how much, as far as that was asked. */
  readonly forms: ReadonlyMap<string, StatusCounts>;
  /** Forms that could not be asked. */
  readonly silent: ReadonlySet<string>;
  /** What no form explains. Empty when all is explained. */
  readonly left: StatusCounts;
}

/**
 * Searches the forms whose own counts explain a difference between the workspace's counts and what was accounted for:
 * status by status, those that have lost submissions first, as only a form that had some can have lost any; the forms
 * with most of them first. Ends as soon as a status is explained. What is left has been looked for in every form.
 */
export async function searchForms(
  difference: StatusCounts,
  accounted: ReadonlyMap<string, StatusCounts>,
  source: FormCounts,
): Promise<Found> {
  return new Search(difference, accounted, source).run();
}

class Search {
  readonly #accounted: ReadonlyMap<string, StatusCounts>;
  readonly #source: FormCounts;
  readonly #forms = new Map<string, StatusCounts>();
  readonly #silent = new Set<string>();
  #left: StatusCounts;

  constructor(
    difference: StatusCounts,
    accounted: ReadonlyMap<string, StatusCounts>,
    source: FormCounts,
  ) {
    this.#left = difference;
    this.#accounted = accounted;
    this.#source = source;
  }

  async run(): Promise<Found> {
    const lost = STATUSES.filter((status) => this.#missing(status) < 0);
    const won = STATUSES.filter((status) => this.#missing(status) > 0);
    for (const status of [...lost, ...won]) {
      await this.#explain(status, (formId) => this.#differenceOf(formId, status));
    }
    await this.#explain(OTHER, (formId) => this.#otherDifferenceOf(formId));
    return { forms: this.#forms, silent: this.#silent, left: this.#left };
  }

  #missing(status: string): number {
    return this.#left.get(status) ?? 0;
  }

  /** Asks form by form until nothing of this status is left to explain; those that differ already are asked first, all of them. */
  async #explain(
    status: string,
    ask: (formId: string) => Promise<number | undefined>,
  ): Promise<void> {
    if (this.#missing(status) === 0) return;
    const known = [...this.#forms.keys()];
    await this.#ask(known, status, ask);
    const rest = [...this.#accounted.keys()]
      .filter((formId) => !known.includes(formId) && !this.#silent.has(formId))
      .toSorted((a, b) => this.#held(b, status) - this.#held(a, status));
    for (let at = 0; at < rest.length && this.#missing(status) !== 0; at += this.#source.width) {
      await this.#ask(rest.slice(at, at + this.#source.width), status, ask);
    }
  }

  #held(formId: string, status: string): number {
    return this.#accounted.get(formId)?.get(status) ?? 0;
  }

  async #ask(
    formIds: readonly string[],
    status: string,
    ask: (formId: string) => Promise<number | undefined>,
  ): Promise<void> {
    const differences = await Promise.all(formIds.map(ask));
    for (const [at, formId] of formIds.entries()) {
      const difference = differences[at];
      if (difference === undefined) this.#silent.add(formId);
      if (difference === undefined || difference === 0) continue;
      const part = new Map([[status, difference]]);
      this.#forms.set(formId, plusCounts(this.#forms.get(formId) ?? new Map(), part));
      this.#left = minusCounts(this.#left, part);
    }
  }

  async #differenceOf(formId: string, status: string): Promise<number | undefined> {
    const count = await this.#source.count(formId, status);
    return count === undefined ? undefined : count - this.#held(formId, status);
  }

  /** What a form's total says beyond the statuses that are known to differ: no status but the documented ones can be asked for. */
  async #otherDifferenceOf(formId: string): Promise<number | undefined> {
    const total = await this.#source.count(formId, null);
    if (total === undefined) return undefined;
    const accounted = totalOf(this.#accounted.get(formId) ?? new Map());
    return total - accounted - totalOf(this.#forms.get(formId) ?? new Map());
  }
}
