import type { Applied, Run, TargetNotice } from '../mirror/port.ts';
import { isAbort, MirrorError, toMirrorError } from '../base/errors.ts';
import { shellOption } from '../base/printable.ts';
import type { FormIdentity } from '../mirror/types.ts';
import {
  accounted,
  type Claim,
  claimOf,
  type FormState,
  liveRows,
  type OutcomeName,
  OUTCOMES,
  sumOf,
} from '../mirror/form-state.ts';
import { noteGone, type Opened, openForWriting } from './mirroring.ts';
import { withBill } from '../targets/billing.ts';
import { ProfileRecord } from './profile.ts';
import { NOTHING_APPLIED } from './sink.ts';
import { sync } from './sync.ts';
import { type Target, whileBusy } from './target.ts';
import { Incomplete, type RunOptions, type SyncOptions, type Work } from './work.ts';

/** How a run ended, for a person. */
export interface RunReport extends Run {
  readonly form: FormIdentity;
  readonly target: string;
  /** The target had nothing of the form. */
  readonly wasEmpty: boolean;
  /** How many submissions the target accounts for; null where it was not opened. */
  readonly accounted: number | null;
  /** What the copy is claimed to hold after it; null where the target was not opened, or did not take the record of the run. */
  readonly claim: Claim | null;
  /** Why everything was read again: a sentence each. */
  readonly reasons: readonly string[];
  /** What a person should see to in the target. */
  readonly notices: readonly TargetNotice[];
  /** The error behind `error`; null if the run did not fail. */
  readonly failure: MirrorError | null;
}

/** How a run ended. */
export interface Ending {
  readonly outcome: OutcomeName;
  readonly code: string | null;
  readonly error: string | null;
  readonly failure: MirrorError | null;
}

type Asked = RunOptions & Pick<SyncOptions, 'onProgress'>;

/**
 * One run: brings a form in a target up to date, and records how that went. Never rejects: failures are in the report, and
 * the rows stored before stay. Where another process takes the form over in the middle, which a spreadsheet does not prevent, the run
 * begins again, within the time that it may wait.
 */
export function runForm(
  target: Target,
  identity: FormIdentity,
  asked: Asked,
  signal: AbortSignal,
): Promise<RunReport> {
  const { clock } = target;
  const untilMs = clock.now() + (asked.waitMs ?? 0);
  return withBill(async () => {
    for (;;) {
      const waitMs = untilMs - clock.now();
      const report = await runOnce(target, identity, { ...asked, waitMs }, signal);
      if (report.outcome !== 'busy' || clock.now() >= untilMs) return report;
    }
  });
}

async function runOnce(
  target: Target,
  identity: FormIdentity,
  asked: Asked,
  signal: AbortSignal,
): Promise<RunReport> {
  const { clock, store, compareEveryMs, maxDeleteFraction } = target;
  const options = { ...asked, compareEveryMs, maxDeleteFraction };
  const startedAtMs = clock.now();
  const source = target.connect(signal);
  const report = (ending: Ending, found: Partial<RunReport> = {}): RunReport => ({
    ...blankRun(identity, target.name, ending, startedAtMs, clock.now()),
    requests: source.requests,
    ...found,
  });

  let opened: Opened;
  try {
    const form = await source.formOrNull(identity.id);
    if (form === null) {
      const isHeld = await noteGone(target, identity);
      return report(gone(identity, isHeld));
    }
    const waiting = { waitMs: asked.waitMs ?? 0, signal };
    opened = await whileBusy(clock, waiting, () => openForWriting(target, source, form));
  } catch (error) {
    return report(endingOf(error));
  }

  await using closing = opened;
  const { form, sink, reasons } = closing;
  const wasEmpty = form.state.ranges.length === 0;
  const notices: TargetNotice[] = [];
  let ending: Ending;
  let isWhole = false;
  try {
    const profile = await ProfileRecord.load(store, target.sourceName, clock.now());
    const work = { source, form, sink, profile, clock, options, shortBy: 0, since: null, seen: 0 };
    ending = await syncToEnd(work);
    isWhole =
      ending.outcome !== 'failed' &&
      form.state.ranges.length > 0 &&
      form.state.ranges.every(({ readAtMs }) => readAtMs !== null && readAtMs >= startedAtMs);
    await profile.save(store);
  } catch (error) {
    ending = endingOf(error);
  }
  let isRecorded = true;
  const about = (): RunReport =>
    report(ending, {
      form: { id: identity.id, slug: closing.shown.slug, name: closing.shown.name },
      ...counted(sink.applied, form.state),
      held: form.state.tally.held,
      isWhole,
      wasEmpty,
      accounted: sumOf(accounted(form.state.tally).values()),
      claim: isRecorded ? claimOf(form.state, null) : null,
      reasons,
      notices,
    });
  try {
    const { outcome, code } = ending;
    if (OUTCOMES[outcome].isRecorded)
      await form.commit({ run: about(), state: (state) => ({ ...state, outcome, code }) });
    notices.push(...(await form.finish()));
  } catch (error) {
    // A run that is not recorded has failed, and the target does not have what it found.
    isRecorded = false;
    if (ending.outcome !== 'failed') ending = endingOf(error);
  }
  return about();
}

