import type { Agreement } from '../mirror/form-state.ts';
import { OTHER_SETTINGS } from '../mirror/selection.ts';
import type { Pause } from '../mirror/pauses.ts';
import type { StoredForm } from '../mirror/port.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { MirrorPlan } from '../sync/planner.ts';
import { leftoverNotices } from '../sync/purge.ts';
import { AGREEMENTS, PAUSES, WRITE_BACKS, type WriteBackProblem } from '../sync/records.ts';
import { isOutdated, type Target } from '../sync/target.ts';
import type { Kept } from './data-dir.ts';
import type { QueueState } from './report.ts';
import type { ProblemFacts } from './problem-facts.ts';

/* The facts for the judgment. They contain no answers and no secrets (L11, L15). Times are milliseconds since the epoch. */

/** A form in its target, with its newest runs, and what else is known of it. */
export interface FormCopy extends StoredForm {
  /** What the last write-back could not do; null: it did everything, or write-back is off. */
  readonly writeBack: WriteBackProblem | null;
  /** When the target was found empty although it had the form before. */
  readonly refilledAtMs: number | null;
}

/** The content of a target. */
export interface TargetContent {
  readonly forms: readonly FormCopy[];
  readonly pauses: readonly Pause[];
  /** What polls agreed on, the newest first. */
  readonly agreements: readonly Agreement[];
}

/** A target as the settings name it. */
export interface TargetPlace {
  readonly name: string;
  readonly kind: string;
  /** Where it is; no password. */
  readonly address: string;
}

/** The last content that was read of a target, and whether the last try failed. */
export interface TargetFacts extends TargetPlace {
  /** Null if it was never read. */
  readonly value: TargetContent | null;
  /** When that was read; 0 for never. */
  readonly readAtMs: number;
  /** Why the last try failed, and since when all tries have; null if it did not fail. */
  readonly problem: ProblemFacts | null;
}

/** Everything from which a mirror is judged. */
export interface Facts {
  readonly nowMs: number;
  readonly version: string;
  readonly targets: readonly TargetFacts[];
  /** Null for a command, which does not look at the queue, and before the first reading. */
  readonly queue: QueueState | null;
  /** What concerns all forms: problems of the queue, the settings and DATA_DIR. */
  readonly problems: readonly ProblemFacts[];
  /** Which forms go into which targets; null if this process has not planned. */
  readonly plan: MirrorPlan | null;
  readonly kept: Kept;
  /** Whether the settings choose a form for a target. */
  readonly isChosen: (target: string, form: Pick<FormIdentity, 'id' | 'slug'>) => boolean;
  /** When the schedule polls next after that moment. */
  readonly nextPollMs: (afterMs: number) => number;
}

/** How many runs the page of a form lists. */
const RECENT_RUNS = 10;

/** Reads the content of a target. `refills`: when the target was found empty, by form ID. Rejects as the target does. */
export async function readTarget(
  target: Target,
  writesBack: boolean,
  refills: ReadonlyMap<string, number | null>,
): Promise<TargetContent> {
  const { store } = target;
  const stored = await store.forms(RECENT_RUNS);
  const writeBacks = writesBack ? await WRITE_BACKS.read(store) : {};
  const forms = stored.map((form): FormCopy => {
    const { formId } = form.state;
    return Object.assign({}, form, {
      losses: isOutdated(target, form.state) ? [...form.losses, OTHER_SETTINGS] : form.losses,
      notices: [...form.notices, ...leftoverNotices(target, form)],
      writeBack: writeBacks[formId] ?? null,
      refilledAtMs: refills.get(formId) ?? null,
    });
  });
  const pauses = await PAUSES.read(store);
  return { forms, pauses, agreements: await AGREEMENTS.read(store) };
}
