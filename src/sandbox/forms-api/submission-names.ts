import { MirrorError } from '../../base/errors.ts';
import { SubmissionIds } from './submission-ids.ts';

/** Which submission has which ID: the seed's own IDs cost nothing, given ones are kept. */
export class SubmissionNames {
  readonly #ids: SubmissionIds;
  readonly #indexOfGiven = new Map<string, number>();
  readonly #given = new Map<number, string>();

  constructor(seed: number | string) {
    this.#ids = new SubmissionIds(seed);
  }

  /** The submission with this index is called `id` from now on. Throws USAGE when another one is. */
  give(index: number, id: string): void {
    if (this.#indexOfGiven.has(id) || this.#ids.indexOf(id) !== undefined) {
      throw new MirrorError('USAGE', `The ID ${id} is taken, or of the kind the sandbox makes up.`);
    }
    this.#indexOfGiven.set(id, index);
    this.#given.set(index, id);
  }

  /** The ID of the submission with this index. */
  idOf(index: number): string {
    return this.#given.get(index) ?? this.#ids.idOf(index);
  }

  /** The index this ID stands for, undefined when it can't be one of ours; may be beyond what exists. */
  indexOf(id: string): number | undefined {
    const given = this.#indexOfGiven.get(id);
    if (given !== undefined) return given;
    const index = this.#ids.indexOf(id);
    return index !== undefined && this.#given.has(index) ? undefined : index;
  }

  /** Compares two submissions by ID, as texts compare. */
  readonly compare = (left: number, right: number): number => {
    if (this.#given.size === 0) return this.#ids.scrambled(left) - this.#ids.scrambled(right);
    const [first, second] = [this.idOf(left), this.idOf(right)];
    return first < second ? -1 : Number(first > second);
  };
}
