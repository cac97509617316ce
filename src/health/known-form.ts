import { type ProblemCode, problemCodeOrNull } from '../base/catalogue.ts';
import { isAhead } from '../base/clock.ts';
import type { OutcomeName } from '../mirror/form-state.ts';
import { type Pause, pauseOf } from '../mirror/pauses.ts';
import type { Run } from '../mirror/port.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { type Agreement, claimWith } from '../sync/records.ts';
import type { KeptRun } from './data-dir.ts';
import type { Facts, HeldForm, TargetFacts } from './facts.ts';
import { NO_CLAIM, type RunningJob, type ShownClaim } from './report.ts';

/*
 * What the facts together say of one form in a target: its last run, its claim, when it was last heard of.
 */

/** A form in a target, and what the facts together say of it. */
export interface KnownForm {
  readonly form: FormIdentity;
  readonly target: string;
  /** Null: the target does not hold it, or could not be read. */
  readonly held: HeldForm | null;
  readonly pause: Pause | null;
  readonly running: RunningJob | null;
  /** When this process first planned it; 0: it did not. */
  readonly plannedMs: number;
  /** False when the settings no longer choose it. */
  readonly isWanted: boolean;
  /** The newest run that says something; null before the first. */
  readonly last: Ended | null;
  readonly claim: ShownClaim;
  /** When it was last known to agree with its source: by a poll, or as a run ended; 0 for never. */
  readonly agreedMs: number;
  /** When a run last ended that shows that source and target work; 0 for never. */
  readonly succeededMs: number;
}

/** What is known of a form in a target from elsewhere: the last agreement of a poll, failed runs that the target did not record. */
interface Elsewhere {
  readonly agreement: Agreement | null;
  readonly kept: KeptRun | null;
}

/** Puts the facts about a form together. Pure. */
export function knownForm(
  known: Pick<KnownForm, 'form' | 'target' | 'held' | 'pause' | 'running' | 'plannedMs'>,
  { agreement, kept }: Elsewhere,
  nowMs: number,
): KnownForm {
  const { held } = known;
  // A run dated ahead of now was recorded before the clock was set back: it hides nothing else.
  const runs = (held?.stored.runs ?? []).filter(
    ({ outcome, endedAtMs }) => !SAYS_NOTHING.has(outcome) && !isAhead(endedAtMs, nowMs),
  );
  const polled = agreement !== null && isAhead(agreement.atMs, nowMs) ? null : agreement;
  const [last, claim] = [lastOf(runs, kept), claimIn(held, polled, nowMs)];
  const hasAgreed = last?.outcome === 'ok' || last?.outcome === 'held';
  const claimedMs = claim.submissionsAsOf === null ? 0 : Date.parse(claim.submissionsAsOf);
  const worked = runs.filter(({ outcome }) => outcome !== 'failed').map((run) => run.endedAtMs);
  return {
    ...known,
    isWanted: true,
    last,
    claim,
    agreedMs: Math.max(claimedMs, hasAgreed ? last.endedAtMs : 0),
    succeededMs: newestOf([...worked, kept?.outcome === 'gone' ? kept.atMs : null], nowMs),
  };
}

/** The newest of several times; 0 for none. A time in the future came from a wrong clock. */
export const newestOf = (times: readonly (number | null | undefined)[], nowMs: number): number =>
  Math.max(0, ...times.map((ms) => (isAhead(ms ?? 0, nowMs) ? 0 : (ms ?? 0))));

/** How the newest runs of a form ended. */
export interface Ended {
  readonly outcome: OutcomeName;
  readonly code: ProblemCode | null;
  readonly error: string | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Since when runs have ended so, as far as is known. */
  readonly sinceMs: number;
}

