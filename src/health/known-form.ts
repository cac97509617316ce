import { type ProblemCode, problemCodeOrNull } from '../base/catalogue.ts';
import { isAhead } from '../base/clock.ts';
import { claimOf, type OutcomeName } from '../mirror/form-state.ts';
import { type Pause, pauseOf } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { type Agreement, claimWith } from '../sync/records.ts';
import type { KeptRun } from './data-dir.ts';
import type { Facts, HeldForm, TargetFacts } from './facts.ts';
import { NO_CLAIM, type RunningJob, type ShownClaim } from './report.ts';

/*
 * What the facts together say of one form in a target: its last run, its claim, when it was last heard of.
 */

/** The facts about a form in a target. */
export interface FormFacts {
  readonly form: FormIdentity;
  readonly target: string;
  /** Null: the target does not hold it, or could not be read. */
  readonly held: HeldForm | null;
  readonly agreement: Agreement | null;
  /** Failed runs that the target did not record. */
  readonly kept: KeptRun | null;
  readonly pause: Pause | null;
  readonly running: RunningJob | null;
}

/** A form in a target, and what the facts together say of it. */
export interface KnownForm extends FormFacts {
  /** False when the settings no longer choose it. */
  readonly isWanted: boolean;
  /** The newest run that says something; null before the first. */
  readonly last: Ended | null;
  readonly claim: ShownClaim;
  /** When it was last known to agree with its source: by a poll, or as a run ended; 0 for never. */
  readonly agreedMs: number;
  /** When something was last heard of it: a run, a poll, progress; 0 for never. */
  readonly heardMs: number;
}

/** Puts the facts about a form together. Pure. */
export function knownForm(facts: FormFacts, nowMs: number): KnownForm {
  const [last, claim] = [lastRunOf(facts, nowMs), claimIn(facts, nowMs)];
  // By this clock.
  const endedMs = last === null || isAhead(last.endedAtMs, nowMs) ? 0 : last.endedAtMs;
  const hasAgreed = last?.outcome === 'ok' || last?.outcome === 'held';
  const claimedMs = claim.submissionsAsOf === null ? 0 : Date.parse(claim.submissionsAsOf);
  const agreedMs = Math.max(claimedMs, hasAgreed ? endedMs : 0);
  const heardMs = Math.max(agreedMs, endedMs, facts.running ? nowMs : 0);
  return { ...facts, isWanted: true, last, claim, agreedMs, heardMs };
}

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

/** One that is dated ahead of now hides none: it was recorded before the clock was set back. */
function lastRunOf({ held, kept }: FormFacts, nowMs: number): Ended | null {
  const all = (held?.stored.runs ?? []).filter(({ outcome }) => !SAYS_NOTHING.has(outcome));
  const past = all.filter(({ endedAtMs }) => !isAhead(endedAtMs, nowMs));
  const runs = past.length === 0 && kept === null ? all : past;
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

/** When the runs ended that show that source and target work: those that did not fail. Pure. */
export const succeededMsOf = ({ held, kept }: FormFacts): number[] => [
  ...(held?.stored.runs ?? [])
    .filter(({ outcome }) => outcome !== 'failed' && !SAYS_NOTHING.has(outcome))
    .map(({ endedAtMs }) => endedAtMs),
  ...(kept?.outcome === 'gone' ? [kept.atMs] : []),
];

/** The claim from runs and polls. A time in the future came from a wrong clock: nothing is claimed by it. */
function claimIn({ held, agreement }: FormFacts, nowMs: number): ShownClaim {
  if (held === null) return NO_CLAIM;
  const { state, losses } = held.stored;
  const { tally } = state;
  const nothing = { ...NO_CLAIM, held: tally.held, undecided: tally.undecided };
  if (losses.length > 0 || held.isOtherSettings || state.goneAtMs !== null) return nothing;
  const past = (ms: number | null): number | null =>
    ms !== null && isAhead(ms, nowMs) ? null : ms;
  const own = claimOf(state, null);
  const isPolled = agreement !== null && !isAhead(agreement.atMs, nowMs);
  const both = claimWith(
    {
      ...state,
      submissionsAsOfMs:
        past(own.submissionsAsOfMs) ?? (own.submissionsAsOfMs === null || !isPolled ? null : 0),
      statusesAsOfMs: past(own.statusesAsOfMs),
    },
    null,
    isPolled ? agreement : null,
  );
  if (both.submissionsAsOfMs === null || both.submissionsAsOfMs === 0) return nothing;
  return {
    ...nothing,
    submissionsAsOf: iso(both.submissionsAsOfMs),
    statusesAsOf: isoOrNull(both.statusesAsOfMs ?? past(both.answersAsOfMs)),
    answersAsOf: isoOrNull(past(both.answersAsOfMs)),
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
        agreement: held?.agreement ?? null,
        kept: failed.get(form.id) ?? null,
        pause: pauseOf(held?.pauses ?? [], form.id),
        running: job ?? null,
      },
      nowMs,
    );
    // A newer plan, made by another process, may know forms that ours does not.
    const isPlanned =
      plan.atMs === null ||
      plannedIds.has(form.id) ||
      found.running !== null ||
      found.last?.outcome === 'gone' ||
      (found.held?.stored.state.goneAtMs ?? null) !== null ||
      found.heardMs > plan.atMs;
    return Object.assign(found, { isWanted: isChosen(name, form) && isPlanned });
  });
}

/** As another target knows the form; its ID in place of its names where none does. */
function elsewhere(id: string, { targets }: Facts): FormIdentity {
  const states = targets.flatMap(({ held }) => held?.forms ?? []).map(({ stored }) => stored.state);
  const { slug = id, name = id } = states.find(({ formId }) => formId === id) ?? {};
  return { id, slug, name };
}

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));
