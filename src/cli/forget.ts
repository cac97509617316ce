import type { App } from '../app.ts';
import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import { plural } from '../base/format.ts';
import {
  type ErasureReport,
  type EraseTarget,
  findForms,
  forget,
  type FoundForms,
  logErasures,
  person,
  previewForget,
  previewRemember,
  remember,
} from '../sync/erase.ts';
import { heldForms } from '../sync/target.ts';
import type { CommandCall } from './command-spec.ts';
import {
  erasureDocument,
  erasureExitCode,
  isConfirmed,
  openTargets,
  printErasure,
  removedText,
  waitingFor,
} from './erasure-report.ts';
import { openApp } from './open-app.ts';
import { requireForm } from './selection.ts';

/** `forget`: removes submissions from every target, and keeps them away; `--undo` lets them come back. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { host, args, flag } = call;
  const [undo, dryRun] = [flag('undo'), flag('dryRun')];
  await using app = await openApp(host);
  const { targets: opened, failed } = await openTargets(call, app);
  const targets = opened.map((target): EraseTarget => {
    return { target, mirrors: (form) => app.isChosen(target.name, form) };
  });
  const found = await formsOf(call, app, targets, [...new Set(args)]);
  const { forms } = found;
  let reports: readonly ErasureReport[] = failed;
  let ended: readonly ErasureReport[] = [];
  if (forms.length > 0) {
    const preview = await (undo ? previewRemember : previewForget)(targets, forms);
    reports = [...preview, ...failed];
    if (!flag('json')) printReports(call, reports, undo ? 'forgotten' : 'held');
    if (!dryRun && (await isConfirmed(call, question(found, undo)))) {
      const done = await (undo ? remember : forget)(targets, forms, waitingFor(call));
      reports = [...done, ...failed];
      ended = done;
      const command = undo ? 'forget --undo' : 'forget';
      logErasures(app.logger, { command, by: person() }, reports);
    } else if (!dryRun) return EXIT_CODES.FAILED.code;
  }
  if (flag('json')) host.terminal.printJson(document(found, reports, { undo, dryRun }));
  else printEnd(call, found, ended);
  const unknown = found.unknown.length > 0;
  return unknown ? EXIT_CODES.FAILED.code : erasureExitCode(reports);
}

/** The forms of the submissions; the one that `--form` names is believed. Throws USAGE for an unknown one. */
async function formsOf(
  { host, text }: CommandCall,
  app: App,
  targets: readonly EraseTarget[],
  ids: readonly string[],
): Promise<FoundForms> {
  const { signal } = host.stop;
  const wanted = text('form');
  if (wanted === undefined) {
    const client = app.config.source && app.client;
    return findForms({ client, targets }, ids, signal);
  }
  const held = (await Promise.all(targets.map(({ target }) => heldForms(target)))).flat();
  const listed = app.config.source === undefined ? [] : await app.forms(signal).catch(() => []);
  const forms = new Map([...listed, ...held].map((form) => [form.id, form]));
  return { forms: [{ form: requireForm([...forms.values()], wanted), ids }], unknown: [] };
}

function question({ forms }: FoundForms, undo: boolean): string {
  const ids = forms.flatMap((form) => form.ids);
  const submissions = plural(new Set(ids).size, 'submission');
  return undo
    ? `Let ${submissions} come back with the next run?`
    : `Remove ${submissions} from every target, and keep ${new Set(ids).size === 1 ? 'it' : 'them'} away?`;
}

function printReports({ host }: CommandCall, reports: readonly ErasureReport[], is: string): void {
  for (const report of reports) {
    const what = is === 'forgotten' ? plural(report.rows, 'submission') : removedText(report);
    printErasure(host.terminal, report, `${what} ${is}`);
  }
}

function printEnd(
  { host: { terminal }, flag }: CommandCall,
  { unknown }: FoundForms,
  reports: readonly ErasureReport[],
): void {
  for (const report of reports) {
    const what = flag('undo')
      ? `${plural(report.rows, 'submission')} may come back: the next run reads everything`
      : `${removedText(report)} removed; ${plural(report.asked, 'submission')} forgotten`;
    printErasure(terminal, report, what);
  }
  for (const id of unknown) {
    terminal.print(
      `${terminal.style('red', '✗')} ${id}: neither the source nor a target knows it. To keep it away all the same, name its form: --form`,
    );
  }
}

const document = (
  { forms, unknown }: FoundForms,
  reports: readonly ErasureReport[],
  how: { readonly undo: boolean; readonly dryRun: boolean },
): Record<string, unknown> => ({
  ...how,
  submissions: forms.flatMap(({ form, ids }) =>
    ids.map((id) => ({ submissionId: id, form: form.id, slug: form.slug })),
  ),
  unknown,
  targets: reports.map(erasureDocument),
});
