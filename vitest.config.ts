import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

const common = {
  testTimeout: 150_000,
  hookTimeout: 150_000,
  // How long a test waits for an event, also on a busy machine: not a promise of speed.
  expect: { poll: { timeout: 100_000 } },
};

// Halves the time that a process takes to start: vitest's own processes, and those of the program that tests start.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compile');

/** Simulated histories and properties: many seconds each, in a project of their own so that `npm run check` is quick. */
const LONG = ['**/*.property.test.ts', 'test/simulation/*.test.ts'];

/** Tests of real processes, with embedded defaults if possible. */
const INTEGRATION = ['test/**/*.integration.test.ts'];

/**
 * The additional tests of `npm run test:all`, besides those of `npm test`: every kind of server, costs, memory, and the tests of
 * the Sheets emulator.
 */
const WIDE = ['test/**/*.wide.test.ts', 'packages/google-sheets-emulator/test/**/*.test.ts'];

/** The BigQuery target on its emulator: `npm run test:bigquery`, after `npm ci --prefix packages/bigquery-emulator`. */
const BIGQUERY = ['packages/{target-bigquery,bigquery-emulator}/test/**/*.test.ts'];

// Property tests draw the same cases in every run, so that a failure is caused by the change. FC_SEED draws others.
process.env['FC_SEED'] ??= '20260721';

const globalSetup = ['test/support/shared-servers.ts'];

export default defineConfig({
  test: {
    // Tests spend much time waiting for processes, timers and servers, so two cores can run three files at a time.
    maxWorkers: Math.max(3, availableParallelism()),
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...INTEGRATION, ...WIDE, ...LONG],
        },
      },
      { test: { ...common, name: 'long', include: LONG, exclude: ['**/node_modules/**'] } },
      { test: { ...common, name: 'integration', include: INTEGRATION, globalSetup } },
      { test: { ...common, name: 'wide', include: WIDE, globalSetup } },
      { test: { ...common, name: 'bigquery', include: BIGQUERY } },
    ],
    coverage: { provider: 'v8', include: ['src/**', 'packages/*/src/**'] },
  },
});
