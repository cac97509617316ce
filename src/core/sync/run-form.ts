import { isAbort, type MirrorError, toMirrorError } from '../../base/errors.ts';
import type { FormIdentity } from '../../mirror/types.ts';
import { type OutcomeName, OUTCOMES } from '../mirror/outcomes.ts';
import type { Applied, Run } from '../mirror/port.ts';
import { Incomplete } from './incomplete.ts';
import { type Mirroring, noteGone, openForWriting, type Opened, readForm } from './mirroring.ts';
import { ProfileRecord } from './profile.ts';
import { NOTHING_APPLIED } from './sink.ts';
import { Source } from './source.ts';
import { sync } from './sync.ts';
import type { SyncOptions, Work } from './work.ts';

/** How a run ended, for a person. */
export interface RunReport extends Run {
  readonly form: FormIdentity;
  readonly target: string;
  /** The target had nothing of the form. */
  readonly wasEmpty: boolean;
  /** What people removed, and what could not be brought up to date at the end: a sentence each. */
  readonly notes: readonly string[];
}

/** How a step of a run ended. */
interface Ending {
  readonly outcome: OutcomeName;
  readonly code: string | null;
  readonly error: string | null;
}

/**
 * One run: brings a form in a target up to date, and records how that went. Never rejects: what goes wrong is in the report, and
 * what was stored before stays.
 */
export async function runForm(
  mirroring: Mirroring,
  identity: FormIdentity,
  options: Omit<SyncOptions, 'maxDeleteFraction'>,
  signal: AbortSignal,
): Promise<RunReport> {
  const { clock, target, client, concurrency } = mirroring;
  const startedAtMs = clock.now();
  const source = new Source(client, concurrency, signal);
  const report = (
    ending: Ending,
    from: Partial<Pick<RunReport, 'form' | 'held' | 'isWhole' | 'wasEmpty' | 'notes'>> & {
      applied?: Applied;
    } = {},
  ): RunReport => {
    const { applied = NOTHING_APPLIED, ...rest } = from;
    return {
      form: identity,
      target,
      startedAtMs,
      endedAtMs: clock.now(),
      requests: source.requests,
      held: 0,
      isWhole: false,
      wasEmpty: false,
      notes: [],
      ...applied,
      ...ending,
      ...rest,
    };
  };

  let opened: Opened;
  try {
    const form = await readForm(mirroring, identity.id, signal);
    if (form === null) {
      await noteGone(mirroring, identity);
      return report({ outcome: 'gone', code: 'FORM_GONE', error: null });
    }
    opened = await openForWriting(mirroring, form, signal);
  } catch (error) {
    return report(endingOf(error));
  }

  await using closing = opened;
  const { form, sink } = closing;
  const wasEmpty = form.state.ranges.length === 0;
  const notes = [...form.losses];
  let ending: Ending;
  let isWhole = false;
  try {
    const profile = await ProfileRecord.load(mirroring.store, mirroring.sourceName, clock.now());
    const { maxDeleteFraction } = mirroring;
    const work: Work = {
      source,
      form,
      sink,
      profile,
      clock,
      options: { ...options, maxDeleteFraction },
      shortBy: 0,
      since: null,
    };
    ending = await syncToEnd(work);
    isWhole =
      ending.outcome !== 'failed' &&
      form.state.ranges.length > 0 &&
      form.state.ranges.every(({ readAtMs }) => readAtMs !== null && readAtMs >= startedAtMs);
    await profile.save(mirroring.store);
  } catch (error) {
    ending = endingOf(error);
  }
  const about = (): RunReport =>
    report(ending, {
      form: { id: identity.id, slug: closing.source.slug, name: closing.source.name },
      applied: sink.applied,
      held: form.state.tally.held,
      isWhole,
      wasEmpty,
      notes,
    });
  try {
    const { outcome, code } = ending;
    if (OUTCOMES[outcome].isRecorded)
      await form.commit({ run: about(), state: (state) => ({ ...state, outcome, code }) });
    notes.push(...(await form.finish()));
  } catch (error) {
    // A run that is not recorded has failed.
    if (ending.outcome !== 'failed') ending = endingOf(error);
  }
  return about();
}

/** Syncs, and stores what was seen however it ends. */
async function syncToEnd(work: Work): Promise<Ending> {
  try {
    await sync(work);
  } catch (error) {
    if (!(error instanceof Incomplete)) throw error;
    await work.sink.flush();
    return { outcome: 'incomplete', code: 'PASS_INCOMPLETE', error: error.message };
  }
  const { held } = work.form.state.tally;
  return held > 0
    ? {
        outcome: 'held',
        code: 'DELETES_WITHHELD',
        error: `${held} rows are gone at the source and wait for a person`,
      }
    : { outcome: 'ok', code: null, error: null };
}

function endingOf(error: unknown): Ending {
  const failure: MirrorError = toMirrorError(error);
  const { code, message } = failure;
  if (isAbort(error)) return { outcome: 'stopped', code, error: message };
  if (code === 'PAUSED') return { outcome: 'paused', code, error: message };
  if (code === 'TARGET_BUSY') return { outcome: 'busy', code, error: message };
  return { outcome: 'failed', code, error: message };
}
