/** What a target billed. */
export interface Costs {
  readonly billedBytes: number;
  readonly statements: number;
}

/** What a target that bills each statement has cost. */
export interface TargetCosts extends Costs {
  /**
   * Today, in UTC, by all processes as far as this one knows; null where nothing limits it, so that the target does not keep the
   * sum. The fields above are of this process since it began.
   */
  readonly today: (Costs & { readonly day: string }) | null;
  /** Most bytes that may be billed a day, after which the target rests until the next one; null: any. */
  readonly maxBytesPerDay: number | null;
}

/** The part of a target that tells what its statements were billed, where they are. */
export interface BilledTarget {
  /** Makes no call. */
  costs?(): TargetCosts;
}

/** The same of a writer: what was billed for it since it was opened. */
export interface BilledWriter {
  /** Makes no call. */
  spent?(): Costs;
}

/** Of these targets those that bill, each with what this process was billed since it began. */
export const billedTargets = (
  names: readonly string[],
  costs: (name: string) => Costs | null,
): [name: string, costs: Costs][] =>
  names.flatMap((name) => {
    const spent = costs(name);
    if (spent === null) return [];
    const { billedBytes, statements } = spent;
    return [[name, { billedBytes, statements }]];
  });
