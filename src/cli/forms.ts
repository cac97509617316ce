import { plural } from '../base/format.ts';
import { settingLine } from '../base/printable.ts';
import type { Form } from '../mirror/types.ts';
import { openApp } from './open-app.ts';
import { requireForm } from './selection.ts';
import type { Terminal } from './terminal.ts';
import type { CommandCall, ExitCode } from './host.ts';

/** `forms`: the forms that TARGET_FORMS can name, or the fields of one form that TARGET_FIELDS can name. */
export async function listForms({
  host,
  args: [wanted],
  options: { json = false },
}: CommandCall<{ json?: boolean }>): Promise<ExitCode> {
  const { terminal, stop } = host;
  await using app = await openApp(host, { source: true });
  const forms = await app.forms(stop.signal);
  if (wanted === undefined) printForms(terminal, forms, json);
  else printFields(terminal, requireForm(forms, wanted), json);
  return 0;
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
  for (const { id, slug, name, fields } of forms)
    terminal.print(`${slug}: ${name}, ${plural(fields.length, 'field')} (${id})`);
  const names = forms.map(({ slug }) => slug);
  terminal.print('', settingLine('TARGET_FORMS', names.join(',')));
}

function printFields(terminal: Terminal, form: Form, json: boolean): void {
  const { id, slug, name, fields } = form;
  if (json) terminal.printJson({ id, slug, name, fields });
  else
    terminal.print(
      `${name} (${slug}): ${plural(fields.length, 'field')}`,
      ...fields.map((field) => `  ${field.id}  ${field.label}`),
      '',
      '# Every field, including fields that only old answers have:',
      settingLine('TARGET_FIELDS', `${slug}:*`),
      '# Or field by field. Remove fields that should stay at the source:',
      settingLine('TARGET_FIELDS', fields.map((field) => field.id).join(',')),
    );
}
