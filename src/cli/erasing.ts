import type { App } from '../app.ts';
import { MirrorError } from '../base/errors.ts';
import { iso, plural } from '../base/format.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { duration } from '../settings/values.ts';
import {
  type ErasureOptions,
  type ErasureReport,
  findForms,
  forget as forgetSubmissions,
  logErasures,
  nothingErased,
  person,
  remember,
} from '../sync/erase.ts';
import { purgeDeleted, purgeLeftovers } from '../sync/purge.ts';
import type { CommandCall, ExitCode, PlaceOptions } from './host.ts';
import { copyName } from './lines.ts';
import { openApp } from './open-app.ts';
import { findForm, openTargets } from './selection.ts';
import type { Line } from './terminal.ts';

/* The commands that erase: `forget` and `purge`. Both count, ask, erase and report. */

type ErasureFlags = PlaceOptions & { readonly dryRun?: boolean; readonly yes?: boolean };

/** An erasure that a person asks for. */
interface Erasure {
  /** Its name in the log. */
  readonly command: string;
  /** Erases, or with `dryRun` only counts what would be erased. */
  readonly erase: (options: ErasureOptions) => Promise<readonly ErasureReport[]>;
  /** The erasure in a report, in words: `remove 1 row`, `empty Email in 3 rows`. */
  readonly what: (report: ErasureReport) => string;
  readonly question: string;
  /** Lines about submissions that it does not reach; with any, the command exits 1. `reports`: those of a dry run. */
  readonly missed?: (reports: readonly ErasureReport[]) => readonly Line[];
}

/** `forget`: removes submissions from every target, and keeps them away; `--undo` lets them come back. */
export async function forget(
  call: CommandCall<ErasureFlags & { undo?: boolean }>,
): Promise<ExitCode> {
  const { host, args, options } = call;
  await using app = await openApp(host);
  const { targets, failed } = await openTargets(app, app.namesOf(options.target));
  const ids = [...new Set(args)];
  // A form that a person names is taken as correct.
  const form = await formOf(call, app);
  const source = app.config.source && app.source(host.stop.signal);
  const { forms, unknown, failure } =
    form === undefined
      ? await findForms({ source, targets }, ids)
      : { forms: [{ form, ids }], unknown: [], failure: null };
  const all = plural(new Set(forms.flatMap((each) => each.ids)).size, 'submission');
  const missed = (reports: readonly ErasureReport[]): Line[] => {
    const remedy = `To ${options.undo ? 'undo' : 'forget'} it anyway, name its form with --form.`;
    const texts = unknown.map((id) => `Nothing that could be asked has ${id}. ${remedy}`);
    if (unknown.length > 0 && failure !== null)
      texts.unshift(`${failure.message} (${failure.code})`);
    const reached = new Set(reports.map((report) => report.form.id));
    // A report without a form is about a target that could not be asked.
    const unmirrored = reached.has('') || options.undo ? [] : forms;
    for (const each of unmirrored.filter(({ form: { id } }) => !reached.has(id))) {
      const { id, name } = each.form;
      texts.push(
        `Nothing was remembered for ${each.ids.join(', ')}: its form "${name}" (${id}) is not mirrored in ${targets.map((one) => one.name).join(', ')}. ` +
          'If you add the form to TARGET_FORMS, run this command with that setting before sync or start.',
      );
    }
    return texts.map((text) => ({ sign: 'error', text }));
  };
  const erasure: Erasure = options.undo
    ? {
        command: 'forget --undo',
        erase: (how) => remember(targets, forms, how),
        what: ({ rows }) =>
          `let ${plural(rows, 'forgotten submission')} come back: the next run reads everything`,
        question: `Let ${all} come back with the next run?`,
        missed,
      }
    : {
        command: 'forget',
        erase: (how) => forgetSubmissions(targets, forms, how),
        what: ({ rows, asked }) => `remove ${plural(rows, 'submission')}, forget ${asked}`,
        question: `Remove ${all} from every target for good, and never copy again what the source still has?`,
        missed,
      };
  // The app stays open until this has ended.
  return await carryOut(call, app, erasure, failed);
}

/** The form that `--form` names. Throws USAGE for an unknown one. */
async function formOf(
  { host, options: { form, target } }: CommandCall<PlaceOptions>,
  app: App,
): Promise<FormIdentity | undefined> {
  if (form === undefined) return undefined;
  return (await findForm(app, form, app.namesOf(target), host.stop.signal)).form;
}

