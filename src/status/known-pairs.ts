import type { ErrorCode } from '../base/errors.ts';
import type { FormOverview } from '../mirror/target.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { Pair, RunningPass } from './pass-book.ts';
import { type PairMemory, newestPass } from './pass-memory.ts';
import type { PlanState, QueueState, TargetOverview } from './source.ts';

/** What was last read of a target. */
export interface TargetReading {
  readonly name: string;
  /** The last overview that could be read; null when none ever could. */
  readonly overview: TargetOverview | null;
  /** When that was; 0 for never. */
  readonly readAtMs: number;
  /** Why the last try failed, and how many failed in a row. */
  readonly failure: { readonly code: ErrorCode; readonly message: string } | null;
  readonly failures: number;
  /** Since when a form of this target can be expected to be heard of: start of the process, end of an outage. */
  readonly listeningSinceMs: number;
}

/** Everything that the view is built from. */
export interface ViewFacts {
  readonly nowMs: number;
  readonly targets: readonly TargetReading[];
  readonly queue: QueueState | null;
  /** How often in a row the queue did not answer. */
  readonly queueFailures: number;
  readonly plan: PlanState;
  readonly nextDueAt: (afterMs: number) => number;
  /** Since when this process knows of a form in a target; now, when it is new. */
  readonly knownSinceMs: (pair: Pair) => number;
  readonly memory: (target: string, formId: string) => PairMemory;
  readonly running: (target: string, formId: string) => RunningPass | null;
}

/** A form that a target holds or is to hold. */
export interface KnownPair {
  readonly pair: Pair;
  readonly target: TargetReading;
  readonly overview: FormOverview | null;
  readonly memory: PairMemory;
  readonly running: RunningPass | null;
  /** False when the settings no longer choose it. */
  readonly wanted: boolean;
}

/** The forms that a target holds, and those that are planned for it and still to come. */
export function knownPairs(target: TargetReading, facts: ViewFacts): KnownPair[] {
  const { plan } = facts;
  const planned = plan.forms.filter(({ targets }) => targets.includes(target.name));
  const plannedIds = new Set(planned.map(({ form }) => form.id));
  const held = new Map((target.overview?.forms ?? []).map((form) => [form.formId, form]));
  const forms = new Map<string, FormIdentity>(planned.map(({ form }) => [form.id, form]));
  for (const { formId: id, slug, name } of held.values()) forms.set(id, { id, slug, name });
  return [...forms.values()].map((form) => {
    const memory = facts.memory(target.name, form.id);
    const running = facts.running(target.name, form.id);
    const overview = held.get(form.id) ?? null;
    const wanted = plannedIds.has(form.id) || running !== null || isLaterThan(memory, plan);
    return { pair: { form, target: target.name }, target, overview, memory, running, wanted };
  });
}

/** A newer plan, made by another worker, may know forms that ours does not. */
function isLaterThan(memory: PairMemory, plan: PlanState): boolean {
  const newest = newestPass(memory);
  // A pass that finds its form gone takes it out of the plan.
  if (plan.at === null || newest?.outcome === 'gone') return true;
  return newest !== null && Date.parse(newest.endedAt) > Date.parse(plan.at);
}
