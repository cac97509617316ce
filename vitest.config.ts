import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { hasBigQueryEmulator } from './test/support/bigquery-emulator.ts';
import { LongestFirst } from './test/support/longest-first.ts';

const common = {
  testTimeout: 150_000,
  hookTimeout: 60_000,
  // Processes, timers and servers on a busy machine: CI tries a test once more, and names it (`.ci/run`).
  retry: process.env['CI'] === 'true' ? 1 : 0,
};

// Halves the time that a process takes to start: vitest's own, and those of the program that tests start.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compile');

/** Tests of whole lives and of large sheets: many seconds each, in a project of their own so that `npm run check` is quick. */
const LONG = [
  '**/*.property.test.ts',
  'test/sync/gaps.test.ts',
  'test/targets/google-sheets/calls.test.ts',
  'test/targets/google-sheets/rows/large-sheet.test.ts',
  'test/targets/google-sheets/write/moments.test.ts',
  'packages/*/test/scale.test.ts',
];

/** Tests that need the stand-in for BigQuery, whose dependencies `npm ci` does not install. */
const BIGQUERY = ['test/**/*.bigquery.test.ts', 'packages/bigquery-emulator/test/**/*.test.ts'];

// A change is judged by its own merit: every run draws the same cases, and `npm run soak` draws new ones.
process.env['FC_SEED'] ??= '20260721';

// Unit tests touch no server; integration tests share some and start others (test/support/servers.ts).
export default defineConfig({
  test: {
    // Tests wait a good deal, for processes, timers and servers: two cores have room for three files at a time.
    maxWorkers: Math.max(3, availableParallelism()),
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: ['**/*.integration.test.ts', ...BIGQUERY, ...LONG],
        },
      },
      {
        test: {
          ...common,
          name: 'long',
          include: LONG,
          exclude: ['**/node_modules/**'],
        },
      },
      {
        test: {
          ...common,
          name: 'bigquery',
          include: hasBigQueryEmulator() ? BIGQUERY : [],
          exclude: ['**/node_modules/**'],
        },
      },
      {
        test: {
          ...common,
          name: 'integration',
          include: ['test/**/*.integration.test.ts'],
          globalSetup: ['test/support/shared-servers.ts'],
        },
      },
    ],
    coverage: { provider: 'v8', include: ['src/**', 'packages/*/src/**'] },
  },
});
