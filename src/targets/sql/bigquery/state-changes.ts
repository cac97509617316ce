import { safeText } from '../../../base/errors.ts';
import { withoutIds } from '../../../mirror/forgotten.ts';
import type { Loss } from '../../../mirror/losses.ts';
import { plusCounts, tallied } from '../../../mirror/status-counts.ts';
import type { Checkpoint, PassRecord } from '../../../mirror/types.ts';
import {
  type DatedStatus,
  reopened,
  sameWindow,
  type WindowRecord,
  withForgotten,
} from '../../../mirror/window.ts';
import type { FormState, StateCounts, StateField } from './form-state.ts';

/* What operations change in the state of a form: each gives the state as it is afterwards, and changes nothing itself. */

/** How many rows there are and how many were counted, when losses were looked for. */
export interface FoundLosses {
  readonly losses: readonly Loss[];
  /** What is there. */
  readonly held: Pick<StateCounts, 'rows' | 'live' | 'rejected'>;
  /** What was counted then. */
  readonly counted: Pick<StateCounts, 'rows' | 'live' | 'rejected'>;
}

/** With counts moved by so much. */
export function counted(state: FormState, change: Partial<StateCounts>): FormState {
  const counts = { ...state.counts };
  const moved: StateCounts = {
    rows: counts.rows + (change.rows ?? 0),
    live: counts.live + (change.live ?? 0),
    rejected: counts.rejected + (change.rejected ?? 0),
    refusals: counts.refusals + (change.refusals ?? 0),
    forgotten: counts.forgotten + (change.forgotten ?? 0),
  };
  return { ...state, counts: moved };
}

/** With so many more live rows of these statuses. */
export function moved(
  state: FormState,
  moves: Iterable<readonly [status: string, change: number]>,
): FormState {
  const counts = new Map(state.statuses);
  for (const [status, change] of moves) counts.set(status, (counts.get(status) ?? 0) + change);
  return { ...state, statuses: [...counts].filter(([, rows]) => rows !== 0) };
}

/** With losses that were found just now, until a proven full pass has filled what was lost: no window counts as proven any more. */
export function withLosses(state: FormState, losses: readonly Loss[]): FormState {
  if (losses.length === 0) return state;
  return {
    ...state,
    losses: distinct([...state.losses, ...losses]),
    windows: state.windows.map(reopened),
  };
}

/** After a proven full pass: what was found is settled, and counts move by how much they were off then. */
export function settled(state: FormState, { losses, held, counted: was }: FoundLosses): FormState {
  if (losses.length === 0) return state;
  const names = new Set(losses.map((loss) => JSON.stringify(loss)));
  const rest = state.losses.filter((loss) => !names.has(JSON.stringify(loss)));
  return counted(
    { ...state, losses: rest },
    {
      rows: held.rows - was.rows,
      live: held.live - was.live,
      rejected: held.rejected - was.rejected,
    },
  );
}

/** Each of them once. */
export const distinct = (losses: readonly Loss[]): Loss[] => [
  ...new Map(losses.map((loss) => [JSON.stringify(loss), loss])).values(),
];

/** A pass as it is kept. */
export const keptPass = (pass: PassRecord): PassRecord => ({
  ...pass,
  error: pass.error === null ? null : safeText(pass.error),
});

/** With a pass as the newest. */
export function withPass(state: FormState, pass: PassRecord): FormState {
  const { passes } = state;
  const hasRead = pass.kind === 'full' && (pass.outcome === 'ok' || pass.outcome === 'withheld');
  return {
    ...state,
    passes: {
      number: passes.number + 1,
      last: pass,
      lastOk: pass.outcome === 'ok' ? pass : passes.lastOk,
      lastFull: pass.kind === 'full' ? pass : passes.lastFull,
      hasReadAll: passes.hasReadAll || hasRead,
    },
  };
}

/** Without a checkpoint: the next pass reads everything. */
export const withoutCheckpoint = (state: FormState): FormState => ({ ...state, checkpoint: null });

/** With this window in place of the one with its bounds; the same where there is none. */
export const withWindow = (state: FormState, window: WindowRecord): FormState => ({
  ...state,
  windows: state.windows.map((one) => (sameWindow(one, window) ? { ...window } : one)),
});

/** After a proven full pass none is open. */
export const withClosedWindows = (state: FormState): FormState => ({
  ...state,
  windows: state.windows.map((one) => (one.open ? { ...one, open: false } : one)),
});

/** Accounts for live rows that were forgotten, as the source counts them all the same. */
export function withoutForgotten(state: FormState, live: readonly DatedStatus[]): FormState {
  if (live.length === 0) return state;
  const { checkpoint } = state;
  const after: Checkpoint | null = checkpoint && {
    ...checkpoint,
    unstored: plusCounts(checkpoint.unstored, tallied(live)),
  };
  return {
    ...state,
    checkpoint: after,
    windows: state.windows.map((window) => withForgotten(window, live)),
  };
}

/** With the IDs of forgotten submissions taken out of what passes and marking left to say. */
export function withoutNames(state: FormState, ids: readonly string[]): FormState {
  const { passes, marking } = state;
  const clean = <T extends { readonly error: string | null }>(record: T | null): T | null =>
    record && { ...record, error: record.error && withoutIds(record.error, ids) };
  return {
    ...state,
    marking: clean(marking),
    passes: {
      ...passes,
      last: clean(passes.last),
      lastOk: clean(passes.lastOk),
      lastFull: clean(passes.lastFull),
    },
  };
}

/** With the labels of these fields as their newest. */
export function withLabels(
  state: FormState,
  fields: readonly Pick<StateField, 'id' | 'label'>[],
  at: string,
): FormState {
  if (fields.length === 0) return state;
  const ids = new Set(fields.map(({ id }) => id));
  const ended = state.labels.map((one) =>
    one.to === null && ids.has(one.fieldId) ? { ...one, to: at } : one,
  );
  const begun = fields.map(({ id, label }) => ({ fieldId: id, label, from: at, to: null }));
  return { ...state, labels: [...ended, ...begun] };
}
