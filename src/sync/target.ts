import type { Clock } from '../base/clock.ts';
import { toMirrorError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Source } from '../forms/source.ts';
import { type FormState, identityOf } from '../mirror/form-state.ts';
import { pausedError, pauseOf } from '../mirror/pauses.ts';
import { isSameUnder, type Joining, storedUnder } from '../mirror/selection.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';
import type { EntryKind, ReadForm, RowQuery, Store, StoredRow } from '../mirror/port.ts';
import { PAUSES } from './records.ts';

/** What work on all targets of a process shares. */
export interface Mirror {
  /** The source, as one run reads it. */
  readonly connect: (signal: AbortSignal) => Source;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Identifies the source and its key in a target's record of the profile. */
  readonly sourceName: string;
  /** If more than this part of the rows would be marked deleted, a person decides. */
  readonly maxDeleteFraction: number;
  /** RECONCILE_EVERY. */
  readonly compareEveryMs: number;
}

/** An open target with its settings. */
export interface Target extends Mirror {
  /** As the settings name it; `default` if unnamed. */
  readonly name: string;
  readonly store: Store;
  /** How answers become rows there, as far as names are known; undefined while no fields are selected. */
  readonly joining: Joining | undefined;
  /** Whether the settings choose a form for it, or name it by a slug that means another one (its runs report that). */
  readonly isChosen: (form: Pick<FormIdentity, 'id' | 'slug'>) => boolean;
  /**
   * How the answers of a form become rows there. Throws USAGE, SETTINGS or SLUG_REUSED if nothing of the form may be stored,
   * because the settings leave it out, or a name matches nothing or means another form. `keep`: the form is about to be stored.
   */
  readonly admit: (form: Form, signal: AbortSignal, keep: boolean) => Promise<Joining>;
}

/** Throws PAUSED if a person has paused the form or the whole target. */
export async function requireUnpaused({ store, name }: Target, form: FormIdentity): Promise<void> {
  const pause = pauseOf(await PAUSES.read(store), form.id);
  if (pause === null) return;
  throw pausedError(pause, form.slug, name);
}

/** Whether its rows were stored under other settings. A form that is gone is never written again, so its rows are not outdated. */
export const isOutdated = ({ joining }: Target, state: FormState): boolean =>
  joining !== undefined &&
  state.storedUnder !== null &&
  state.goneAtMs === null &&
  !isSameUnder(state.storedUnder, storedUnder(joining, identityOf(state)));

/** How many runs a process has in a target at the same time: while one writes, others wait for the source. Each takes some 10 MB. */
export const RUNS_AT_ONCE = 4;

/** How long to wait for another process that writes to the form. */
export interface Waiting {
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

const BUSY_PAUSE_MS = 250;

/** Repeats `work` while another process has the form. Rejects with TARGET_BUSY if that takes too long, and with CANCELLED. */
export async function whileBusy<T>(
  clock: Clock,
  { waitMs, signal }: Waiting,
  work: () => Promise<T>,
): Promise<T> {
  const untilMs = clock.now() + waitMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (toMirrorError(error).code !== 'TARGET_BUSY' || clock.now() >= untilMs) throw error;
      await clock.sleep(BUSY_PAUSE_MS, signal);
    }
  }
}

/** Opens a form of a target for reading and returns the result of `read`; null if the target does not have the form. */
export async function reading<T>(
  { store }: Pick<Target, 'store'>,
  formId: string,
  read: (form: ReadForm) => Promise<T>,
): Promise<T | null> {
  await using form = await store.read(formId);
  return form === null ? null : await read(form);
}

/** The forms that a target has, including gone ones. */
export const formsIn = async ({ store }: Pick<Target, 'store'>): Promise<FormIdentity[]> =>
  (await store.states()).map(({ state }) => identityOf(state));

/** Rows in batches: live ones first, then those marked deleted. */
export async function* allRows(
  form: ReadForm,
  query: Omit<RowQuery, 'isDeleted'> = {},
  cells = false,
): AsyncGenerator<readonly StoredRow[]> {
  for (const isDeleted of [false, true]) yield* form.rows({ ...query, isDeleted }, cells);
}

/** The IDs of all rows. */
export async function idsOf(
  batches: AsyncIterable<readonly Pick<StoredRow, 'id'>[]>,
): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const some of batches) for (const { id } of some) ids.add(id);
  return ids;
}

/** Listed as rejected: a submission that could not be stored unchanged, or whose existence the source leaves open. */
export const LISTED = ['rejected', 'undecided'] as const satisfies readonly EntryKind[];
