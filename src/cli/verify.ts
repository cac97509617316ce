import type { App, FormPlan } from '../app.ts';
import { toMirrorError } from '../base/errors.ts';
import { verifyForm } from '../sync/verify.ts';
import { choosePlan } from './chosen-plan.ts';
import type { CommandSpec } from './command-spec.ts';
import { openApp } from './session.ts';
import { type Verdict, printVerdict, verdictDocument } from './verify-report.ts';

/** `verify`: compares source and target row by row. */
export const verifyCommand: CommandSpec = {
  name: 'verify',
  summary: 'Compares source and copy row by row, trusting nothing; exit 1 when they differ.',
  examples: ['forms-mirror verify', 'forms-mirror verify --form contact --json'],
  configure(command) {
    command
      .option('--form <form>', 'only this form: ID, slug or name')
      .option('--target <name>', 'only this target')
      .option('--json', 'print one JSON document');
  },
  async run(call) {
    const { terminal, stop } = call.host;
    await using app = await openApp(call.host, { source: true });
    const verdicts: Verdict[] = [];
    for (const { form, targets } of await choosePlan(call, app)) {
      for (const target of targets) {
        if (terminal.interactive) terminal.say(`Comparing ${form.slug} → ${target} …`);
        verdicts.push(await compare(app, form, target, stop.signal));
      }
    }
    const same = verdicts.every(({ report }) => report?.outcome === 'same');
    if (call.flag('json')) terminal.printJson({ same, forms: verdicts.map(verdictDocument) });
    else for (const verdict of verdicts) printVerdict(terminal, verdict);
    return stop.exitCode() ?? (same ? 0 : 1);
  },
};

async function compare(
  app: App,
  form: FormPlan['form'],
  name: string,
  signal: AbortSignal,
): Promise<Verdict> {
  try {
    const target = await app.target(name);
    const { hashKey } = app.config;
    const request = { formId: form.id, picks: app.picksOf(name), hashKey };
    const report = await verifyForm(app.context, target, request, signal);
    return { form, target: name, report, error: null };
  } catch (error) {
    return { form, target: name, report: null, error: toMirrorError(error).message };
  }
}
