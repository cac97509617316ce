/** The measurement that a process makes. */
export interface StageCall {
  readonly stage: string;
  /** The checkout whose program is measured. */
  readonly checkout: string;
  /** The settings for the source. */
  readonly env: Readonly<Record<'FORMS_API_URL' | 'FORMS_API_KEY', string>>;
  readonly rows: number;
  /** Concurrent requests to the source. */
  readonly inFlight: number;
  /** A fresh database or file. */
  readonly targetUrl: string;
  /** Another one, for runs before the measurement: what a run leaves at its end, such as an index, would slow down the next first run. */
  readonly warmUpUrl: string;
  /** A fresh folder. */
  readonly folder: string;
}

/** One measurement. */
export interface Measured {
  readonly name: string;
  readonly rows: number;
  readonly ms: number;
}

/** Measures the time of one piece of work over this many rows. */
export async function timed(
  name: string,
  rows: number,
  work: () => Promise<unknown>,
): Promise<Measured> {
  const began = performance.now();
  await work();
  return { name, rows, ms: performance.now() - began };
}
