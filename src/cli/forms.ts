import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import { count, plural } from '../base/format.ts';
import { settingLine } from '../base/shell.ts';
import type { Form } from '../mirror/types.ts';
import type { CommandCall } from './command-spec.ts';
import { openApp } from './open-app.ts';
import { listedName, sayUnmatched } from './selection.ts';
import type { Terminal } from './terminal.ts';
import { textTable } from './text-table.ts';

/** `forms`: the forms that TARGET_FORMS can name. */
export async function run({ host, flag }: CommandCall): Promise<ExitCode> {
  const { terminal, stop } = host;
  await using app = await openApp(host, { source: true });
  const forms = await app.forms(stop.signal);
  print(terminal, forms, flag('json'));
  return (await sayUnmatched(host, app, forms)) ? EXIT_CODES.USAGE.code : EXIT_CODES.DONE.code;
}

function print(terminal: Terminal, forms: readonly Form[], json: boolean): void {
  if (json) {
    const rows = forms.map(({ id, slug, name, fields }) => ({
      id,
      slug,
      name,
      fields: fields.length,
    }));
    terminal.printJson({ forms: rows });
    return;
  }
  if (forms.length === 0) {
    terminal.say('The workspace has no forms yet.');
    return;
  }
  const lines = textTable(
    [{ title: 'slug' }, { title: 'name' }, { title: 'fields', align: 'right' }, { title: 'id' }],
    forms.map(({ id, slug, name, fields }) => [slug, name, count(fields.length), id]),
    { maxCell: 50, head: (line) => terminal.style('bold', line) },
  );
  for (const line of lines) terminal.print(line);
  const names = forms.map(listedName).filter((name) => name !== undefined);
  terminal.print('');
  if (names.length > 0) terminal.print(settingLine('TARGET_FORMS', names.join(',')));
  const unnamed = forms.length - names.length;
  if (unnamed > 0) {
    const what = plural(unnamed, 'form has', 'forms have');
    terminal.print(`# ${what} no name that a setting can hold; TARGET_FORMS='*' mirrors all.`);
  }
}
