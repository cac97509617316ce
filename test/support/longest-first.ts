import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that mostly wait for a long time, the longest first: files that compute run beside them. */
const LONG = [
  'fault/outages.wide',
  'cli/processes.integration',
  'fault/backfill.wide',
  'fault/redis.wide',
  'queue/embedded.wide',
  'queue/postgres.wide',
  'queue/redis.wide',
].map((name) => `/test/${name}.test.ts`);

/** Starts the long files first, also on a machine that has never run them, so that none is left over at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONG.findIndex((name) => moduleId.endsWith(name));
      return index === -1 ? LONG.length : index;
    };
    // Of the others the short unit tests last; each project in vitest's order.
    const rest = (file: TestSpecification): number => (file.project.name === 'unit' ? 1 : 0);
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b) || rest(a) - rest(b));
  }
}
