import type { Breach } from './breach.ts';
import type { Claim } from './program.ts';

/** Copies that people emptied: after they are made again, `status` must report it (L17). */
export class Refills {
  /** Copies for which a process recorded that they are made again, by target and form. */
  readonly #made = new Set<string>();
  readonly #emptied = new Set<string>();

  noteMade(target: string, formId: string): void {
    this.#made.add(`${target} ${formId}`);
  }

  noteEmptied(target: string): void {
    for (const key of this.#made) if (key.startsWith(`${target} `)) this.#emptied.add(key);
  }

  judge({ formId, target, submissionsAsOf, problems }: Claim): Breach | null {
    if (submissionsAsOf === null || !this.#emptied.delete(`${target} ${formId}`)) return null;
    if (problems.length > 0) return null;
    const text = `the copy of ${formId} in ${target} was gone and made again, and nothing reports it`;
    return `L17: ${text}`;
  }
}
