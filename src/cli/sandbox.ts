import { once } from 'node:events';
import { FAULT_SYNTAX, parseFault } from '../sandbox/fault-text.ts';
import { createSampleWorkspace } from '../sandbox/forms-api/sample-workspace.ts';
import { type Sandbox, startSandbox } from '../sandbox/forms-api/sandbox.ts';
import { startTraffic } from '../sandbox/forms-api/traffic.ts';
import type { CommandCall, CommandSpec } from './command-spec.ts';
import { announce } from './sandbox-announcement.ts';
import { collect, wholeNumberOption } from './option-values.ts';
import { READING_SYNTAX, parseReadings } from './reading-option.ts';
import { type SheetsStandIn, startSheetsStandIn } from './sheets-stand-in.ts';

/** `sandbox`: the stand-in Forms API with sample data. */
export const sandboxCommand: CommandSpec = {
  name: 'sandbox',
  summary: 'Runs a stand-in Forms API with sample data, to try things out against.',
  examples: [
    'forms-mirror sandbox',
    'forms-mirror sandbox --submissions 50000 --traffic 120',
    "forms-mirror sandbox --fault 'GET /submissions 500 after=3 times=2' --reading sort=ignored",
  ],
  configure(command) {
    command
      .option('--port <number>', 'port on 127.0.0.1; 0 for any free one', '4010')
      .option('--submissions <number>', 'sample submissions over all forms', '1250')
      .option('--forms <number>', 'sample forms, 1 to 5', '3')
      .option('--seed <text>', 'determines all sample data', '1')
      .option('--traffic [per-minute]', 'people submit and change statuses: 60 times a minute')
      .option('--fault <rule>', `breaks requests on purpose: ${FAULT_SYNTAX}`, collect)
      .option(
        '--reading <point=value>',
        `takes the unsaid in another way: ${READING_SYNTAX}`,
        collect,
      )
      .option('--sheets', 'run a stand-in for Google Sheets too, on the next port')
      .option('--json', 'print address, key and forms as one JSON document');
  },
  async run(call) {
    const { signal } = call.host.stop;
    await using sandbox = await open(call);
    await using sheet = call.flag('sheets') ? await openSheet(call) : undefined;
    announce(call, sandbox, sheet);
    const perMinute = wholeNumberOption(call, 'traffic', call.flag('traffic') ? 60 : 0);
    const traffic = startTraffic(sandbox.store, { perMinute, signal });
    if (!signal.aborted) await once(signal, 'abort');
    await traffic.ended;
    return 0;
  },
};

function open(call: CommandCall): Promise<Sandbox> {
  const store = createSampleWorkspace({
    seed: call.text('seed') ?? '1',
    submissions: wholeNumberOption(call, 'submissions', 1_250),
    forms: wholeNumberOption(call, 'forms', 3, 1),
  });
  return startSandbox({
    store,
    port: wholeNumberOption(call, 'port', 4_010),
    faults: call.texts('fault').map(parseFault),
    behaviour: parseReadings(call.texts('reading')),
  });
}

/** Beside the Forms API; any free port when that has one. */
function openSheet(call: CommandCall): Promise<SheetsStandIn> {
  const port = wholeNumberOption(call, 'port', 4_010);
  return startSheetsStandIn(port === 0 ? 0 : port + 1);
}
