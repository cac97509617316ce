import type { Sandbox } from '../sandbox/forms-api/sandbox.ts';
import type { CommandCall } from './command-spec.ts';
import type { SheetsStandIn } from './sheets-stand-in.ts';
import { plural } from './words.ts';

/** Says where the stand-ins listen: settings to paste on stdout, the rest on stderr; or one JSON document. */
export function announce(
  call: CommandCall,
  sandbox: Sandbox,
  sheet: SheetsStandIn | undefined,
): void {
  const { terminal } = call.host;
  const { url, apiKey: key, store } = sandbox;
  const forms = store.forms();
  if (call.flag('json')) {
    const names = forms.map(({ id, slug, name }) => ({ id, slug, name }));
    terminal.printJson({ url, key, forms: names, sheet: sheet ?? null });
    return;
  }
  const held = `${plural(forms.length, 'form')} and ${plural(store.count(), 'submission')}`;
  terminal.say(`A stand-in Forms API with ${held} is listening; Ctrl-C ends it.`);
  if (sheet !== undefined)
    terminal.say(`A stand-in for Google Sheets shows its sheet at ${sheet.viewUrl}`);
  terminal.say('These lines go into .env, or before a command such as forms-mirror sync --full:\n');
  const target = Object.entries(sheet?.env ?? {}).map(([name, value]) => `\n${name}=${value}`);
  terminal.print(`FORMS_API_URL=${url}\nFORMS_API_KEY=${key}\nTARGET_FIELDS='*'${target.join('')}`);
}
