import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import { plural } from '../base/format.ts';
import { canBeListed, settingLine } from '../base/shell.ts';
import type { Form } from '../mirror/types.ts';
import type { CommandCall } from './command-spec.ts';
import { openApp } from './open-app.ts';
import type { Terminal } from './terminal.ts';
import { fieldLines, listedName, requireForm, sayUnmatched } from './selection.ts';

/** `fields`: the fields that TARGET_FIELDS can pick. */
export async function run({ host, args: [wanted], flag }: CommandCall): Promise<ExitCode> {
  const { terminal, stop } = host;
  await using app = await openApp(host, { source: true });
  const all = await app.forms(stop.signal);
  const forms = wanted === undefined ? all : [requireForm(all, wanted)];
  print(terminal, forms, flag('json'));
  return (await sayUnmatched(host, app, all)) ? EXIT_CODES.USAGE.code : EXIT_CODES.DONE.code;
}

function print(terminal: Terminal, forms: readonly Form[], json: boolean): void {
  if (json) {
    terminal.printJson({
      forms: forms.map(({ id, slug, name, fields }) => ({ id, slug, name, fields })),
    });
  } else if (forms.length === 0) {
    terminal.say('The workspace has no forms yet.');
  } else {
    for (const line of [...fieldLines(forms), ...settingLines(forms)]) terminal.print(line);
  }
}

/** TARGET_FIELDS for these forms: whole forms, and field by field. */
function settingLines(forms: readonly Form[]): string[] {
  const names = forms.map(listedName);
  const whole = names.includes(undefined) ? ['*'] : names.map((name) => `${name}:*`);
  const ids = forms.flatMap(({ fields }) => fields.map(({ id }) => id));
  const single = ids.filter(canBeListed);
  const lines = ['# Every field, including those that only old answers still carry:'];
  lines.push(settingLine('TARGET_FIELDS', whole.join(',')));
  if (single.length > 0)
    lines.push(
      '# Or field by field; remove what should stay at the source:',
      settingLine('TARGET_FIELDS', single.join(',')),
    );
  const unnamed = ids.length - single.length;
  if (unnamed > 0)
    lines.push(`# Not among them, as no setting can name their IDs: ${plural(unnamed, 'field')}.`);
  return lines;
}
