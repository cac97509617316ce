/** Parameters for fast-check: FC_SEED repeats a run (the seed is in the failure's text). */
export function propertyRuns(numRuns: number): { numRuns: number; seed?: number } {
  const seed = process.env['FC_SEED'];
  return seed === undefined ? { numRuns } : { numRuns, seed: Number(seed) };
}
