/** Parameters for fast-check: FC_SEED (vitest.config.ts) draws other cases than every run does, FC_RUNS sets how many are tried. */
export const propertyRuns = (numRuns: number): { numRuns: number; seed: number } => ({
  numRuns: Number(process.env['FC_RUNS'] ?? numRuns),
  seed: Number(process.env['FC_SEED']),
});
