import { PROBLEMS } from '../base/catalogue.ts';
import { count, duration, plural, someOf } from '../base/format.ts';
import {
  claimText,
  exceptText,
  NO_CLAIM,
  OUTCOME_TEXTS,
  oldestClaim,
  type ShownClaim,
  shownClaim,
} from '../health/report.ts';
import type { RunReport } from '../sync/run-form.ts';
import type { Difference } from '../sync/compare.ts';
import type { RunOptions } from '../sync/work.ts';
import type { WriteBackReport } from '../sync/write-back.ts';
import { copyName, noticeLines, signOf } from './lines.ts';
import type { Host } from './host.ts';
import type { Line } from './terminal.ts';

/*
 * How `sync` shows runs and write-backs, as lines and as JSON.
 */

/** How often a long run reports its progress. */
const LINE_EVERY_MS = 5_000;

/** Reports the progress of a run that begins now on stderr, if it takes long. */
export function progressOf(
  name: string,
  { terminal, clock }: Pick<Host, 'terminal' | 'clock'>,
): RunOptions['onProgress'] {
  let saidAtMs = clock.now();
  return (seen, total) => {
    if (clock.now() - saidAtMs < LINE_EVERY_MS) return;
    saidAtMs = clock.now();
    terminal.say(`${name}: ${count(seen)} of ${count(total)}`);
  };
}

/**
 * The outcome of a run, its changes and its cost; below it, why it read everything, and changes by people. A complete copy is named
 * with its exceptions.
 */
export function runLines(report: RunReport): Line[] {
  const isOk = report.outcome === 'ok';
  const changes = [
    ...someOf(report.inserted, 'new'),
    ...someOf(report.updated, 'changed'),
    ...someOf(report.deleted, 'deleted'),
    ...someOf(report.held, 'held'),
    ...(isOk ? [] : someOf(report.rejected, 'rejected')),
  ];
  const what = changes.length > 0 ? changes.join(', ') : 'nothing written';
  const cost = `${plural(report.requests, 'request')}, ${duration(lengthOf(report))}`;
  const { text: outcome, state } = OUTCOME_TEXTS[report.outcome];
  const code = report.code === null ? '' : ` (${report.code})`;
  const except = isOk ? exceptText(claimAfter(report)) : '';
  const name = copyName(report);
  const text = `${name}: ${outcome}${code}${except}; ${what} (${cost})`;
  const run: Line = { sign: signOf(state), text, details: report.reasons };
  return [run, ...noticeLines(name, report.notices)];
}

/** How long a run took, in milliseconds. */
const lengthOf = ({ startedAtMs, endedAtMs }: RunReport): number =>
  Math.max(0, endedAtMs - startedAtMs);

/** What went wrong, each message once: a target that cannot be reached fails every form with the same one. */
export function errorLines(runs: readonly RunReport[]): Line[] {
  const failed = runs.filter(({ error }) => error !== null);
  return [...Map.groupBy(failed, ({ error }) => error)].map(([error, group]) => {
    const [first] = group;
    const who = first && group.length === 1 ? copyName(first) : plural(group.length, 'run');
    const remedy = first?.code && PROBLEMS[first.code].remedy;
    return { sign: 'error', text: `${who}: ${error}`, remedy };
  });
}

/** How many changes of a dry run are named; the others are counted. */
const MOST_NAMED = 50;

/** The names of differences in a dry run, in JSON and in words. */
const FORESEEN: Readonly<Record<Difference['kind'], readonly [kind: string, words: string]>> = {
  missing: ['inserted', 'would be new'],
  changed: ['updated', 'would change'],
  marked: ['restored', 'would be restored'],
  extra: ['deleted', 'would be marked deleted'],
};

/** The predicted changes for `sync --dry-run --json`. */
export const foreseenDocuments = ({ form, target, foreseen }: RunReport) =>
  foreseen.map(({ kind, id, columns }) => {
    return { form: form.id, slug: form.slug, target, kind: FORESEEN[kind][0], id, columns };
  });

/** What a dry run predicts: each row, and for a changed row its columns. */
export function foreseenLines(run: RunReport): Line[] {
  const { foreseen } = run;
  if (foreseen.length === 0) return [];
  const named = foreseen.slice(0, MOST_NAMED).map(({ kind, id, columns }) => {
    return `${id} ${FORESEEN[kind][1]}${columns.length === 0 ? '' : `: ${columns.join(', ')}`}`;
  });
  const more = foreseen.length - named.length;
  const details = more > 0 ? [...named, `… and ${count(more)} more: --json names all`] : named;
  return [{ sign: 'note', text: copyName(run), details }];
}

/** What write-back did to a form; empty if it did nothing. */
export function writeBackLines(report: WriteBackReport): Line[] {
  const { form, outcome, written, refused, failed, failure } = report;
  const parts = [
    ...(written > 0 ? [`${plural(written, 'status', 'statuses')} changed`] : []),
    ...someOf(refused, 'refused by the source'),
    ...someOf(failed, 'failed'),
    ...(outcome === 'waiting' ? ['a target does not have it yet, or is busy'] : []),
    ...(failure === null ? [] : [failure.message]),
  ];
  if (parts.length === 0) return [];
  const sign = failure === null ? 'note' : 'error';
  return [{ sign, text: `Write-back of ${form.slug}: ${parts.join('; ')}` }];
}

/** One line that sums up all runs. */
export function summaryLine(
  runs: readonly RunReport[],
  { isDryRun, nowMs }: { readonly isDryRun: boolean; readonly nowMs: number },
): Line {
  if (runs.length === 0)
    return { sign: 'note', text: 'There was nothing to do: no form is mirrored.' };
  const sum = (of: (run: RunReport) => number): string =>
    count(runs.reduce((total, run) => total + of(run), 0));
  const changes = `${sum(({ inserted }) => inserted)} new, ${sum(({ updated }) => updated)} changed, ${sum(({ deleted }) => deleted)} deleted`;
  const what = isDryRun ? `Nothing was written; it would be ${changes}` : changes;
  const proven = runs.filter(({ outcome }) => outcome === 'ok').length;
  if (proven < runs.length) {
    const others = `${count(runs.length - proven)} of ${plural(runs.length, 'run')}`;
    return { sign: 'error', text: `${others} did not complete. ${what}.` };
  }
  if (isDryRun) return { sign: 'ok', text: `${what}.` };
  const all = plural(runs.length, 'copy is', 'copies are');
  const claim = claimText(oldestClaim(runs.map(claimAfter)), nowMs);
  return { sign: 'ok', text: `${all} complete: ${claim}. ${changes}.` };
}

/** The claim about the copy after a run. */
const claimAfter = ({ claim, held, endedAtMs }: RunReport): ShownClaim =>
  claim === null ? { ...NO_CLAIM, held } : shownClaim(claim, endedAtMs);

/** A run for `sync --json`. */
export function runDocument(report: RunReport): Record<string, unknown> {
  const { form, target, outcome, code, error, reasons, notices } = report;
  const { inserted, updated, unchanged, deleted, held, rejected, requests } = report;
  return {
    form: form.id,
    slug: form.slug,
    target,
    outcome,
    code,
    full: report.isWhole,
    inserted,
    updated,
    unchanged,
    deleted,
    held,
    rejected,
    claim: claimAfter(report),
    requests,
    ms: lengthOf(report),
    error,
    reasons,
    notices,
  };
}

/** A write-back for `sync --json`. */
export function writeBackDocument({ form, failure, ...report }: WriteBackReport) {
  const { code = null, message: error = null } = failure ?? {};
  return { form: form.id, slug: form.slug, ...report, code, error };
}
