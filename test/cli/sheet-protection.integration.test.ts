import { expect, it } from 'vitest';
import { type CliResult, expectEnd, runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { openSheet } from '../support/spreadsheet.ts';
import { LateClock } from '../support/test-clock.ts';

/** A form that was copied into a sheet, a person there, and commands that run a minute apart. */
async function copied(submissions: number) {
  const { env: base, sandbox } = await openPlace({ submissions });
  const { emulator, id: spreadsheetId, env: sheet } = await openSheet();
  const env = { ...base, ...sheet, TARGET_FORMS: 'customer-feedback' };
  const clock = new LateClock();
  const run = (...command: string[]): Promise<CliResult> => {
    clock.goOn(60_000);
    return runCli(command, env, false, clock);
  };
  await expectEnd(run('sync'), 0);
  const form = sandbox.store.formBySlug('customer-feedback');
  const title = form?.name ?? '';
  const person = emulator.people.at(spreadsheetId, title);
  return { run, sandbox, emulator, spreadsheetId, title, formId: form?.id ?? '', person };
}

it('L17: sync, status, check and the Mirror tab report protected cells, and what to do', async () => {
  const { run, sandbox, emulator, spreadsheetId, title, person } = await copied(40);
  const grid = (): unknown[][] => emulator.inspect.grid(spreadsheetId, title);
  const idAt = (row: number): string =>
    String(grid()[row]?.[grid()[0]?.indexOf('Submission ID') ?? -1]);
  const range = person.protect({ top: 2, bottom: 4 });
  for (const row of [2, 3, 5]) sandbox.store.setStatus(idAt(row), 'REJECTED');
  const said = [
    /! customer-feedback → default: On the tab "Customer feedback.*" forms-mirror cannot write into the protected range \(3:4\): cells of 2 submissions are not as the source has them/,
    /→ Allow mirror@\S+ to edit it .* The next run writes the rest/,
  ];
  const except = 'submissions.* as of \\S.*, except for 2 rejected';
  await expectEnd(
    run('sync'),
    0,
    ...said,
    'customer-feedback → default: complete, except for 2 rejected; 1 changed',
    new RegExp(`1 copy is complete: ${except}\\.`),
  );
  await expectEnd(run('sync'), 0, 'default: complete, except for 2 rejected; nothing written');
  const status = await run('status');
  for (const text of said) expect(status.stdout).toMatch(text);
  expect(status.stdout).toMatch(new RegExp(`Up to date: ${except}\n`));
  expect(status.stdout).toMatch(new RegExp(`8 rows, 2 rejected; ${except}; last run`));
  await expectEnd(
    run('check'),
    1,
    /✗ target default: .* forms-mirror cannot write into the protected range \(3:4\)/,
  );
  await expectEnd(
    run('verify'),
    1,
    'customer-feedback → default: different; 8 submissions compared',
    'in status: 2 rows',
    '→ First make the cells named below writable. To compare everything again and write what differs:',
    ...said,
  );
  const explain = await run('explain', idAt(2));
  expect(explain.stdout).toMatch(/differs in: status/);
  expect(explain.stdout).toMatch(
    /listed as rejected since \S+: Some cells of its row cannot be written/,
  );
  const shown = emulator.inspect.shown(spreadsheetId, 'Mirror').flat().join('\n');
  expect(shown).toMatch(/forms-mirror cannot write into the protected range \(3:4\)/);
  expect(shown).not.toContain('correct it there');
  person.unprotect(range);
  const before = await run('status');
  expect(before.stdout).not.toMatch(/protected range|damaged/);
  const after = await run('sync');
  expect(after.stdout).toMatch(/protected or merged can be written now; its rows are read again/);
  await expectEnd(run('check'), 0);
  await expectEnd(run('verify'), 0, /default: the same as of [^,]*; 8 submissions compared\n/);

  person.deleteColumns(grid()[0]?.indexOf('Submission ID') ?? 0);
  await expectEnd(
    run('check'),
    1,
    '✗ target default: The column of submission IDs was deleted',
    '→ Undo the deletion',
  );
  await expectEnd(run('sync'), 1);
});

it('L18: forget names the rows without an ID and the copied rows, which may be those of the person', async () => {
  const { run, emulator, spreadsheetId, title, person, sandbox, formId } = await copied(40);
  const grid = emulator.inspect.grid(spreadsheetId, title);
  const column = grid[0]?.indexOf('Submission ID') ?? -1;
  const [cleared, other] = [3, 7].map((row) => String(grid[row]?.[column]));
  await expectEnd(run('forget', other ?? '', '--yes'), 0, /^((?!no ID of a submission).)*$/s);
  person.type(3, column, '');
  await expectEnd(
    run('forget', cleared ?? '', '--yes'),
    0,
    'forget 1: done',
    /! customer-feedback → default: On the tab "[^"]*" these rows have no ID of a submission: 4\./,
    '→ A row of a forgotten submission may be among them: look at them, and delete it.',
  );
  expect(sandbox.store.ids(formId)).toContain(cleared);
});
