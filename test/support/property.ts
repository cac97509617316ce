/**
 * Parameters for fast-check: FC_SEED draws other cases than those of every run (vitest.config.ts), FC_RUNS sets how many are
 * tried.
 */
export function propertyRuns(numRuns: number): { numRuns: number; seed?: number } {
  const runs = { numRuns: Number(process.env['FC_RUNS'] ?? numRuns) };
  const seed = process.env['FC_SEED'];
  return seed === undefined ? runs : { ...runs, seed: Number(seed) };
}
