import { requireForm } from './chosen-plan.ts';
import type { CommandSpec } from './command-spec.ts';
import { formLines, pickLines } from './form-lines.ts';
import { openApp } from './session.ts';

/** `fields`: what can be mirrored. */
export const fieldsCommand: CommandSpec = {
  name: 'fields',
  summary: 'Lists the fields of all forms, or of one, ready to paste into TARGET_FIELDS.',
  examples: ['forms-mirror fields', 'forms-mirror fields contact', 'forms-mirror fields --json'],
  configure(command) {
    command
      .argument('[form]', 'ID, slug or name of one form')
      .option('--json', 'print one JSON document');
  },
  async run({ host, args: [wanted], flag }) {
    const { terminal, stop } = host;
    await using app = await openApp(host, { source: true });
    const all = await app.forms(stop.signal);
    const forms = wanted === undefined ? all : [requireForm(all, wanted)];
    if (flag('json')) {
      terminal.printJson({
        forms: forms.map(({ id, slug, name, fields }) => ({ id, slug, name, fields })),
      });
      return 0;
    }
    if (forms.length === 0) {
      terminal.say('The workspace has no forms yet.');
      return 0;
    }
    for (const line of [...formLines(forms), ...pickLines(forms)]) terminal.print(line);
    return 0;
  },
};
