import { plural } from '../base/format.ts';
import type { EntryKind } from '../mirror/port.ts';
import { type Explanation, explainSubmission, type SubmissionInTarget } from '../sync/explain.ts';
import type { CommandCall, ExitCode } from './host.ts';
import { openApp } from './open-app.ts';
import type { Terminal } from './terminal.ts';

/** `explain`: where one submission is. */
export async function explain({
  host,
  args: [id = ''],
  options,
}: CommandCall<{ json?: boolean }>): Promise<ExitCode> {
  await using app = await openApp(host, { source: true, fields: true });
  const opened = await Promise.all(app.targetNames.map((name) => app.chosen(name)));
  const explanation = await explainSubmission(app.source(host.stop.signal), opened, id);
  if (options.json) host.terminal.printJson(explanation);
  else printExplanation(host.terminal, explanation);
  // An ID that neither the source nor a target has is most likely a typing mistake.
  return explanation.source === null && explanation.form === null ? 1 : 0;
}

function printExplanation(
  terminal: Terminal,
  { submissionId, source, form, targets }: Explanation,
): void {
  terminal.print(`${submissionId}${form ? ` of ${form.name} (${form.id})` : ''}`);
  terminal.print(
    source === null
      ? 'source: answers 404, so it was deleted or never existed'
      : `source: ${source.status}, created ${source.createdAt ?? 'at no usable time'}, ${plural(source.answers, 'answer')}`,
  );
  for (const defect of source?.defects ?? []) terminal.print(`    ! ${defect}`);
  for (const target of targets) printTarget(terminal, target);
}

const STATES = {
  current: 'stored, the same as the source',
  different: 'stored, but different from the source',
  extra: 'stored, but the source does not have it: the next poll or row comparison checks this',
  deleted: 'marked deleted',
  absent: 'not stored',
  forgotten: 'forgotten on request',
  'not-mirrored': 'its form is not mirrored here',
} as const satisfies Record<SubmissionInTarget['state'], string>;

const LISTED = {
  rejected: 'listed as rejected',
  held: 'its deletion is held',
  undecided: 'listed as undecided',
  refused: 'the source refused to change its status',
  forgotten: 'forgotten',
} as const satisfies Record<EntryKind, string>;

function printTarget(terminal: Terminal, stored: SubmissionInTarget): void {
  const status = stored.status === null ? '' : `, status ${stored.status}`;
  const at = stored.deletedAt ?? stored.forgottenAt;
  const since = at === null ? '' : ` since ${at}`;
  terminal.print(`${stored.target}: ${STATES[stored.state]}${since}${status}`);
  if (stored.forgottenAt !== null)
    terminal.print('    it has no row here; only forget --undo lets it come back');
  if (stored.differing.length > 0) terminal.print(`    differs in: ${stored.differing.join(', ')}`);
  for (const { kind, reason, at: since } of stored.listed)
    terminal.print(`    ${LISTED[kind]} since ${since}: ${reason}`);
}
