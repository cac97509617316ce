import type { App } from '../app.ts';
import { plural } from '../base/format.ts';
import { findForms, forget, type FoundForms, remember } from '../sync/erase.ts';
import type { ChosenTarget } from '../sync/target.ts';
import type { CommandCall, PlaceOptions } from './command-spec.ts';
import { carryOut, type Erasure, type ErasureFlags, openTargets } from './erasure.ts';
import type { Line } from './lines.ts';
import { openApp } from './open-app.ts';
import { findForm } from './selection.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';

/** `forget`: removes submissions from every target, and keeps them away; `--undo` lets them come back. */
export async function run(call: CommandCall<ErasureFlags & { undo?: boolean }>): Promise<ExitCode> {
  const { host, args, options } = call;
  const { terminal } = host;
  await using app = await openApp(host);
  const { targets, failed } = await openTargets(options, app);
  const { forms, unknown } = await formsOf(call, app, targets, [...new Set(args)]);
  const code = await carryOut(
    call,
    app,
    options.undo ? undoing(targets, forms) : forgetting(targets, forms),
    failed,
  );
  const unseen =
    'neither the source nor a target has it. To forget it anyway, name its form with --form';
  terminal.tell(...unknown.map((id): Line => ({ sign: 'error', text: `${id}: ${unseen}` })));
  return unknown.length > 0 ? EXIT_CODES.FAILED.code : code;
}

const countOf = (forms: FoundForms['forms']): string =>
  plural(new Set(forms.flatMap(({ ids }) => ids)).size, 'submission');

const forgetting = (targets: readonly ChosenTarget[], forms: FoundForms['forms']): Erasure => ({
  command: 'forget',
  erase: (options) => forget(targets, forms, options),
  what: ({ rows, asked }) => `remove ${plural(rows, 'submission')}, forget ${asked}`,
  question: `Remove ${countOf(forms)} from every target, for good, and keep away what the source still has?`,
});

const undoing = (targets: readonly ChosenTarget[], forms: FoundForms['forms']): Erasure => ({
  command: 'forget --undo',
  erase: (options) => remember(targets, forms, options),
  what: ({ rows }) =>
    `let ${plural(rows, 'forgotten submission')} come back: the next run reads everything`,
  question: `Let ${countOf(forms)} come back with the next run?`,
});

/** The forms of the submissions; the one that `--form` names is believed. Throws USAGE for an unknown one. */
async function formsOf(
  { host, options: { form: wanted } }: CommandCall<PlaceOptions>,
  app: App,
  targets: readonly ChosenTarget[],
  ids: readonly string[],
): Promise<FoundForms> {
  const { signal } = host.stop;
  if (wanted === undefined) {
    const source = app.config.source && app.source(signal);
    return findForms({ source, targets }, ids);
  }
  const names = targets.map(({ target }) => target.name);
  const { form } = await findForm(app, wanted, names, signal);
  return { forms: [{ form, ids }], unknown: [] };
}
