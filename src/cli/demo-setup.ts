import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from '../app.ts';
import { loadConfig } from '../config.ts';
import { createSampleWorkspace } from '../sandbox/forms-api/sample-workspace.ts';
import { type Sandbox, startSandbox } from '../sandbox/forms-api/sandbox.ts';
import type { Host } from './host.ts';
import { openLogger } from './open-app.ts';
import { type SandboxSheet, startSandboxSheet } from './sandbox-sheet.ts';

/** Everything the demo runs on. Disposing it removes all but the SQLite file. */
export interface DemoSetup extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly app: App;
  /** The SQLite file. */
  readonly file: string;
  /** Address of the page that shows the sheet, when there is one. */
  readonly sheetUrl: string | undefined;
}

/** Starts the sandbox and puts the parts together; ignores the environment and .env. */
export async function openDemo(
  host: Host,
  options: { readonly submissions: number; readonly sheets: boolean },
): Promise<DemoSetup> {
  await using opened = new AsyncDisposableStack();
  const sheet = options.sheets ? opened.use(await startSandboxSheet()) : undefined;
  const folder = mkdtempSync(join(tmpdir(), 'forms-mirror-demo-'));
  const file = join(folder, 'forms.sqlite');
  const store = createSampleWorkspace({ submissions: options.submissions });
  const sandbox = opened.use(await startSandbox({ store }));
  const env = { ...settings(sandbox, folder), ...targets(file, sheet) };
  const config = loadConfig(env, noFiles, { source: true });
  const app = opened.use(
    new App(config, { clock: host.clock, logger: await openLogger(host, 'error') }),
  );
  const rest = opened.move();
  return {
    sandbox,
    app,
    file,
    sheetUrl: sheet?.viewUrl,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

const settings = ({ url, apiKey }: Sandbox, folder: string) => ({
  FORMS_API_URL: url,
  FORMS_API_KEY: apiKey,
  TARGET_FIELDS: '*',
  DATA_DIR: folder,
  SYNC_EVERY: '2s',
  RECONCILE_EVERY: '6s',
});

function targets(file: string, sheet: SandboxSheet | undefined): Record<string, string> {
  const table = `sqlite:${file}`;
  if (sheet === undefined) return { TARGET_URL: table };
  const { SHEETS_EMULATOR_URL, TARGET_URL } = sheet.env;
  return {
    TARGETS: 'table,sheet',
    TARGET_TABLE_URL: table,
    TARGET_SHEET_URL: TARGET_URL,
    SHEETS_EMULATOR_URL,
  };
}

function noFiles(path: string): never {
  throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
}
