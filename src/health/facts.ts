import type { Agreement } from '../mirror/form-state.ts';
import { isSameUnder, storedUnder } from '../mirror/selection.ts';
import type { Pause } from '../mirror/pauses.ts';
import type { StoredForm } from '../mirror/port.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { MirrorPlan } from '../sync/planner.ts';
import { leftoverNotices } from '../sync/purge.ts';
import { AGREEMENT, PAUSES, WRITE_BACKS, type WriteBackProblem } from '../sync/records.ts';
import type { Target } from '../sync/target.ts';
import type { Kept } from './data-dir.ts';
import type { Latest } from './reading.ts';
import type { QueueState } from './report.ts';
import type { Trouble } from './trouble.ts';

/*
 * What the judge judges from. Nothing here carries an answer or a secret (L11, L15). Times are milliseconds since the epoch.
 */

/** A form as its target holds it, with its newest runs, and what is known of it beside that. */
export interface HeldForm extends StoredForm {
  /** What the last write-back could not do; null: it did all, or write-back is off. */
  readonly writeBack: WriteBackProblem | null;
  /** When the target was found empty that had held the form. */
  readonly refilledAtMs: number | null;
}

/** What a target holds. */
export interface HeldTarget {
  readonly forms: readonly HeldForm[];
  readonly pauses: readonly Pause[];
  /** What the last poll agreed on; null: none has. */
  readonly agreement: Agreement | null;
}

/** A target as the settings name it. */
export interface TargetPlace {
  readonly name: string;
  readonly kind: string;
  /** Where it is; no password. */
  readonly address: string;
}

/** The latest reading of a target. */
export interface TargetFacts extends TargetPlace, Latest<HeldTarget> {}

/** Everything that a mirror is judged from. */
export interface Facts {
  readonly nowMs: number;
  readonly version: string;
  readonly targets: readonly TargetFacts[];
  /** Null: a command, which looks at no queue, or one that was never read. */
  readonly queue: QueueState | null;
  /** What concerns all forms, as this process sees it, or for a command, as running processes do. */
  readonly troubles: readonly Trouble[];
  /** Which forms go where; null where this process has not planned. */
  readonly plan: MirrorPlan | null;
  readonly kept: Kept;
  /** Whether the settings choose a form for a target. */
  readonly isChosen: (target: string, form: Pick<FormIdentity, 'id' | 'slug'>) => boolean;
  /** When the schedule polls next after that moment. */
  readonly nextPollMs: (afterMs: number) => number;
}

/** So many runs show since when they have ended in one way. */
const RECENT_RUNS = 20;

/** Reads what a target holds. `refills`: by form ID, when it was found empty. Rejects as the target does. */
export async function readTarget(
  target: Target,
  writesBack: boolean,
  refills: ReadonlyMap<string, number>,
): Promise<HeldTarget> {
  const { store, joining } = target;
  const stored = await store.forms(RECENT_RUNS);
  const writeBacks = writesBack ? await WRITE_BACKS.read(store) : {};
  const forms = stored.map((form): HeldForm => {
    const { formId, slug, storedUnder: before, goneAtMs } = form.state;
    const now = joining && storedUnder(joining, { id: formId, slug });
    // A form that is gone is never written again, so its facts no longer change.
    const isOther =
      now !== undefined && before !== null && goneAtMs === null && !isSameUnder(before, now);
    return Object.assign({}, form, {
      losses: isOther ? [...form.losses, OTHER_SETTINGS] : form.losses,
      notices: [...form.notices, ...leftoverNotices(target, form)],
      writeBack: writeBacks[formId] ?? null,
      refilledAtMs: refills.get(formId) ?? null,
    });
  });
  const [pauses, agreement] = [await PAUSES.read(store), await AGREEMENT.read(store)];
  return { forms, pauses, agreement };
}

const OTHER_SETTINGS =
  'Other fields are selected or hashed than when the rows were stored, so answers that are not selected, or plain answers, may still be there.';
