/**
 * Parameters for fast-check: FC_SEED draws other cases than those of every run (vitest.config.ts), FC_RUNS sets how many are
 * tried. With FC_QUICK a case that fails is told as it was drawn, not made smaller, which may take minutes.
 */
export function propertyRuns(numRuns: number): {
  numRuns: number;
  endOnFailure?: boolean;
  seed?: number;
} {
  const endOnFailure = process.env['FC_QUICK'] !== undefined;
  const runs = { numRuns: Number(process.env['FC_RUNS'] ?? numRuns), endOnFailure };
  const seed = process.env['FC_SEED'];
  return seed === undefined ? runs : { ...runs, seed: Number(seed) };
}
