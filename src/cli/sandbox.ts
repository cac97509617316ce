import { once } from 'node:events';
import type { ExitCode } from '../base/exit-codes.ts';
import { plural } from '../base/format.ts';
import { MOST_SAMPLE_FORMS, createSampleWorkspace } from '../sandbox/forms-api/sample-workspace.ts';
import { type Sandbox, startSandbox } from '../sandbox/forms-api/sandbox.ts';
import { startTraffic } from '../sandbox/forms-api/traffic.ts';
import { type CommandCall, wholeNumberOption } from './command-spec.ts';
import { parseFault, parseReadings } from './sandbox-options.ts';
import { type SandboxSheet, startSandboxSheet } from './sandbox-sheet.ts';

/** `sandbox`: the stand-in Forms API with sample data. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { signal } = call.host.stop;
  await using sandbox = await open(call);
  await using sheet = call.flag('sheets') ? await openSheet(call) : undefined;
  announce(call, sandbox, sheet);
  const perMinute = wholeNumberOption(call, 'traffic', call.flag('traffic') ? 60 : 0);
  const traffic = startTraffic(sandbox.store, { perMinute, signal });
  if (!signal.aborted) await once(signal, 'abort');
  await traffic.ended;
  return 0;
}

function open(call: CommandCall): Promise<Sandbox> {
  const store = createSampleWorkspace({
    seed: call.text('seed') ?? '1',
    submissions: wholeNumberOption(call, 'submissions', 1_250),
    forms: wholeNumberOption(call, 'forms', 3, 1, MOST_SAMPLE_FORMS),
  });
  return startSandbox({
    store,
    port: wholeNumberOption(call, 'port', 4_010),
    faults: call.texts('fault').map(parseFault),
    behaviour: parseReadings(call.texts('reading')),
  });
}

/** On the port after the Forms API's; on any free port when that has one. */
function openSheet(call: CommandCall): Promise<SandboxSheet> {
  const port = wholeNumberOption(call, 'port', 4_010);
  return startSandboxSheet(port === 0 ? 0 : port + 1);
}

/** Prints where the stand-ins listen: settings to paste on stdout, the rest on stderr; or one JSON document. */
function announce(call: CommandCall, sandbox: Sandbox, sheet: SandboxSheet | undefined): void {
  const { terminal } = call.host;
  const { url, apiKey: key, store } = sandbox;
  const forms = store.forms();
  if (call.flag('json')) {
    const names = forms.map(({ id, slug, name }) => ({ id, slug, name }));
    terminal.printJson({ url, key, forms: names, sheet: sheet ?? null });
    return;
  }
  const content = `${plural(forms.length, 'form')} and ${plural(store.count(), 'submission')}`;
  terminal.say(`A sample Forms API with ${content} is listening; Ctrl-C ends it.`);
  if (sheet !== undefined)
    terminal.say(`A stand-in for Google Sheets shows its sheet at ${sheet.viewUrl}`);
  terminal.say(
    'These lines go into .env, or before a command such as forms-mirror sync --full:',
    '',
  );
  const target = Object.entries(sheet?.env ?? {}).map(([name, value]) => `${name}=${value}`);
  terminal.print(`FORMS_API_URL=${url}`, `FORMS_API_KEY=${key}`, "TARGET_FIELDS='*'", ...target);
}
