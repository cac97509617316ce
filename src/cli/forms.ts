import type { CommandSpec } from './command-spec.ts';
import { openApp } from './session.ts';
import { textTable } from './text-table.ts';
import { count } from './words.ts';

/** `forms`: which forms there are. */
export const formsCommand: CommandSpec = {
  name: 'forms',
  summary: 'Lists the forms of the workspace, ready to paste into TARGET_FORMS.',
  examples: ['forms-mirror forms', 'forms-mirror forms --json'],
  configure(command) {
    command.option('--json', 'print one JSON document');
  },
  async run({ host, flag }) {
    const { terminal, stop } = host;
    await using app = await openApp(host, { source: true });
    const forms = await app.forms(stop.signal);
    if (flag('json')) {
      const rows = forms.map(({ id, slug, name, fields }) => ({
        id,
        slug,
        name,
        fields: fields.length,
      }));
      terminal.printJson({ forms: rows });
      return 0;
    }
    if (forms.length === 0) {
      terminal.say('The workspace has no forms yet.');
      return 0;
    }
    const lines = textTable(
      [{ title: 'slug' }, { title: 'name' }, { title: 'fields', align: 'right' }, { title: 'id' }],
      forms.map(({ id, slug, name, fields }) => [slug, name, count(fields.length), id]),
      { maxCell: 50, head: (line) => terminal.style('bold', line) },
    );
    for (const line of lines) terminal.print(line);
    terminal.print(`\nTARGET_FORMS='${forms.map(({ slug }) => slug).join(',')}'`);
    return 0;
  },
};
