import type { App } from '../app.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import { plural } from '../base/format.ts';
import { type ErasureReport, NO_TRACES } from '../sync/erase.ts';
import type { Target, Waiting } from '../sync/target.ts';
import type { CommandCall } from './command-spec.ts';
import type { Terminal } from './terminal.ts';

/** The targets that `--target` selects, and a report of each that can't be opened: it holds up no other (L12). */
export async function openTargets(
  { text }: CommandCall,
  app: App,
): Promise<{ targets: readonly Target[]; failed: readonly ErasureReport[] }> {
  const only = text('target');
  const targets: Target[] = [];
  const failed: ErasureReport[] = [];
  for (const name of only === undefined ? app.targetNames : [app.settingsOf(only).name]) {
    try {
      const target = await app.target(name);
      await app.readSlugs(name);
      targets.push(target);
    } catch (error) {
      const form = { id: '', slug: '', name: '' };
      const failure = toMirrorError(error);
      failed.push({ target: name, form, asked: 0, ...NO_TRACES, failure });
    }
  }
  return { targets, failed };
}

/** How long an erasure waits for a run over the same form to end. */
const WAIT_FOR_RUN_MS = 10 * 60_000;

/** How an erasure waits for a run over the same form to end. */
export const waitingFor = ({ host }: CommandCall): Waiting => ({
  waitMs: WAIT_FOR_RUN_MS,
  signal: host.stop.signal,
  clock: host.clock,
});

/**
 * Asks a person whether to go on; `--yes` answers in advance. Returns false for a no. Throws USAGE without a
 * terminal to ask on.
 */
export async function isConfirmed({ host, flag }: CommandCall, question: string): Promise<boolean> {
  if (flag('yes')) return true;
  if (host.ask !== undefined) {
    const answer = await host.ask(`${question} [y/N] `);
    if (/^y(?:es)?$/i.test(answer.trim())) return true;
    host.terminal.say('Nothing was changed.');
    return false;
  }
  throw new MirrorError(
    'USAGE',
    `${question} There is no terminal to ask on: add --yes, or --dry-run to see what would happen.`,
  );
}

/** One form of one target, as `--json` prints it. */
export const erasureDocument = (report: ErasureReport): Record<string, unknown> => ({
  target: report.target,
  form: report.form.id,
  slug: report.form.slug,
  rows: report.rows,
  listings: report.listings,
  refusals: report.refusals,
  code: report.failure?.code ?? null,
  error: report.failure?.message ?? null,
});

/** `contact → default: 1 row, 2 listings`, or why nothing was done. */
export function printErasure(terminal: Terminal, report: ErasureReport, what: string): void {
  const { target, form, failure } = report;
  const name = form.id === '' ? target : `${form.slug} → ${target}`;
  if (failure !== null) {
    terminal.print(`${terminal.style('red', '✗')} ${name}: ${failure.message} (${failure.code})`);
    return;
  }
  terminal.print(`${terminal.style('green', '✓')} ${name}: ${what}`);
}

/** `1 row, 2 listings of rejected, 1 refused status change`. */
export function removedText({ rows, listings, refusals }: ErasureReport): string {
  return [
    plural(rows, 'row'),
    ...(listings > 0 ? [plural(listings, 'listing of rejected', 'listings of rejected')] : []),
    ...(refusals > 0 ? [plural(refusals, 'refused status change')] : []),
  ].join(', ');
}

/** 1 when something could not be erased. */
export const erasureExitCode = (reports: readonly ErasureReport[]): ExitCode =>
  (reports.some(({ failure }) => failure !== null) ? EXIT_CODES.FAILED : EXIT_CODES.DONE).code;
