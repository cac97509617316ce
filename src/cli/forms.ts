import { plural } from '../base/format.ts';
import { canBeListed, settingLine } from '../base/printable.ts';
import type { Form } from '../mirror/types.ts';
import { listedName, wholeForm } from '../sync/names.ts';
import type { CommandCall } from './command-spec.ts';
import { openApp } from './open-app.ts';
import { fieldLines, requireForm } from './selection.ts';
import type { Terminal } from './terminal.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';

/** `forms`: the forms that TARGET_FORMS can name, or the fields of one form that TARGET_FIELDS can name. */
export async function run({ host, args: [wanted], flag }: CommandCall): Promise<ExitCode> {
  const { terminal, stop } = host;
  await using app = await openApp(host, { source: true });
  const forms = await app.forms(stop.signal);
  if (wanted === undefined) printForms(terminal, forms, flag('json'));
  else printFields(terminal, requireForm(forms, wanted), flag('json'));
  return EXIT_CODES.DONE.code;
}

function printForms(terminal: Terminal, forms: readonly Form[], json: boolean): void {
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
  const rows = forms.map(({ id, slug, name, fields }) => [slug, name, fields.length, id]);
  terminal.table(['slug', 'name', 'fields', 'id'], rows);
  const names = forms.map(listedName).filter((name) => name !== undefined);
  terminal.print('');
  if (names.length > 0) terminal.print(settingLine('TARGET_FORMS', names.join(',')));
  const unnamed = forms.length - names.length;
  if (unnamed > 0) {
    const what = plural(unnamed, 'form has', 'forms have');
    terminal.print(`# ${what} no name that a setting can hold; TARGET_FORMS='*' mirrors all.`);
  }
}

function printFields(terminal: Terminal, form: Form, json: boolean): void {
  const { id, slug, name, fields } = form;
  if (json) terminal.printJson({ id, slug, name, fields });
  else for (const line of [...fieldLines([form]), ...settingLines(form)]) terminal.print(line);
}

/** TARGET_FIELDS for this form: as a whole, and field by field. */
function settingLines(form: Form): string[] {
  const ids = form.fields.map(({ id }) => id);
  const single = ids.filter(canBeListed);
  const lines = ['# Every field, including fields that only old answers have:'];
  lines.push(settingLine('TARGET_FIELDS', wholeForm(form)));
  if (single.length > 0)
    lines.push(
      '# Or field by field. Remove fields that should stay at the source:',
      settingLine('TARGET_FIELDS', single.join(',')),
    );
  const unnamed = ids.length - single.length;
  if (unnamed > 0) lines.push(`# No setting can name the IDs of ${plural(unnamed, 'field')}.`);
  return lines;
}
