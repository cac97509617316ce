import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Child, type ChildEnv } from '../../support/child.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { CannedSource, FORM_ID } from '../source/canned-source.ts';

const PROBE = join(import.meta.dirname, '../../support/probed-process.ts');

/** Peak resident memory of `sync --full` into SQLite, in megabytes: of a first run, and of a run without changes. */
export interface RunPeaks {
  readonly firstMB: number;
  readonly unchangedMB: number;
}

/**
 * Makes both runs over a form with this many submissions, each in its own process. Throws if one is not proven. `flags`:
 * Node's flags, such as a limit on its heap.
 */
export async function runPeaks(
  checkout: string,
  submissions: number,
  flags = '',
): Promise<RunPeaks> {
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
  const peak = async (): Promise<number> => {
    const program = join(checkout, 'bin/forms-mirror.js');
    const child = new Child(program, ['sync', '--full', '--json'], env, folder);
    const { code } = await child.ended;
    const [, mb] = /peak-mb: (\d+)/.exec(child.stderr) ?? [];
    if (code !== 0 || mb === undefined) {
      throw new Error(`the run went wrong: ${child.stdout} ${child.stderr.slice(-2_000)}`);
    }
    return Number(mb);
  };
  try {
    return { firstMB: await peak(), unchangedMB: await peak() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
