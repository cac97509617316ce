import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const INSTALLED = resolve(
  import.meta.dirname,
  '../../packages/bigquery-emulator/node_modules/@duckdb/node-api/package.json',
);

/**
 * Whether the stand-in for BigQuery is installed: it is large, and `npm ci` leaves it out. Without it its tests are left out
 * with a line that says how to run them; in CI that is a failure.
 */
export function hasBigQueryEmulator(): boolean {
  if (existsSync(INSTALLED)) return true;
  const remedy = 'npm ci --prefix packages/bigquery-emulator';
  if (process.env['CI'] === 'true') {
    throw new Error(
      `The stand-in for BigQuery is not installed, so its tests cannot run: ${remedy}`,
    );
  }
  process.stderr.write(`Tests with BigQuery are left out. To run them, too: ${remedy}\n`);
  return false;
}
