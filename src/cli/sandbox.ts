import { once } from 'node:events';
import { errorCode, MirrorError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { createSampleWorkspace } from '../sandbox/sample-workspace.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { runTraffic } from '../sandbox/traffic.ts';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../targets/google/credentials.ts';
import type { CommandCall, ExitCode } from './host.ts';
import type { Terminal } from './terminal.ts';

interface SandboxOptions {
  readonly port: number;
  readonly submissions: number;
  readonly traffic: number;
  readonly sheets?: boolean;
}

/** `sandbox`: the stand-in Forms API with sample data. */
export async function runSandbox({
  host,
  options,
}: CommandCall<SandboxOptions>): Promise<ExitCode> {
  const { signal } = host.stop;
  const { port, submissions, traffic: perMinute, sheets } = options;
  await using sandbox = await startSandbox(createSampleWorkspace({ submissions }), port);
  // Listens on the port after the Forms API's. With port 0, both get a free one.
  await using sheet = sheets ? await startSandboxSheet(port === 0 ? 0 : port + 1) : undefined;
  announce(host.terminal, sandbox, sheet);
  const traffic = runTraffic(sandbox.store, { perMinute, signal });
  if (!signal.aborted) await once(signal, 'abort');
  await traffic;
  return 0;
}

/** Prints the addresses of the stand-ins: settings to paste on stdout, the rest on stderr. */
function announce(terminal: Terminal, sandbox: Sandbox, sheet: SandboxSheet | undefined): void {
  const { url, apiKey: key, store } = sandbox;
  const content = `${plural(store.forms().length, 'form')} and ${plural(store.all().length, 'submission')}`;
  terminal.say(`A sample Forms API with ${content} is listening. Press Ctrl-C to end it.`);
  if (sheet !== undefined)
    terminal.say(`A stand-in for Google Sheets shows its sheet at ${sheet.viewUrl}`);
  terminal.say('Put these lines into .env, or before a command such as forms-mirror sync:', '');
  const target = Object.entries(sheet?.env ?? {}).map(([name, value]) => `${name}=${value}`);
  terminal.print(`FORMS_API_URL=${url}`, `FORMS_API_KEY=${key}`, "TARGET_FIELDS='*'", ...target);
}

/** A stand-in for Google Sheets with one empty spreadsheet that the mirror may write to. */
export interface SandboxSheet extends AsyncDisposable {
  /** The settings for mirroring into it. */
  readonly env: { readonly SHEETS_EMULATOR_URL: string; readonly TARGET_URL: string };
  /** Shows the spreadsheet as a page. */
  readonly viewUrl: string;
}

/** Starts it on loopback, on `port` or, with 0, any free one. Throws USAGE outside a checkout of the repository. */
export async function startSandboxSheet(port = 0): Promise<SandboxSheet> {
  const { startSheetsEmulator } = await loadEmulator();
  const emulator = await startSheetsEmulator({ port }).catch((error: unknown) => {
    const message = `The spreadsheet cannot listen on port ${port}: is it taken? Choose another --port; the spreadsheet uses the next one.`;
    throw new MirrorError('USAGE', message, { cause: error });
  });
  emulator.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  const id = emulator.createSpreadsheet({ title: 'Form submissions' });
  const root = emulator.url.replace(/\/$/, '');
  return {
    env: { SHEETS_EMULATOR_URL: root, TARGET_URL: `sheets:${id}` },
    viewUrl: `${root}/view/${id}`,
    [Symbol.asyncDispose]: () => emulator.stop(),
  };
}

/** The published package does not contain the emulator. */
async function loadEmulator() {
  try {
    return await import('google-sheets-emulator');
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new MirrorError(
      'USAGE',
      '--sheets needs a checkout of the repository, where npm ci installs the stand-in for Google Sheets: this package does not include it.',
    );
  }
}
