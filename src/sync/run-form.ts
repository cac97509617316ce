import type { Applied, Run, TargetNotice } from '../mirror/port.ts';
import type { ProblemCode } from '../base/catalogue.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { shellOption } from '../base/printable.ts';
import type { FormIdentity } from '../mirror/types.ts';
import {
  accountedInAll,
  type Claim,
  claimOf,
  type FormState,
  identityOf,
  liveRows,
  type OutcomeName,
  runEnded,
} from '../mirror/form-state.ts';
import { noteGone, openForWriting } from './open-form.ts';
import { loadProfile } from './profile.ts';
import { NOTHING_APPLIED, type Sink } from './sink.ts';
import { sync } from './sync.ts';
import { type Target, whileBusy } from './target.ts';
import type { Difference } from './compare.ts';
import { Incomplete, type RunOptions, type Work } from './work.ts';

/** The result of a run, for people. */
export interface RunReport extends Run {
  readonly form: FormIdentity;
  readonly target: string;
  readonly code: ProblemCode | null;
  /** How many submissions the target accounts for; null if it was not opened. */
  readonly accounted: number | null;
  /** The claim about the copy after the run; null if the target was not opened, or did not store the record of the run. */
  readonly claim: Claim | null;
  /** Why everything was read again, one sentence each. */
  readonly reasons: readonly string[];
  /** What a person should attend to in the target. */
  readonly notices: readonly TargetNotice[];
  /** The error behind `code` and `error`; null: source and copy agree. */
  readonly failure: MirrorError | null;
  /** The changes that a dry run predicts; empty for any other run. */
  readonly foreseen: readonly Difference[];
}

/**
 * Brings a form in a target up to date, and records the result there. Never rejects: failures are in the report, and the rows stored
 * before stay.
 */
export async function runForm(
  target: Target,
  identity: FormIdentity,
  asked: RunOptions,
  signal: AbortSignal,
): Promise<RunReport> {
  const { clock } = target;
  const startedAtMs = clock.now();
  const source = target.connect(signal);
  const report = (ending: MirrorError | null, found: Partial<RunReport> = {}): RunReport => ({
    ...blankRun(identity, target.name, ending, startedAtMs, clock.now()),
    requests: source.requests,
    ...found,
  });

  let opened: Sink;
  try {
    const form = await source.formOrNull(identity.id);
    if (form === null) {
      const run = report(formGone(identity));
      await noteGone(target, identity, run);
      return run;
    }
    const waiting = { waitMs: asked.waitMs ?? 0, signal };
    opened = await whileBusy(clock, waiting, () => openForWriting(target, source, form));
  } catch (error) {
    return report(toMirrorError(error));
  }

  await using sink = opened;
  const { form, reasons } = sink;
  const notices: TargetNotice[] = [];
  let ending: MirrorError | null;
  let isWhole = false;
  try {
    if (form.state.ranges.length === 0) await asked.onEmpty?.(identityOf(form.state));
    const profile = await loadProfile(target);
    const work = {
      target,
      source,
      form,
      sink,
      profile,
      asked,
      shortBy: 0,
      seen: 0,
    };
    const before = new Set([null, ...form.state.ranges.map(({ readAtMs }) => readAtMs)]);
    ending = await syncToEnd(work);
    // Every range has a new time. Whether it is a later one says nothing, because clocks can go back.
    isWhole =
      outcomeOf(ending) !== 'failed' &&
      form.state.ranges.length > 0 &&
      form.state.ranges.every(({ readAtMs }) => !before.has(readAtMs));
    await profile.save();
  } catch (error) {
    ending = toMirrorError(error);
    // A batch that is still being stored counts.
    await sink.settled();
  }
  let isRecorded = true;
  const about = (): RunReport =>
    report(ending, {
      form: identityOf(form.state),
      ...counted(sink.applied, form.state),
      held: form.state.tally.held,
      isWhole,
      accounted: accountedInAll(form.state.tally),
      claim: isRecorded ? claimOf(form.state, null) : null,
      reasons,
      notices,
    });
  try {
    const run = about();
    const { outcome } = run;
    if (outcome !== 'paused' && outcome !== 'busy')
      await form.commit({ run, state: (state) => runEnded(state, run) });
    notices.push(...(await form.finish()));
  } catch (error) {
    // A run that is not recorded has failed, and the target lacks its result.
    isRecorded = false;
    if (outcomeOf(ending) !== 'failed') ending = toMirrorError(error);
  }
  return about();
}

/** Counts a row once that several lists showed, or that was hashed and then changed. */
function counted(applied: Applied, { tally }: FormState): Applied {
  const { inserted } = applied;
  const known = Math.max(0, liveRows(tally) - inserted);
  const updated = Math.min(applied.updated, known);
  return { ...applied, updated, unchanged: Math.min(applied.unchanged, known - updated) };
}

/** Syncs, and stores everything that it saw even if it fails. Null: source and copy agree. */
async function syncToEnd(work: Work): Promise<MirrorError | null> {
  const { state } = work.form;
  try {
    await sync(work);
  } catch (error) {
    if (!(error instanceof Incomplete)) throw error;
    await work.sink.flush();
    const what = `Nothing is proven of ${nameOf(state)}: ${error.message}.`;
    return new MirrorError('RUN_INCOMPLETE', what);
  }
  const { held } = work.form.state.tally;
  if (held === 0) return null;
  const option = `${shellOption('--form', state.formId)} ${shellOption('--target', work.target.name)}`;
  return new MirrorError(
    'DELETIONS_HELD',
    `The source does not show ${held} rows of ${nameOf(state)}. Too many disappeared at once (MAX_DELETE_FRACTION), so these were not ` +
      `marked deleted. Look at the form in the dashboard. If they were deleted on purpose, run: forms-mirror sync --full --accept-deletes ${option}`,
  );
}

/** The error for a form that the source no longer has. */
const formGone = ({ id, name }: FormIdentity): MirrorError =>
  new MirrorError(
    'FORM_GONE',
    `The source answers 404 or 410 for form "${name}" (${id}): it was deleted, or the key is for another workspace. Rows that were copied stay.`,
  );

const nameOf = ({ formId, name }: { readonly formId: string; readonly name: string }): string =>
  `form "${name}" (${formId})`;

/** The outcomes that are not failures. */
const ENDINGS: Partial<Record<MirrorError['code'], OutcomeName>> = {
  CANCELLED: 'stopped',
  PAUSED: 'paused',
  TARGET_BUSY: 'busy',
  RUN_INCOMPLETE: 'incomplete',
  DELETIONS_HELD: 'held',
  FORM_GONE: 'gone',
};

const outcomeOf = (ending: MirrorError | null): OutcomeName =>
  ending === null ? 'ok' : (ENDINGS[ending.code] ?? 'failed');

/** The report of a run that did not open the form, or wrote nothing. `ending`: null if source and copy agree. */
export const blankRun = (
  form: FormIdentity,
  target: string,
  ending: MirrorError | null,
  startedAtMs: number,
  endedAtMs: number,
): RunReport => ({
  form,
  target,
  outcome: outcomeOf(ending),
  code: ending?.code ?? null,
  error: ending?.message ?? null,
  failure: ending,
  startedAtMs,
  endedAtMs,
  requests: 0,
  held: 0,
  isWhole: false,
  accounted: null,
  claim: null,
  reasons: [],
  notices: [],
  foreseen: [],
  ...NOTHING_APPLIED,
});
