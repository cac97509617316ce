/**
 * Parameters for fast-check: FC_SEED draws other cases than those of every run (vitest.config.ts), FC_RUNS sets how many are
 * tried. With FC_QUICK a case that fails is told as it was drawn, not made smaller, which may take minutes. FC_PATH tries one
 * case alone, by the `path` that its failure was told with.
 */
export function propertyRuns(numRuns: number): {
  numRuns: number;
  endOnFailure?: boolean;
  seed?: number;
  path?: string;
} {
  const endOnFailure = process.env['FC_QUICK'] !== undefined;
  const runs = { numRuns: Number(process.env['FC_RUNS'] ?? numRuns), endOnFailure };
  const { FC_SEED: seed, FC_PATH: path } = process.env;
  const which = {
    ...(seed !== undefined && { seed: Number(seed) }),
    ...(path !== undefined && { path }),
  };
  return { ...runs, ...which };
}
