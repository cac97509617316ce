import { once } from 'node:events';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { startSheetsEmulator } from './emulator.ts';

const USAGE = `Usage: google-sheets-emulator [options]

Runs an emulator of the Google Sheets API v4 with one empty spreadsheet, until Ctrl-C. Everything is in memory.

  --port <number>     port on 127.0.0.1; 0 for any free one (default 4011)
  --email <address>   account that may write to the spreadsheet (default robot@example.com)
  --token <text>      its bearer token (default emulator-token)
  --title <text>      title of the spreadsheet (default Spreadsheet)
  --locale <name>     such as cs_CZ (default en_US)
  --time-zone <name>  such as Europe/Prague (default Etc/GMT)
  --quotas            refuse what exceeds Google's quotas per minute
  --help              show this
`;

const OPTIONS = {
  port: { type: 'string', default: '4011' },
  email: { type: 'string', default: 'robot@example.com' },
  token: { type: 'string', default: 'emulator-token' },
  title: { type: 'string', default: 'Spreadsheet' },
  locale: { type: 'string', default: 'en_US' },
  'time-zone': { type: 'string', default: 'Etc/GMT' },
  quotas: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const satisfies ParseArgsOptionsConfig;

/**
 * Runs the command line until `signal` aborts: prints one JSON document with root URL, token, spreadsheet ID and page.
 * Resolves with the exit code: 0, or 2 for options that it does not understand, with the reason printed by `complain`.
 */
export async function runCommand(
  args: readonly string[],
  print: (text: string) => void,
  complain: (text: string) => void,
  signal: AbortSignal,
): Promise<0 | 2> {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    if (values.help) {
      print(USAGE);
      return 0;
    }
    const emulator = await startSheetsEmulator({
      port: portOf(values.port),
      quotas: values.quotas,
    });
    const { email, token, title, locale } = values;
    emulator.accounts.issue({ email }, token);
    const spreadsheetId = emulator.createSpreadsheet({
      title,
      locale,
      timeZone: values['time-zone'],
      shares: { [email]: 'writer' },
    });
    const page = `${emulator.url}view/${spreadsheetId}`;
    print(
      `${JSON.stringify({ rootUrl: emulator.url, token, spreadsheetId, page }, undefined, 2)}\n`,
    );
    if (!signal.aborted) await once(signal, 'abort');
    await emulator.stop();
    return 0;
  } catch (error) {
    complain(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return 2;
  }
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new Error('--port takes a whole number from 0 to 65535.');
}