/** `purge`: removes rows that were marked deleted long ago, or the answers of fields that are no longer selected. */
export async function purge(
  call: CommandCall<ErasureFlags & { deletedBefore?: string; unselected?: boolean }>,
): Promise<ExitCode> {
  const { host, options } = call;
  const isByAge = options.deletedBefore !== undefined;
  const age = duration.safeParse(options.deletedBefore).data;
  if (isByAge === (options.unselected === true) || (isByAge && age === undefined)) {
    throw new MirrorError(
      'USAGE',
      'purge takes either --deleted-before with a time, such as 12h or 30d, a year at most, or --unselected.',
    );
  }
  await using app = await openApp(host);
  const { targets, failed } = await openTargets(app, app.namesOf(options.target));
  const formId = (await formOf(call, app))?.id;
  const beforeMs = host.clock.now() - (age ?? 0);
  const rows = `marked deleted before ${iso(beforeMs)}`;
  const erasure: Erasure = isByAge
    ? {
        command: 'purge --deleted-before',
        erase: (how) => purgeDeleted(targets, formId, beforeMs, how),
        what: (report) => `remove ${plural(report.rows, 'row')} ${rows}`,
        question: `Remove the rows that were ${rows} for good?`,
      }
    : {
        command: 'purge --unselected',
        erase: (how) => purgeLeftovers(targets, formId, how),
        what({ rows: emptied, fields }) {
          const labels = fields.map(({ id, label }) => `${label} (${id})`);
          return `empty ${labels.join(', ')} in ${plural(emptied, 'row')}`;
        },
        question:
          'Empty these columns of fields that are no longer selected, or that no run hashes? Only a field that is selected again is filled again.',
      };
  // The app stays open until this has ended.
  return await carryOut(call, app, erasure, failed);
}

/** How long an erasure waits for a run of the same form to end. */
const WAIT_MS = 10 * 60_000;

/**
 * Counts, asks a person, erases, and prints each step. Resolves to 1 if something could not be erased (including `failed` targets)
 * or the person answered no. Throws USAGE without a terminal.
 */
async function carryOut(
  call: CommandCall<ErasureFlags>,
  app: App,
  { command, erase, what, question, missed }: Erasure,
  unopened: Awaited<ReturnType<typeof openTargets>>['failed'],
): Promise<ExitCode> {
  const { options, host } = call;
  const waiting = { waitMs: WAIT_MS, signal: host.stop.signal, clock: host.clock };
  const print = (reports: readonly ErasureReport[], isDone: boolean): void =>
    host.terminal.print(
      ...reports.flatMap((report): Line[] => {
        const { target, form, failure, unowned } = report;
        const name = form.id === '' ? target : copyName(report);
        if (failure !== null)
          return [{ sign: 'error', text: `${name}: ${failure.message} (${failure.code})` }];
        const text = `${name}: ${what(report)}${isDone ? ': done' : ''}`;
        const remedy =
          'A row of a forgotten submission may be among them: look at them, and delete it.';
        return [
          { sign: isDone ? 'ok' : 'note', text },
          ...unowned.map(({ message }): Line => {
            return { sign: 'warning', text: `${name}: ${message}`, remedy };
          }),
        ];
      }),
    );
  const failed = unopened.map(({ target, failure }) => nothingErased(target, failure));
  const counted = [...(await erase({ ...waiting, dryRun: true })), ...failed];
  print(counted, false);
  const beyond = missed?.(counted) ?? [];
  host.terminal.print(...beyond);
  if (counted.length + beyond.length === 0) host.terminal.print('There is nothing to do.');
  let reports = counted;
  if (!options.dryRun && counted.some(({ failure }) => failure === null)) {
    if (!(await isConfirmed(call, question))) return 1;
    const done = await erase({ ...waiting, dryRun: false });
    print(done, true);
    reports = [...done, ...failed];
    logErasures(app.logger, { command, by: person() }, reports);
  }
  return beyond.length > 0 || reports.some(({ failure }) => failure !== null) ? 1 : 0;
}

/** `--yes` answers in advance. */
async function isConfirmed(
  { host, options }: CommandCall<ErasureFlags>,
  question: string,
): Promise<boolean> {
  if (options.yes) return true;
  if (host.ask === undefined) {
    throw new MirrorError(
      'USAGE',
      `${question} There is no terminal to confirm on: add --yes, or --dry-run to see what would happen.`,
    );
  }
  if (/^y(?:es)?$/i.test((await host.ask(`${question} [y/N] `)).trim())) return true;
  host.terminal.say('Nothing was changed.');
  return false;
}
