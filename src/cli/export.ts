import type { App } from '../app.ts';
import { MirrorError, stopReason } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { exactClaimText, type FormReport } from '../health/report.ts';
import type { FormSnapshot } from '../mirror/port.ts';
import { pauseText } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { heldForms, type Target } from '../sync/target.ts';
import type { CommandCall } from './command-spec.ts';
import { columnNames, csvFormat, type ExportFormat, jsonLinesFormat } from './export-format.ts';
import { formIn, reportNow } from './health-sources.ts';
import { openApp } from './open-app.ts';
import { requireForm } from './selection.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';

/** `export`: the rows of one form as a target holds them. Asks the source nothing. */
export async function run(call: CommandCall): Promise<ExitCode> {
  if (call.flag('dbt')) return (await import('./export-dbt.ts')).printDbtSources(call);
  const { host, flag } = call;
  const formatOf = formatFor(call);
  await using app = await openApp(host);
  const { target, form } = await findForm(call, app);
  // Before the rows: no claim about them may be newer than they are.
  const copy = formIn(await reportNow(app, host, [target.name]), target.name, form.id);
  await using snapshot = await target.store.snapshot(form.id);
  if (snapshot === null) throw emptyTarget(target);
  const format = formatOf(columnNames(snapshot.columns, flag('labels')));
  const rows = await writeRows(call, snapshot, format);
  // The reader has closed the pipe.
  if (rows === undefined) return EXIT_CODES.DONE.code;
  const [first = '', ...warnings] = summary(rows, copy);
  host.terminal.say(`${form.name}, ${target.name}: ${first}.`);
  for (const warning of warnings) host.terminal.sayWith('warning', warning);
  if (format.apostrophes > 0) host.terminal.sayWith('note', apostropheNote(format.apostrophes));
  return EXIT_CODES.DONE.code;
}

/** Throws USAGE for options that do not fit. */
function formatFor({ text, flag }: CommandCall): (names: readonly string[]) => ExportFormat {
  const format = text('format');
  if (format === 'csv') return (names) => csvFormat(names, { bom: flag('bom'), raw: flag('raw') });
  if (format !== 'jsonl') {
    throw new MirrorError('USAGE', `--format takes csv or jsonl, not ${String(format)}.`);
  }
  if (flag('bom') || flag('raw')) {
    const option = flag('bom') ? '--bom' : '--raw';
    throw new MirrorError(
      'USAGE',
      `${option} is for CSV: JSON is UTF-8, and keeps texts unchanged.`,
    );
  }
  return jsonLinesFormat;
}

/** The target that holds the form. Throws USAGE where none does, or several do and none was named. */
async function findForm(
  { args: [wanted = ''], text }: CommandCall,
  app: App,
): Promise<{ target: Target; form: FormIdentity }> {
  const held: { readonly target: Target; readonly form: FormIdentity }[] = [];
  for (const name of app.namesOf(text('target'))) {
    const target = await app.target(name);
    const forms = await heldForms(target);
    held.push(...forms.map((form) => ({ target, form })));
    if (forms.length === 0 && text('target') !== undefined) throw emptyTarget(target);
  }
  const [first = ''] = app.targetNames;
  if (held.length === 0) throw emptyTarget(await app.target(first));
  const forms = held.map(({ form }) => form);
  const { id } = requireForm(forms, wanted);
  return onlyOne(held.filter(({ form }) => form.id === id));
}

/** Throws USAGE where a person has to name the target. */
export function onlyOne<T extends { readonly target: Target }>(found: readonly T[]): T {
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  const which = found.map(({ target }) => target.name).join(', ');
  throw new MirrorError('USAGE', `Several targets have it. Name one with --target (${which}).`);
}

/** Nothing has been mirrored into the target. */
export const emptyTarget = ({ name, address }: Target): MirrorError =>
  new MirrorError(
    'USAGE',
    `Target ${name} (${address}) has no form yet. Run forms-mirror sync or start first.`,
  );

/** How many rows were written; undefined when their reader went away. */
async function writeRows(
  { host: { terminal, stop }, flag }: CommandCall,
  snapshot: FormSnapshot,
  format: ExportFormat,
): Promise<number | undefined> {
  let rows = 0;
  if (!(await terminal.pipe(format.head))) return undefined;
  for await (const piece of snapshot.rows({ withDeleted: flag('deleted') })) {
    if (stop.signal.aborted) throw stopReason(stop.signal);
    rows += piece.length;
    if (!(await terminal.pipe(format.rows(piece)))) return undefined;
  }
  return rows;
}

/** How many rows there are, the claim about them, and the known problems with them (L17). */
function summary(rows: number, copy: FormReport | null): string[] {
  const isClaimed = copy !== null && copy.claim.submissionsAsOf !== null;
  const warnings = (copy?.problems ?? [])
    .filter(({ code }) => code === 'COPY_OUTDATED')
    .map(({ message }) => message);
  return [
    `${plural(rows, 'row')}${isClaimed ? `; ${exactClaimText(copy.claim)}` : ''}`,
    ...(isClaimed
      ? []
      : [
          'This copy is not proven complete: rows may be missing. forms-mirror sync reads the form.',
        ]),
    ...warnings,
    ...(copy?.pause
      ? [
          `It is ${pauseText(copy.pause)}: the copy is as of that time. To resume: ${copy.pause.command}`,
        ]
      : []),
  ];
}

const apostropheNote = (apostrophes: number): string =>
  `${plural(apostrophes, 'text')} that a spreadsheet could run as a formula begin${apostrophes === 1 ? 's' : ''} with an apostrophe here. With --raw, texts stay unchanged.`;
