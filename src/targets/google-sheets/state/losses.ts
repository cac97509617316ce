import { isDeepStrictEqual } from 'node:util';
import type { Loss } from '../../../mirror/losses.ts';
import type { FormState } from './form-state.ts';

/*
 * What of a form was lost. The state counts what was stored, in the same atomic write as the rows, and remembers what was
 * created again, until a proven full pass has filled it. Columns that people deleted are no loss: they stay away.
 */

/** Losses kept in a state, and the characters of a name in them: the text of a state is short. */
const MAX_KEPT = 8;
const MAX_NAME = 60;

/** What a look at the rows found. */
export interface FoundLosses {
  readonly losses: readonly Loss[];
  /** By how many rows the count of what was stored is beyond what is there; negative: below. */
  readonly difference: number;
  /** The tab that was looked at. */
  readonly sheetId: number | undefined;
  /** The spreadsheet's time zone by then. */
  readonly zone: string;
}

/** True when the rows have to be looked at to know what is lost. */
export const needsLook = ({ stored, checkpoint }: FormState): boolean =>
  stored !== 0 || (checkpoint?.total ?? 0) > 0;

/**
 * Compares what was stored with what is there; `present`: rows as they were just read, `removed`: those of them that are
 * marked removed, undefined where nothing says so; `zone`: the spreadsheet's time zone.
 */
export function lossesOf(
  state: FormState,
  present: number,
  removed: number | undefined,
  zone: string,
): Pick<FoundLosses, 'losses' | 'difference'> {
  const difference = state.stored - present;
  const all: Loss[] = [...state.losses];
  // More rows than were stored are no loss: people write rows of their own, and bring back what they deleted.
  if (difference > 0) all.push({ what: 'rows', missing: difference });
  else if (difference === 0 && removed !== undefined && removed !== state.counts.removed) {
    all.push({ what: 'marks', missing: removed - state.counts.removed });
  }
  if (state.zone !== null && state.zone !== zone) all.push({ what: 'zone' });
  return { losses: distinct(all), difference };
}

/** The state that remembers some losses as well. */
export function remembering(state: FormState, losses: readonly Loss[]): FormState {
  const shortened = losses.map((loss) =>
    'name' in loss ? { ...loss, name: loss.name.slice(0, MAX_NAME).toWellFormed() } : loss,
  );
  return { ...state, losses: distinct([...state.losses, ...shortened]).slice(0, MAX_KEPT) };
}

/** The state that remembers that marks are not as they were set: writes count them as they are. */
export function withLostMarks(state: FormState, found: readonly Loss[]): FormState {
  const marks = found.filter(({ what }) => what === 'marks');
  return marks.length === 0 ? state : remembering(state, marks);
}

/**
 * The state after a proven full pass: what `found` names is settled, and only that. What people deleted in the meantime
 * is reported to the next pass.
 */
export function settled(
  state: FormState,
  found: FoundLosses,
  sheetId: number | undefined,
): FormState {
  const { zone } = found;
  if (found.sheetId !== sheetId) return { ...state, zone };
  const rest = state.losses.filter((loss) => !found.losses.some((f) => isDeepStrictEqual(f, loss)));
  return {
    ...state,
    zone,
    losses: rest,
    stored: state.stored - found.difference,
  };
}

const distinct = (losses: readonly Loss[]): Loss[] => [
  ...new Map(losses.map((loss) => [JSON.stringify(loss), loss])).values(),
];
