import { MirrorError, stopReason } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { exactClaimText, type FormReport } from '../health/report.ts';
import { pauseText } from '../mirror/pauses.ts';
import type { FormSnapshot } from '../mirror/port.ts';
import { csvFormat, type ExportFormat, jsonLinesFormat } from './export-format.ts';
import { reportNow } from './health-sources.ts';
import type { CommandCall, ExitCode } from './host.ts';
import { openApp } from './open-app.ts';
import { findForm } from './selection.ts';

interface ExportOptions {
  readonly format: 'csv' | 'jsonl';
  readonly labels?: boolean;
  readonly deleted?: boolean;
  readonly target?: string;
}

/** `export`: the rows of one form in a target. */
export async function exportRows(call: CommandCall<ExportOptions>): Promise<ExitCode> {
  const { host, args, options } = call;
  await using app = await openApp(host);
  const names = app.namesOf(options.target);
  const found = await findForm(app, args[0] ?? '', names, host.stop.signal);
  const { form } = found;
  const [name, ...others] = found.targets;
  if (name === undefined) {
    const message = `No target has the form ${form.slug} yet. Run forms-mirror sync or start first.`;
    throw found.failure ?? new MirrorError('USAGE', message);
  }
  if (others.length > 0) {
    const which = found.targets.join(', ');
    throw new MirrorError('USAGE', `Several targets have it. Name one with --target (${which}).`);
  }
  // Read before the rows, so that no claim is newer than the rows.
  const { forms } = await reportNow(app, host, [name]);
  const copy = forms.find((one) => one.form.id === form.id) ?? null;
  const { store } = await app.target(name);
  await using snapshot = await store.snapshot(form.id);
  const columns = (snapshot?.columns ?? []).map((column) =>
    options.labels ? column.label : column.name,
  );
  const format = options.format === 'csv' ? csvFormat(columns) : jsonLinesFormat(columns);
  const rows = snapshot && (await writeRows(call, snapshot, format));
  // Null if the reader has closed the pipe.
  if (rows !== null) {
    const [first = '', ...warnings] = summary(rows, copy);
    host.terminal.say(`${form.name}, ${name}: ${first}.`);
    host.terminal.say(...warnings.map((text) => ({ sign: 'warning', text }) as const));
  }
  return 0;
}

/** How many rows were written; null if the reader went away. */
async function writeRows(
  { host: { terminal, stop }, options }: CommandCall<ExportOptions>,
  snapshot: FormSnapshot,
  format: ExportFormat,
): Promise<number | null> {
  let rows = 0;
  if (!(await terminal.pipe(format.head))) return null;
  for await (const piece of snapshot.rows({ withDeleted: options.deleted === true })) {
    if (stop.signal.aborted) throw stopReason(stop.signal);
    rows += piece.length;
    if (!(await terminal.pipe(format.rows(piece)))) return null;
  }
  return rows;
}

/** The number of rows, the claim about them, and known problems with them (L17). */
function summary(rows: number, copy: FormReport | null): string[] {
  const isClaimed = copy !== null && copy.claim.submissionsAsOf !== null;
  const claim = isClaimed ? `; ${exactClaimText(copy.claim)}` : '';
  const unproven =
    'This copy is not proven complete: rows may be missing. forms-mirror sync reads the form.';
  const outdated = (copy?.problems ?? []).filter(({ code }) => code === 'COPY_OUTDATED');
  return [
    `${plural(rows, 'row')}${claim}`,
    ...(isClaimed ? [] : [unproven]),
    ...outdated.map(({ message }) => message),
    ...(copy?.pause ? [`It is ${pauseText(copy.pause)}: the copy is as of that time.`] : []),
  ];
}
