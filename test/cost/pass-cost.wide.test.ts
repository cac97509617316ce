import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CannedSource } from '../bench/source/canned-source.ts';
import type { StageCall } from '../bench/stages/stage.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { createDatabase, postgresMissing } from '../support/servers.ts';
import { JOIN, PASSES, type RowCost } from './bounds.ts';

const CHILD = join(import.meta.dirname, 'cost-child.ts');

/** V8 compiles when so much code has run, not when one of its threads has time: a busy machine changes nothing. */
const FLAGS = ['--single-threaded', '--expose-gc'];
const ROWS = 3_000;
const COUNTERS = ['bytes', 'calls', 'statements'] as const;

const run = promisify(execFile);

/** What work costs a row, by the parts of the work. */
async function costsOf(
  source: CannedSource,
  stage: string,
  openTarget: (folder: string) => Promise<string>,
): Promise<Record<string, RowCost>> {
  const costs: Record<string, RowCost> = {};
  for (const counter of COUNTERS) {
    const folder = scratchFolder('cost');
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const targetUrl = await openTarget(folder);
    const call: StageCall = {
      stage,
      checkout: resolve(import.meta.dirname, '../..'),
      env: source.env,
      rows: ROWS,
      inFlight: 4,
      targetUrl,
      warmUpUrl: targetUrl,
      folder,
    };
    const args = [...FLAGS, CHILD, counter, JSON.stringify(call)];
    const { stdout } = await run(process.execPath, args, { env: {}, cwd: folder });
    const counted = JSON.parse(stdout) as Record<string, number>;
    for (const [part, many] of Object.entries(counted)) {
      costs[part] = { ...costs[part]!, [counter]: many / ROWS };
    }
  }
  process.stdout.write(`cost of a row (${stage}): ${JSON.stringify(costs)}\n`);
  return costs;
}

/** What costs more than its bound, in words. */
function excessOf(
  costs: Readonly<Record<string, RowCost>>,
  bounds: Readonly<Record<string, RowCost>>,
): string[] {
  return Object.entries(bounds).flatMap(([part, bound]) =>
    COUNTERS.filter((counter) => !(costs[part]![counter] <= bound[counter])).map(
      (counter) => `${part}: ${costs[part]![counter]} ${counter} a row, at most ${bound[counter]}`,
    ),
  );
}

// What a machine counts, not how long it takes: see bounds.ts, which says what to change where a row is worth more, or less.
describe('what a row costs', () => {
  let source: CannedSource;
  beforeAll(async () => {
    source = await CannedSource.start(ROWS);
  });
  afterAll(() => source[Symbol.asyncDispose]());

  it('when it is read and joined', async () => {
    const costs = await costsOf(source, 'join', async () => 'sqlite::memory:');
    expect(excessOf(costs, { join: JOIN })).toEqual([]);
  });

  it('in passes into SQLite', async () => {
    const file = async (folder: string): Promise<string> => `sqlite:${join(folder, 'copy.sqlite')}`;
    const costs = await costsOf(source, 'full', file);
    expect(excessOf(costs, PASSES['sqlite']!)).toEqual([]);
  });

  it.skipIf(postgresMissing())('in passes into PostgreSQL', async () => {
    const server = await lentPostgres();
    const costs = await costsOf(source, 'full', () => createDatabase(server));
    expect(excessOf(costs, PASSES['postgres']!)).toEqual([]);
  });
});
