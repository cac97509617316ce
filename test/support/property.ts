/**
 * Parameters for fast-check: FC_SEED repeats a run (the seed is in the failure's text), FC_RUNS sets how many cases are
 * tried.
 */
export function propertyRuns(numRuns: number): { numRuns: number; seed?: number } {
  const runs = { numRuns: Number(process.env['FC_RUNS'] ?? numRuns) };
  const seed = process.env['FC_SEED'];
  return seed === undefined ? runs : { ...runs, seed: Number(seed) };
}
