import { expect, it } from 'vitest';
import { type CliResult, runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { openSheet } from '../support/cli-sheet.ts';
import { LateClock } from '../support/test-clock.ts';

it('L17: sync, status and check report changes by people to a sheet, and the remedies', async () => {
  const { env: base } = await openPlace({ submissions: 40 });
  const { emulator, id: spreadsheetId, env: sheet } = await openSheet();
  const env = { ...base, ...sheet, TARGET_FORMS: 'customer-feedback' };
  const clock = new LateClock();
  const run = (command: string): Promise<CliResult> => {
    // A run that could not end well asks for some seconds, which nobody waits for.
    clock.goOn(60_000);
    return runCli([command], env, false, clock);
  };
  expect((await run('sync')).code).toBe(0);
  const tab = emulator.inspect.tabs(spreadsheetId).find(({ title }) => /feedback/i.test(title));
  const person = emulator.people.at(spreadsheetId, tab?.sheetId ?? 0);
  person.duplicateRow(2);

  const sync = await run('sync');
  expect(sync.code).toBe(0);
  const said = [
    /! customer-feedback → default: On the tab "Customer feedback.*" 1 row is a copy .* row 4 repeats row 3/,
    /→ Delete the copy/,
  ];
  for (const text of said) expect(sync.stdout).toMatch(text);
  const told = await run('status');
  for (const text of said) expect(told.stdout).toMatch(text);
  const check = await run('check');
  expect(check.code).toBe(0);
  expect(check.stdout).toMatch(/! target default: On the tab .* 1 row is a copy/);
  const [header = []] = emulator.inspect.grid(spreadsheetId, tab?.sheetId ?? 0);
  person.deleteColumns(header.indexOf('Submission ID'));
  const failed = await run('check');
  expect(failed.code).toBe(1);
  expect(failed.stdout).toMatch(/✗ target default: The column of submission IDs was deleted/);
  expect(failed.stdout).toMatch(/→ Undo the deletion/);
  expect((await run('sync')).code).toBe(1);
  const status = await run('status');
  expect(status.code).toBe(1);
  expect(status.stdout).toMatch(/column of submission IDs was deleted/);
});
