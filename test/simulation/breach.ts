/** A law that is broken, with what broke it. */
export interface Breach {
  readonly law: string;
  readonly text: string;
}
