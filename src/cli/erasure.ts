import type { App } from '../app.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import {
  type ErasureOptions,
  type ErasureReport,
  logErasures,
  nothingErased,
  person,
} from '../sync/erase.ts';
import type { ChosenTarget } from '../sync/target.ts';
import type { CommandCall, PlaceOptions } from './command-spec.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';
import { copyName, type Line } from './lines.ts';

/*
 * The common procedure of `forget` and `purge`: they count, ask, erase and report.
 */

/** The options of an erasure. */
export type ErasureFlags = PlaceOptions & { readonly dryRun?: boolean; readonly yes?: boolean };

/** An erasure that a person asks for. */
export interface Erasure {
  /** As the log names it. */
  readonly command: string;
  /** Erases, or with `dryRun` only counts what would be erased. */
  readonly erase: (options: ErasureOptions) => Promise<readonly ErasureReport[]>;
  /** The erasure that a report is about, in words: `remove 1 row`, `empty Email in 3 rows`. */
  readonly what: (report: ErasureReport) => string;
  readonly question: string;
}

/** The targets that `--target` selects, and a report of each that cannot be opened; the others continue (L12). */
export async function openTargets(
  { target: only }: PlaceOptions,
  app: App,
): Promise<{ targets: readonly ChosenTarget[]; failed: readonly ErasureReport[] }> {
  const targets: ChosenTarget[] = [];
  const failed: ErasureReport[] = [];
  for (const name of app.namesOf(only)) {
    try {
      targets.push(await app.chosen(name));
    } catch (error) {
      failed.push(nothingErased(name, toMirrorError(error)));
    }
  }
  return { targets, failed };
}

/** How long an erasure waits for a run over the same form to end. */
const WAIT_MS = 10 * 60_000;

/**
 * Counts, asks a person, erases, and prints each step. Exits 1 where something could not be erased, in `failed` targets too, or the
 * person answered no. Throws USAGE without a terminal to ask on.
 */
export async function carryOut(
  call: CommandCall<ErasureFlags>,
  app: App,
  { command, erase, what, question }: Erasure,
  failed: readonly ErasureReport[],
): Promise<ExitCode> {
  const { options, host } = call;
  const waiting = { waitMs: WAIT_MS, signal: host.stop.signal, clock: host.clock };
  const lineOf = (report: ErasureReport, isDone: boolean): Line => {
    const { target, form, failure } = report;
    const name = form.id === '' ? target : copyName(report);
    return failure === null
      ? { sign: isDone ? 'ok' : 'note', text: `${name}: ${what(report)}${isDone ? ': done' : ''}` }
      : { sign: 'error', text: `${name}: ${failure.message} (${failure.code})` };
  };
  const counted = [...(await erase({ ...waiting, dryRun: true })), ...failed];
  host.terminal.tell(...counted.map((each) => lineOf(each, false)));
  if (counted.length === 0) host.terminal.print('There is nothing to do.');
  let reports = counted;
  if (!options.dryRun && counted.some(({ failure }) => failure === null)) {
    if (!(await isConfirmed(call, question))) return EXIT_CODES.FAILED.code;
    const done = await erase({ ...waiting, dryRun: false });
    host.terminal.tell(...done.map((each) => lineOf(each, true)));
    reports = [...done, ...failed];
    logErasures(app.logger, { command, by: person() }, reports);
  }
  const hasFailed = reports.some(({ failure }) => failure !== null);
  return (hasFailed ? EXIT_CODES.FAILED : EXIT_CODES.DONE).code;
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
      `${question} There is no terminal to ask on: add --yes, or --dry-run to see what would happen.`,
    );
  }
  if (/^y(?:es)?$/i.test((await host.ask(`${question} [y/N] `)).trim())) return true;
  host.terminal.say('Nothing was changed.');
  return false;
}
