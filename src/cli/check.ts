import type { App } from '../app.ts';
import { toMirrorError } from '../base/errors.ts';
import type { CommandSpec } from './command-spec.ts';
import { type Finding, checkQueue, checkSource, checkTarget } from './findings.ts';
import { openApp } from './session.ts';

/** `check`: is everything as it has to be? */
export const checkCommand: CommandSpec = {
  name: 'check',
  summary:
    'Tries settings, key, forms, fields and each target, and names the remedy for what fails.',
  examples: ['forms-mirror check', 'forms-mirror check --json'],
  configure(command) {
    command.option('--json', 'print one JSON document');
  },
  async run({ host, flag }) {
    const { terminal } = host;
    const findings: Finding[] = [];
    const note = (finding: Finding): void => {
      findings.push(finding);
      if (flag('json')) return;
      const sign = finding.ok ? terminal.style('green', '✓') : terminal.style('red', '✗');
      terminal.print(`${sign} ${finding.subject}: ${finding.message}`);
      if (finding.remedy !== undefined) terminal.print(`    → ${finding.remedy}`);
    };
    await using app = await openApp(host, { source: true, statusPage: true });
    note({ subject: 'settings', ok: true, message: 'are all understood' });
    for (const warning of app.config.warnings)
      note({ subject: 'settings', ok: true, message: warning });
    await tryEverything(app, host.stop.signal, note);
    note(await checkQueue(app, host.clock));
    const ok = findings.every((finding) => finding.ok);
    if (flag('json')) terminal.printJson({ ok, findings });
    return host.stop.exitCode() ?? (ok ? 0 : 1);
  },
};

async function tryEverything(
  app: App,
  signal: AbortSignal,
  note: (finding: Finding) => void,
): Promise<void> {
  for (const finding of await checkSource(app, signal)) note(finding);
  for (const { name } of app.config.targets) {
    try {
      for (const finding of await checkTarget(app, name, signal)) note(finding);
    } catch (error) {
      note({ subject: `target ${name}`, ok: false, message: toMirrorError(error).message });
    }
  }
}
