import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Child, type ChildEnv } from '../../support/child.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { CannedSource, FORM_ID } from '../source/canned-source.ts';

const PROBE = join(import.meta.dirname, '../../support/probed-process.ts');

/** What a process took. */
export interface RunCost {
  /** Resident memory at its peak, in megabytes. */
  readonly peakMB: number;
  /** Everything that it allocated in V8's heap, garbage included. It varies by 1 % between runs, on any machine. */
  readonly allocatedBytes: number;
}

/** The costs of `sync --full` into SQLite: of a first run, and of a run without changes. */
export type RunCosts = Readonly<Record<'first' | 'unchanged', RunCost>>;

/**
 * Makes both runs over a form with this many submissions, each in its own process. Throws if one is not proven. `flags`:
 * Node's flags, such as a limit on its heap.
 */
export async function runCosts(
  checkout: string,
  submissions: number,
  flags = '',
): Promise<RunCosts> {
  const folder = scratchFolder('memory', submissions / 500);
  await using source = await CannedSource.start(submissions);
  const env: ChildEnv = {
    ...source.env,
    TARGET_FORMS: FORM_ID,
    TARGET_FIELDS: '*',
    TARGET_URL: `sqlite:${join(folder, 'copy.sqlite')}`,
    DATA_DIR: folder,
    NODE_OPTIONS: `--import=${PROBE} ${flags}`,
  };
  const cost = async (): Promise<RunCost> => {
    const program = join(checkout, 'bin/forms-mirror.js');
    const child = new Child(program, ['sync', '--full', '--json'], env, folder);
    const { code } = await child.ended;
    const [, json] = /^cost: (\{.*\})$/m.exec(child.stderr) ?? [];
    if (code !== 0 || json === undefined) {
      throw new Error(`the run went wrong: ${child.stdout} ${child.stderr.slice(-2_000)}`);
    }
    return JSON.parse(json) as RunCost;
  };
  try {
    return { first: await cost(), unchanged: await cost() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The most that a row of the canned source may allocate, in kB: some 5 % above what it allocates now. A change that costs more than
 * that has to be worth it.
 */
export const MOST_ALLOCATED_KB: Readonly<Record<keyof RunCosts, number>> = {
  first: 7.4,
  unchanged: 6.9,
};

/** What each further row allocates, in bytes, from a run over few rows and one over many: without what a start allocates. */
export const allocatedPerRow = (
  [few, many]: readonly [RunCosts, RunCosts],
  rows: readonly [number, number],
  time: keyof RunCosts,
): number => (many[time].allocatedBytes - few[time].allocatedBytes) / (rows[1] - rows[0]);
