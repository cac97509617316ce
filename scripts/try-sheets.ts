// Checks point by point whether the real service fulfills the assumptions of the Google Sheets target: `npm run
// try:sheets -- <spreadsheet>`. Works in its own tab, and removes it at the end.
import { systemClock } from '../src/base/clock.ts';
import { MirrorError, toMirrorError } from '../src/base/errors.ts';
import { loadProcessConfig } from '../src/settings/config.ts';
import { openAccount } from '../src/targets/google/credentials.ts';
import { parseSheetAddress } from '../src/targets/google-sheets/api/address.ts';
import { SheetsApi } from '../src/targets/google-sheets/api/sheets-api.ts';
import { SHEETS_SCOPE } from '../src/targets/google-sheets/api/sheets-error.ts';
import { BY_HAND, makeTab, removeTab, TAB_TITLE, sheetsPoints } from './try/sheets-points.ts';
import { listenForEnd, lookAndRemove } from './try/trial.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(address: string | undefined): Promise<number> {
  if (address === undefined) {
    throw new MirrorError(
      'USAGE',
      'Which spreadsheet? npm run try:sheets -- <address of a Google Sheet>',
    );
  }
  const { google, proxy } = loadProcessConfig();
  const spreadsheetId = parseSheetAddress(address);
  const account = await openAccount({ ...google, proxy }, SHEETS_SCOPE);
  const clock = systemClock;
  const rootUrl = google.emulatorUrl === undefined ? undefined : `${google.emulatorUrl}/`;
  const made = `the tab "${TAB_TITLE} …"`;
  const stop = listenForEnd(process, made, print);
  const tab = await makeTab(new SheetsApi({ spreadsheetId, account, clock, rootUrl }), Math.random);
  print(`In the tab "${tab.title}", which is removed at the end; a request a second.`);
  return lookAndRemove({
    points: sheetsPoints(tab),
    print,
    stop,
    made,
    remove: () => removeTab(tab),
    end: () =>
      ['\n\nWhat only a person can see:', ...BY_HAND.map((step) => `- ${step}`)].join('\n'),
  });
}

try {
  process.exitCode = await run(process.argv[2]);
} catch (error) {
  process.stderr.write(`✗ ${toMirrorError(error).message}\n`);
  process.exitCode = 2;
}