/** A row that several lists showed is counted once. */
function counted(applied: Applied, { tally }: FormState): Applied {
  const { inserted, updated, unchanged } = applied;
  const most = Math.max(0, liveRows(tally) - inserted - updated);
  return { ...applied, unchanged: Math.min(unchanged, most) };
}

/** Syncs, and stores everything it saw, however it ends. */
async function syncToEnd(work: Work): Promise<Ending> {
  try {
    await sync(work);
  } catch (error) {
    if (!(error instanceof Incomplete)) throw error;
    await work.sink.flush();
    const { state } = work.form;
    const what = `Nothing is proven of ${nameOf(state)}: ${error.message}. What the run has seen is stored; the next run tries again.`;
    return endingOf(new MirrorError('RUN_INCOMPLETE', what));
  }
  const { state } = work.form;
  if (state.tally.held === 0) return DONE;
  const { held } = state.tally;
  const option = shellOption('--form', state.formId);
  return {
    outcome: 'held',
    code: 'DELETIONS_HELD',
    error:
      `The source does not show ${held} rows of ${nameOf(work.form.state)}, more than MAX_DELETE_FRACTION allows at once, so none was ` +
      `marked deleted. If they were deleted on purpose, run: forms-mirror sync --full --accept-deletes ${option}`,
    failure: null,
  };
}

const gone = (form: FormIdentity, isHeld: boolean): Ending => ({
  outcome: 'gone',
  code: 'FORM_GONE',
  error:
    `The source answers 404 for ${nameOf({ formId: form.id, name: form.name })}: it was deleted, or the key is for another workspace. ` +
    (isHeld ? 'Its rows stay.' : 'It was never copied here.'),
  failure: null,
});

const nameOf = ({ formId, name }: { readonly formId: string; readonly name: string }): string =>
  `form "${name}" (${formId})`;

function endingOf(error: unknown): Ending {
  const failure: MirrorError = toMirrorError(error);
  const { code, message } = failure;
  const outcomes: Partial<Record<MirrorError['code'], OutcomeName>> = {
    PAUSED: 'paused',
    TARGET_BUSY: 'busy',
    RUN_INCOMPLETE: 'incomplete',
  };
  const outcome = isAbort(error) ? 'stopped' : (outcomes[code] ?? 'failed');
  return { outcome, code, error: message, failure };
}

/** A run that succeeded. */
export const DONE: Ending = { outcome: 'ok', code: null, error: null, failure: null };

/** The report of a run that did not open the form, or wrote nothing. `ending`: the error where it is none. */
export const blankRun = (
  form: FormIdentity,
  target: string,
  ending: Ending | Error,
  startedAtMs: number,
  endedAtMs: number,
): RunReport => ({
  form,
  target,
  startedAtMs,
  endedAtMs,
  requests: 0,
  held: 0,
  isWhole: false,
  wasEmpty: false,
  accounted: null,
  claim: null,
  reasons: [],
  notices: [],
  ...NOTHING_APPLIED,
  ...(ending instanceof Error ? endingOf(ending) : ending),
});
