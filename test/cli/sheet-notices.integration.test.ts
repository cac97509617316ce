import { expect, it, onTestFinished } from 'vitest';
import { startTestEmulator } from '../../packages/google-sheets-emulator/test/support/emulator.ts';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../../src/targets/google-sheets/api/credentials.ts';
import { type CliResult, runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { SheetsClock } from '../support/test-clock.ts';

it('L17: sync, status and check say what people did to a sheet, and what to do', async () => {
  const { env: base } = await openPlace({ submissions: 40 });
  const emulator = await startTestEmulator({});
  onTestFinished(() => emulator.stop());
  emulator.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  const spreadsheetId = emulator.createSpreadsheet({
    title: 'Answers',
    shares: { [EMULATOR_EMAIL]: 'writer' },
  });
  const env = {
    ...base,
    SHEETS_EMULATOR_URL: emulator.url,
    TARGET_URL: `sheets:${spreadsheetId}`,
    TARGET_FORMS: 'customer-feedback',
  };
  const clock = new SheetsClock();
  const run = (command: string): Promise<CliResult> => {
    // A pass that could not end well asks for some seconds, which nobody waits for.
    clock.goOn(60_000);
    return runCli([command], env, false, clock);
  };
  expect((await run('sync')).code).toBe(0);
  const tab = emulator.inspect.tabs(spreadsheetId).find(({ title }) => /feedback/i.test(title));
  const person = emulator.people.at(spreadsheetId, tab?.sheetId ?? 0);
  person.duplicateRow(2);
  person.deleteColumns(2);

  const sync = await run('sync');
  expect(sync.code).toBe(0);
  const said = [
    /! customer-feedback → default: The column "Status" was deleted from the tab "Customer feedback/,
    /→ If that was a mistake, run: forms-mirror sync --full --restore-columns --form \S+/,
    /! customer-feedback → default: On the tab "Customer feedback.*" 1 row is a copy .* row 4 repeats row 3/,
    /→ Delete the copy/,
  ];
  for (const text of said) expect(sync.stdout).toMatch(text);
  const told = await run('status');
  for (const text of said) expect(told.stdout).toMatch(text);
  const check = await run('check');
  expect(check.code).toBe(0);
  expect(check.stdout).toMatch(/! target default: The column "Status" was deleted/);
  person.deleteColumns(0);
  const failed = await run('check');
  expect(failed.code).toBe(1);
  expect(failed.stdout).toMatch(/✗ target default: The column of submission IDs was deleted/);
  expect(failed.stdout).toMatch(/→ Undo the deletion/);
  expect((await run('sync')).code).toBe(1);
  const status = await run('status');
  expect(status.code).toBe(1);
  expect(status.stdout).toMatch(/column of submission IDs was deleted/);
});
