import type { ExitCode } from '../base/exit-codes.ts';
import { count, plural } from '../base/format.ts';
import { type Coverage, exactCoverageText } from '../health/coverage.ts';
import { readRecordedForm } from '../health/recorded-health.ts';
import type { Pause } from '../mirror/pauses.ts';
import { type Explanation, explainSubmission, type SubmissionInTarget } from '../sync/explain.ts';
import type { CommandCall } from './command-spec.ts';
import { openApp } from './open-app.ts';
import { pauseAt, pauseNote } from './pausing.ts';
import { requirePicks } from './selection.ts';
import type { Terminal } from './terminal.ts';

/** `explain`: where one submission stands. */
export async function run({ host, args: [id = ''], flag }: CommandCall): Promise<ExitCode> {
  const { signal } = host.stop;
  await using app = await openApp(host, { source: true });
  const { targets, hashKey, marking } = app.config;
  await requirePicks(host, app);
  const opened = targets.map(async ({ name }) => {
    const target = await app.target(name);
    await app.readSlugs(name);
    return {
      target,
      picks: app.picksOf(name),
      hashKey,
      mirrors: (form: { id: string; slug: string }) => app.isChosen(name, form),
    };
  });
  const explanation = await explainSubmission(
    { client: app.client, clock: host.clock },
    await Promise.all(opened),
    id,
    marking,
    signal,
  );
  const { form } = explanation;
  const copies: CopyOfForm[] = [];
  for (const stored of explanation.targets) {
    const target = await app.target(stored.target);
    const reading = app.readingOf(stored.target);
    const held = form && (await readRecordedForm(target, reading, form.id, host.clock.now()));
    copies.push({ ...stored, covers: held?.covers ?? null });
  }
  const paused: { target: string; pause: Pause }[] = [];
  for (const { name } of form === null ? [] : targets) {
    const pause = await pauseAt(app, name, form?.id ?? '');
    if (pause !== null) paused.push({ target: name, pause });
  }
  if (flag('json')) host.terminal.printJson({ ...explanation, targets: copies, paused });
  else printExplanation(host.terminal, { ...explanation, targets: copies });
  for (const { target, pause } of flag('json') ? [] : paused) {
    host.terminal.print(`· ${target}: ${pauseNote(pause, target)}`);
  }
  // An ID that neither the source nor a target knows is most likely a typo.
  return explanation.source === null && explanation.form === null ? 1 : 0;
}

/** Where the submission stands in a target, and what is known there of its form; null where the form is not held. */
interface CopyOfForm extends SubmissionInTarget {
  readonly covers: Coverage | null;
}

function printExplanation(
  terminal: Terminal,
  {
    submissionId,
    source,
    form,
    targets,
    marking,
  }: Explanation & { readonly targets: readonly CopyOfForm[] },
): void {
  terminal.print(
    `${terminal.style('bold', submissionId)}${form ? ` of ${form.name} (${form.id})` : ''}`,
  );
  terminal.print(
    source === null
      ? 'source: answers 404, so it was deleted or never existed'
      : `source: ${source.status}, created ${source.createdAt}, ${plural(source.answers, 'answer')}`,
  );
  for (const defect of source?.defects ?? []) terminal.print(`    ! ${defect}`);
  for (const target of targets) printTarget(terminal, target);
  terminal.print(`marking: ${marking}`);
}

const STATES = {
  current: 'stored, the same as the source',
  different: 'stored, but different from the source',
  extra: 'stored, though the source does not have it: a look, or the next full pass, finds out',
  deleted: 'marked deleted',
  absent: 'not stored',
  forgotten: 'forgotten on request',
  'not-mirrored': 'its form is not mirrored here',
} as const satisfies Record<SubmissionInTarget['state'], string>;

function printTarget(terminal: Terminal, stored: CopyOfForm): void {
  const status = stored.status === null ? '' : `, status ${stored.status}`;
  const at = stored.deletedAt ?? stored.forgottenAt;
  const since = at === null ? '' : ` since ${at}`;
  terminal.print(`${stored.target}: ${STATES[stored.state]}${since}${status}`);
  if (stored.forgottenAt !== null) {
    terminal.print('    it has no row here, and no pass brings it back before forget --undo');
  }
  if (stored.history > 0 && stored.state !== 'current') {
    const entries = `${count(stored.history)} ${stored.history === 1 ? 'entry' : 'entries'}`;
    terminal.print(`    histories here hold ${entries} of it: forget removes them`);
  }
  if (stored.differing.length > 0) terminal.print(`    differs in: ${stored.differing.join(', ')}`);
  for (const reason of stored.rejected) terminal.print(`    listed as rejected: ${reason}`);
  for (const { wanted, status: from, reason, at } of stored.refusals) {
    const change = wanted === '' ? 'a change' : wanted;
    terminal.print(`    the source refused ${change} from ${from} at ${at}: ${reason}`);
  }
  if (stored.covers === null) return;
  terminal.print(`    of its form here: ${exactCoverageText(stored.covers)}`);
}
