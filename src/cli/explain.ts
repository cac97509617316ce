import type { MirrorError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import type { EntryKind } from '../mirror/port.ts';
import { type Explanation, explainSubmission, type SubmissionInTarget } from '../sync/explain.ts';
import type { CommandCall, ExitCode } from './host.ts';
import { openApp } from './open-app.ts';
import { openTargets } from './selection.ts';
import type { Terminal } from './terminal.ts';

/** `explain`: finds one submission everywhere. */
export async function explain({
  host,
  args: [id = ''],
  options,
}: CommandCall<{ json?: boolean }>): Promise<ExitCode> {
  await using app = await openApp(host, { source: true, fields: true });
  const { terminal, stop } = host;
  const { targets, failed } = await openTargets(app, app.targetNames);
  const { failure, ...explanation } = await explainSubmission(app.source(stop.signal), targets, id);
  if (options.json) {
    const unread = failed.map(({ target, failure: { code, message } }) => {
      return { target, code, error: message };
    });
    const sourceError = failure && { code: failure.code, error: failure.message };
    terminal.printJson({ ...explanation, sourceError, failed: unread });
  } else {
    printExplanation(terminal, explanation, failure);
    for (const { target, failure } of failed)
      terminal.print({ sign: 'error', text: `${target}: ${failure.message}` });
  }
  // An ID that neither the source nor a target has is most likely a typing mistake.
  const isUnknown = explanation.source === null && explanation.form === null;
  return isUnknown || failure !== null || failed.length > 0 ? 1 : 0;
}

function printExplanation(
  terminal: Terminal,
  { submissionId, source, form, targets }: Omit<Explanation, 'failure'>,
  failure: MirrorError | null,
): void {
  terminal.print(`${submissionId}${form ? ` of ${form.name} (${form.id})` : ''}`);
  if (failure !== null) terminal.print({ sign: 'error', text: `source: ${failure.message}` });
  else
    terminal.print(
      source === null
        ? 'source: answers 404 or 410, so it was deleted or never existed'
        : `source: ${source.status}, created ${source.createdAt ?? 'at no usable time'}, ${plural(source.answers, 'answer')}`,
    );
  for (const defect of source?.defects ?? []) terminal.print(`    ! ${defect}`);
  for (const target of targets) printTarget(terminal, target);
}

const STATES = {
  current: 'stored, the same as the source',
  different: 'stored, but different from the source',
  extra: 'stored, but the source does not have it',
  stored: 'stored; not compared with the source',
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
