import { isSameUnder, type Joining, storedUnder } from '../mirror/selection.ts';
import type { Pause } from '../mirror/pauses.ts';
import type { StoredForm, TargetNotice } from '../mirror/port.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { leftoverNotices } from '../sync/purge.ts';
import {
  type Agreement,
  AGREEMENT,
  PAUSES,
  WRITE_BACKS,
  type WriteBackProblem,
} from '../sync/records.ts';
import type { Target } from '../sync/target.ts';
import type { Kept } from './data-dir.ts';
import type { QueueState } from './report.ts';
import type { Trouble } from './trouble.ts';

/*
 * What the judge judges from. Nothing here carries an answer or a secret (L11, L15). Times are milliseconds since the epoch.
 */

/** A form as its target holds it. */
export interface HeldForm {
  /** With the newest runs. */
  readonly stored: StoredForm;
  /** What the last write-back could not do; null: it did all, or write-back is off. */
  readonly writeBack: WriteBackProblem | null;
  /** When the target was found empty that had held the form. */
  readonly refilledAtMs: number | null;
  /** The rows were stored under other settings than those of now. */
  readonly isOtherSettings: boolean;
  readonly notices: readonly TargetNotice[];
}

/** What a target holds. */
export interface HeldTarget {
  readonly kind: string;
  readonly address: string;
  readonly forms: readonly HeldForm[];
  readonly pauses: readonly Pause[];
  /** What the last poll agreed on; null: none has. */
  readonly agreement: Agreement | null;
}

/** The latest reading of a target. */
export interface TargetFacts {
  readonly name: string;
  /** Null: it could never be read. */
  readonly held: HeldTarget | null;
  /** When that was; 0 for never. */
  readonly readAtMs: number;
  /** Why the last try failed, and since when all tries have; null when it did not. */
  readonly failure: Trouble | null;
}

/** Which forms go where, as last planned; nothing where this process has not planned. */
export interface PlanFacts {
  readonly atMs: number | null;
  readonly forms: readonly { readonly form: FormIdentity; readonly targets: readonly string[] }[];
  /** By form ID, when this process first planned it. */
  readonly sinceMs: ReadonlyMap<string, number>;
}

/** Everything that a mirror is judged from. */
export interface Facts {
  readonly nowMs: number;
  readonly version: string;
  readonly targets: readonly TargetFacts[];
  /** Null: a command, which looks at no queue, or one that was never read. */
  readonly queue: QueueState | null;
  /** What concerns all forms, as this process sees it, or for a command, as running processes do. */
  readonly troubles: readonly Trouble[];
  readonly plan: PlanFacts;
  readonly kept: Kept;
  /** Whether the settings choose a form for a target. */
  readonly isChosen: (target: string, form: Pick<FormIdentity, 'id' | 'slug'>) => boolean;
  /** When the schedule polls next after that moment. */
  readonly nextPollMs: (afterMs: number) => number;
}

/** So many runs show since when they have ended in one way. */
const RECENT_RUNS = 20;

/** The settings that decide how what a target records is read. */
export interface TargetSettings {
  /** Undefined while no field is selected. */
  readonly joining: Joining | undefined;
  readonly isChosen: (form: Pick<FormIdentity, 'id' | 'slug'>) => boolean;
  readonly writesBack: boolean;
  /** By form ID, when the target at this address was found empty. */
  readonly refills: (address: string) => Promise<ReadonlyMap<string, number>>;
}

/** Reads what a target holds. Rejects as the target does. */
export async function readTarget(target: Target, settings: TargetSettings): Promise<HeldTarget> {
  const { store, kind, address, name } = target;
  const { joining, isChosen, writesBack } = settings;
  const stored = await store.forms(RECENT_RUNS);
  const writeBacks = writesBack ? await WRITE_BACKS.read(store) : {};
  const refills = await settings.refills(address);
  const forms = stored.map((form): HeldForm => {
    const { formId, slug, storedUnder: before, goneAtMs } = form.state;
    const now = joining && storedUnder(joining, { id: formId, slug });
    return {
      stored: form,
      writeBack: writeBacks[formId] ?? null,
      refilledAtMs: refills.get(formId) ?? null,
      // A form that is gone is never written again, so its facts no longer change.
      isOtherSettings:
        now !== undefined && before !== null && goneAtMs === null && !isSameUnder(before, now),
      notices: [
        ...form.notices,
        ...(joining === undefined ? [] : leftoverNotices(name, joining, isChosen, form)),
      ],
    };
  });
  const [pauses, agreement] = [await PAUSES.read(store), await AGREEMENT.read(store)];
  return { kind, address, forms, pauses, agreement };
}
