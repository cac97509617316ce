import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from '../app.ts';
import { loadConfig } from '../config.ts';
import { createSampleWorkspace } from '../sandbox/forms-api/sample-workspace.ts';
import { type Sandbox, startSandbox } from '../sandbox/forms-api/sandbox.ts';
import { type Host, openLogger } from './host.ts';
import { type SheetsStandIn, startSheetsStandIn } from './sheets-stand-in.ts';

/** Everything the demo runs on: gone when it is disposed, but for the SQLite file. */
export interface DemoPlace extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly app: App;
  /** The SQLite file. */
  readonly file: string;
  /** Where to watch the sheet, when there is one. */
  readonly sheetUrl: string | undefined;
}

/** Starts the stand-ins and puts the parts together; looks at no setting of the person's. */
export async function openDemoPlace(
  host: Host,
  options: { readonly submissions: number; readonly sheets: boolean },
): Promise<DemoPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'forms-mirror-demo-'));
  const file = join(folder, 'forms.sqlite');
  const store = createSampleWorkspace({ submissions: options.submissions });
  await using opened = new AsyncDisposableStack();
  const sandbox = opened.use(await startSandbox({ store }));
  const sheet = options.sheets ? opened.use(await startSheetsStandIn()) : undefined;
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

function targets(file: string, sheet: SheetsStandIn | undefined): Record<string, string> {
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