/** Runs that a stop, a pause or another process cut short prove nothing. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['busy', 'paused', 'stopped']);

function lastOf(runs: readonly Run[], kept: KeptRun | null): Ended | null {
  const [newest] = runs;
  if (kept !== null && (newest === undefined || kept.atMs > newest.endedAtMs)) {
    const { outcome, code, error, sinceMs, atMs } = kept;
    return { outcome, code, error, startedAtMs: atMs, endedAtMs: atMs, sinceMs };
  }
  if (newest === undefined) return null;
  const others = runs.findIndex(({ outcome }) => outcome !== newest.outcome);
  const first = others < 0 ? runs.at(-1) : runs[others - 1];
  const code = problemCodeOrNull(newest.code);
  const { outcome, error, startedAtMs, endedAtMs } = newest;
  return { outcome, code, error, startedAtMs, endedAtMs, sinceMs: first?.endedAtMs ?? endedAtMs };
}

/** The claim from runs and polls. A time in the future came from a wrong clock: nothing is claimed by it. */
function claimIn(held: HeldForm | null, agreement: Agreement | null, nowMs: number): ShownClaim {
  if (held === null) return NO_CLAIM;
  const { state, losses } = held.stored;
  const nothing = { ...NO_CLAIM, held: state.tally.held, undecided: state.tally.undecided };
  if (losses.length > 0 || held.isOtherSettings || state.goneAtMs !== null) return nothing;
  const claim = claimWith(state, null, agreement);
  const time = (ms: number | null): string | null =>
    ms === null || isAhead(ms, nowMs) ? null : new Date(ms).toISOString();
  const submissionsAsOf = time(claim.submissionsAsOfMs);
  if (submissionsAsOf === null) return nothing;
  return {
    ...nothing,
    submissionsAsOf,
    statusesAsOf: time(claim.statusesAsOfMs ?? claim.answersAsOfMs),
    answersAsOf: time(claim.answersAsOfMs),
  };
}

/** The forms that a target holds, and those that are planned for it and still to come. Pure. */
export function knownForms(target: TargetFacts, facts: Facts): KnownForm[] {
  const { plan, kept, queue, nowMs, isChosen } = facts;
  const { name, held } = target;
  const planned = plan.forms.filter(({ targets }) => targets.includes(name));
  const plannedIds = new Set(planned.map(({ form }) => form.id));
  const byId = new Map((held?.forms ?? []).map((form) => [form.stored.state.formId, form]));
  const forms = new Map<string, FormIdentity>(planned.map(({ form }) => [form.id, form]));
  // Known by a failure: a first run that the target could not record.
  const failed = new Map(
    kept.runs.filter((run) => run.target === name).map((run) => [run.form.id, run]),
  );
  for (const { form, atMs } of failed.values())
    if (plan.atMs === null || atMs > plan.atMs || byId.has(form.id)) forms.set(form.id, form);
  for (const { stored } of byId.values()) {
    const { formId: id, slug, name: title } = stored.state;
    forms.set(id, { id, slug, name: title });
  }
  // Paused before its first run: it must not look as if nothing were missing.
  for (const { formId: id } of held?.pauses ?? [])
    if (id !== null && !forms.has(id)) forms.set(id, elsewhere(id, facts));
  return [...forms.values()].map((form) => {
    const job = queue?.running.find(
      ({ step, formId, target: of }) => step === 'sync' && formId === form.id && of === name,
    );
    const found = knownForm(
      {
        form,
        target: name,
        held: byId.get(form.id) ?? null,
        pause: pauseOf(held?.pauses ?? [], form.id),
        running: job ?? null,
        plannedMs: plan.sinceMs.get(form.id) ?? 0,
      },
      { agreement: held?.agreement ?? null, kept: failed.get(form.id) ?? null },
      nowMs,
    );
    const { running, last, agreedMs } = found;
    // A newer plan, made by another process, may know forms that ours does not.
    const isPlanned =
      plan.atMs === null ||
      plannedIds.has(form.id) ||
      running !== null ||
      last?.outcome === 'gone' ||
      (found.held?.stored.state.goneAtMs ?? null) !== null ||
      Math.max(agreedMs, last?.endedAtMs ?? 0) > plan.atMs;
    return Object.assign(found, { isWanted: isChosen(name, form) && isPlanned });
  });
}

/** As another target knows the form; its ID in place of its names where none does. */
function elsewhere(id: string, { targets }: Facts): FormIdentity {
  const states = targets.flatMap(({ held }) => held?.forms ?? []).map(({ stored }) => stored.state);
  const { slug = id, name = id } = states.find(({ formId }) => formId === id) ?? {};
  return { id, slug, name };
}
