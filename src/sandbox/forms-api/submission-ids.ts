import { hashSeeds } from './random.ts';

const PREFIX = 'sub_';
const DIGITS = 10;
const HALF_BITS = 24;
const HALF_MASK = 2 ** HALF_BITS - 1;
const ROUNDS = 4;

/**
 * Submission IDs that a seed determines and that cost no memory: a number's place in a permutation of 48 bits
 * (a Feistel network), written with ten characters. IDs say nothing of the order in which they were given.
 */
export class SubmissionIds {
  readonly #keys: readonly number[];

  constructor(seed: number | string) {
    this.#keys = Array.from({ length: ROUNDS }, (_, round) => hashSeeds(['id', seed, round]));
  }

  /** The ID of the submission with this index (a whole number from 0 below 2^48). */
  idOf(index: number): string {
    return PREFIX + this.scrambled(index).toString(36).padStart(DIGITS, '0');
  }

  /** The index behind an ID of {@link idOf}; undefined for any other text. May be beyond what was given out. */
  indexOf(id: string): number | undefined {
    if (!/^sub_[0-9a-z]{10}$/.test(id)) return undefined;
    const value = Number.parseInt(id.slice(PREFIX.length), 36);
    if (value >= 2 ** (2 * HALF_BITS)) return undefined;
    let left = Math.floor(value / 2 ** HALF_BITS);
    let right = value % 2 ** HALF_BITS;
    for (const key of this.#keys.toReversed()) {
      [left, right] = [(right ^ mixed(left, key)) & HALF_MASK, left];
    }
    return left * 2 ** HALF_BITS + right;
  }

  /** The number that the ID writes: IDs compare as these numbers do. */
  scrambled(index: number): number {
    let left = Math.floor(index / 2 ** HALF_BITS);
    let right = index % 2 ** HALF_BITS;
    for (const key of this.#keys) {
      [left, right] = [right, (left ^ mixed(right, key)) & HALF_MASK];
    }
    return left * 2 ** HALF_BITS + right;
  }
}

function mixed(half: number, key: number): number {
  let hash = Math.imul(half ^ key, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
