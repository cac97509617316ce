import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Child, type ChildEnv } from './child.ts';
import { runsOf } from './child-place.ts';
import { scratchFolder } from './scratch.ts';

const PROBE = join(import.meta.dirname, 'probed-process.ts');

/** What full runs over a form cost a process of their own. */
export interface RunCost {
  readonly submissions: number;
  /** Peak resident memory of a first run, and of a second one that finds nothing new; megabytes. */
  readonly firstMB: number;
  readonly againMB: number;
  readonly firstMs: number;
  readonly againMs: number;
}

/** How {@link measureRuns} measures. */
export interface RunCostOptions {
  /** Default: a fresh SQLite file. */
  readonly targetUrl?: string;
  /** Flags of Node, such as a bound on its heap. */
  readonly flags?: string;
}

/** Runs `sync --full` twice over a form of so many submissions, served by a process of its own. Throws when a run is not proven. */
export async function measureRuns(
  submissions: number,
  { targetUrl, flags = '' }: RunCostOptions = {},
): Promise<RunCost> {
  const folder = scratchFolder('memory');
  const args = ['--port', '0', '--forms', '1', '--submissions', String(submissions), '--json'];
  const sandbox = Child.cli(['sandbox', ...args], {}, folder);
  try {
    const [line] = await sandbox.shows(/^\{.*\}$/m);
    const { url, key } = JSON.parse(line) as { url: string; key: string };
    const env = {
      FORMS_API_URL: url,
      FORMS_API_KEY: key,
      TARGET_FIELDS: '*',
      TARGET_URL: targetUrl ?? `sqlite:${join(folder, 'copy.sqlite')}`,
      NODE_OPTIONS: `--import=${PROBE} ${flags}`,
    };
    const first = await oneRun(submissions, env, folder);
    const again = await oneRun(submissions, env, folder);
    return {
      submissions,
      firstMB: first.peakMB,
      againMB: again.peakMB,
      firstMs: first.ms,
      againMs: again.ms,
    };
  } finally {
    await sandbox.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function oneRun(
  submissions: number,
  env: ChildEnv,
  folder: string,
): Promise<{ peakMB: number; ms: number }> {
  const child = Child.cli(['sync', '--full', '--json'], env, folder);
  const end = await child.ended;
  const [run] = runsOf({ ...end, stdout: child.stdout, stderr: child.stderr });
  const [, peak] = /peak-mb: (\d+)/.exec(child.stderr) ?? [];
  if (run?.outcome !== 'ok' || run.total !== submissions || peak === undefined) {
    throw new Error(`the run went wrong: ${child.stdout} ${child.stderr}`);
  }
  return { peakMB: Number(peak), ms: run.ms };
}
