/** What a process of its own is to measure. */
export interface StageCall {
  readonly stage: string;
  /** The checkout whose program is measured. */
  readonly checkout: string;
  /** What leads to the source. */
  readonly env: Readonly<Record<'FORMS_API_URL' | 'FORMS_API_KEY', string>>;
  readonly rows: number;
  /** Requests to the source at once. */
  readonly inFlight: number;
  /** A fresh database, or file. */
  readonly targetUrl: string;
  /** Another one, for runs before anything is measured: what a run leaves at its end, an index say, would make the next first one slower. */
  readonly warmUpUrl: string;
  /** A fresh folder. */
  readonly folder: string;
}

/** One thing that was measured. */
export interface Measured {
  readonly name: string;
  readonly rows: number;
  readonly ms: number;
}

/** Times one piece of work over so many rows. */
export async function timed(
  name: string,
  rows: number,
  work: () => Promise<unknown>,
): Promise<Measured> {
  const began = performance.now();
  await work();
  return { name, rows, ms: performance.now() - began };
}
