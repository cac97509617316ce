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
import type { CommandCall } from './command-spec.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';
import type { Terminal } from './terminal.ts';

/*
 * The common procedure of `forget` and `purge`: they count, ask, erase and report.
 */

/** An erasure that a person asks for. */
export interface Erasure {
  /** As the log names it. */
  readonly command: string;
  /** Erases, or with `dryRun` only counts what would be erased. */
  readonly erase: (options: ErasureOptions) => Promise<readonly ErasureReport[]>;
  /** A report in words, before and after: `1 row to remove`, `1 row removed`. */
  readonly what: (report: ErasureReport) => readonly [toDo: string, done: string];
  readonly question: (preview: readonly ErasureReport[]) => string;
  /** Printed when there is nothing to do. */
  readonly nothing: string;
}

/** The targets that `--target` selects, and a report of each that cannot be opened; the others continue (L12). */
export async function openTargets(
  { text }: CommandCall,
  app: App,
): Promise<{ targets: readonly ChosenTarget[]; failed: readonly ErasureReport[] }> {
  const targets: ChosenTarget[] = [];
  const failed: ErasureReport[] = [];
  for (const name of app.namesOf(text('target'))) {
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
  call: CommandCall,
  app: App,
  { command, erase, what, question, nothing }: Erasure,
  failed: readonly ErasureReport[],
): Promise<ExitCode> {
  const { flag, host } = call;
  const waiting = { waitMs: WAIT_MS, signal: host.stop.signal, clock: host.clock };
  const counted = [...(await erase({ ...waiting, dryRun: true })), ...failed];
  for (const each of counted) printErasure(host.terminal, each, what(each)[0]);
  if (counted.length === 0) host.terminal.print(nothing);
  let reports = counted;
  if (!flag('dryRun') && counted.some(({ failure }) => failure === null)) {
    if (!(await isConfirmed(call, question(counted)))) return EXIT_CODES.FAILED.code;
    const done = await erase({ ...waiting, dryRun: false });
    for (const each of done) printErasure(host.terminal, each, what(each)[1]);
    reports = [...done, ...failed];
    logErasures(app.logger, { command, by: person() }, reports);
  }
  const hasFailed = reports.some(({ failure }) => failure !== null);
  return (hasFailed ? EXIT_CODES.FAILED : EXIT_CODES.DONE).code;
}

/** `--yes` answers in advance. */
async function isConfirmed({ host, flag }: CommandCall, question: string): Promise<boolean> {
  if (flag('yes')) return true;
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

/** `contact → default: 1 row to remove`, or why nothing was done. */
function printErasure(terminal: Terminal, report: ErasureReport, what: string): void {
  const { target, form, failure } = report;
  const name = form.id === '' ? target : `${form.slug} → ${target}`;
  const text = failure === null ? what : `${failure.message} (${failure.code})`;
  terminal.tell(failure === null ? 'ok' : 'error', `${name}: ${text}`);
}
