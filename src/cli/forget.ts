import type { App } from '../app.ts';
import { plural } from '../base/format.ts';
import { findForms, forget, type FoundForms, remember } from '../sync/erase.ts';
import { type ChosenTarget, heldForms } from '../sync/target.ts';
import type { CommandCall } from './command-spec.ts';
import { carryOut, type Erasure, openTargets } from './erasure.ts';
import { openApp } from './open-app.ts';
import { requireForm } from './selection.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';

/** `forget`: removes submissions from every target, and keeps them away; `--undo` lets them come back. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { host, args, flag } = call;
  const { terminal } = host;
  await using app = await openApp(host);
  const { targets, failed } = await openTargets(call, app);
  const { forms, unknown } = await formsOf(call, app, targets, [...new Set(args)]);
  const erasure = (flag('undo') ? undoing : forgetting)(targets, forms);
  const code = await carryOut(call, app, erasure, failed);
  for (const id of unknown)
    terminal.tell(
      'error',
      `${id}: neither the source nor a target has it. To forget it anyway, name its form with --form`,
    );
  return unknown.length > 0 ? EXIT_CODES.FAILED.code : code;
}

const NOTHING = 'Nothing was changed.';

function forgetting(targets: readonly ChosenTarget[], forms: FoundForms['forms']): Erasure {
  const number = new Set(forms.flatMap(({ ids }) => ids)).size;
  const they = number === 1 ? 'it' : 'them';
  return {
    command: 'forget',
    erase: (options) => forget(targets, forms, options),
    what: (report) => [
      `${plural(report.rows, 'submission')} to remove`,
      `${plural(report.rows, 'submission')} removed; ${plural(report.asked, 'submission')} forgotten`,
    ],
    question: () =>
      `Remove ${plural(number, 'submission')} from every target, and keep ${they} away?`,
    nothing: NOTHING,
  };
}

function undoing(targets: readonly ChosenTarget[], forms: FoundForms['forms']): Erasure {
  const number = new Set(forms.flatMap(({ ids }) => ids)).size;
  return {
    command: 'forget --undo',
    erase: (options) => remember(targets, forms, options),
    what: ({ rows }) => [
      `${plural(rows, 'submission')} forgotten`,
      `${plural(rows, 'submission')} may come back: the next run reads everything`,
    ],
    question: () => `Let ${plural(number, 'submission')} come back with the next run?`,
    nothing: NOTHING,
  };
}

/** The forms of the submissions; the one that `--form` names is believed. Throws USAGE for an unknown one. */
async function formsOf(
  { host, text }: CommandCall,
  app: App,
  targets: readonly ChosenTarget[],
  ids: readonly string[],
): Promise<FoundForms> {
  const { signal } = host.stop;
  const wanted = text('form');
  if (wanted === undefined) {
    const source = app.config.source && app.source(signal);
    return findForms({ source, targets }, ids);
  }
  const held = (await Promise.all(targets.map(({ target }) => heldForms(target)))).flat();
  const listed = app.config.source === undefined ? [] : await app.forms(signal).catch(() => []);
  return { forms: [{ form: requireForm([...held, ...listed], wanted), ids }], unknown: [] };
}
