/** A broken law, and its cause. */
export interface Breach {
  readonly law: string;
  readonly text: string;
}
