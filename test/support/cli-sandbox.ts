import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import { type TestSandbox, type SandboxOptions, startSandbox, accountOn } from './sandbox.ts';
import type { Environment } from '../../src/settings/settings-reader.ts';
import type { Finally } from './child.ts';
import { type Run, runIn } from './cli-host.ts';
import { scratchFolder } from './scratch.ts';

/**
 * A sandbox of the Forms API with sample data, and the settings of an account on it that mirrors into a SQLite file.
 */
export interface CliPlace {
  readonly sandbox: TestSandbox;
  readonly env: Environment;
  /** Runs a command with these settings. */
  readonly run: Run;
  /** The SQLite file, which does not exist yet. */
  readonly file: string;
  /** Rows of a query on that file. */
  readonly rows: (sql: string) => Record<string, unknown>[];
  /** Runs statements on that file, as a person would. */
  readonly change: (sql: string) => void;
}

/** For one test; removed after it. `onFinished`: from its context, for concurrent tests. */
export async function openPlace(
  options: SandboxOptions & { submissions?: number } = {},
  onFinished: Finally = onTestFinished,
): Promise<CliPlace> {
  const { submissions = 250, ...rest } = options;
  const sandbox = await startSandbox({ store: createSampleWorkspace({ submissions }), ...rest });
  const folder = scratchFolder('cli');
  onFinished(async () => {
    await sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const env = accountOn(sandbox, folder);
  const file = join(folder, 'copy.sqlite');
  return {
    sandbox,
    env,
    run: runIn(env),
    file,
    rows(sql) {
      using database = new DatabaseSync(file, { readOnly: true });
      return database.prepare(sql).all();
    },
    change(sql) {
      using database = new DatabaseSync(file);
      database.exec(sql);
    },
  };
}
