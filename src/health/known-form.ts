import { isAhead } from '../base/clock.ts';
import { type Agreement, agreementOn, claimOf, type FormState } from '../mirror/form-state.ts';
import { pauseOf } from '../mirror/pauses.ts';
import type { Run } from '../mirror/port.ts';
import type { KeptRun } from './data-dir.ts';
import type { Facts, FormCopy, TargetFacts } from './facts.ts';
import { NO_CLAIM, type ShownClaim, shownClaim } from './report.ts';
import { problemCode } from './problem-facts.ts';

/** A form in a target, with what the facts together say about it: its last run, its claim, its last news. */
export type KnownForm = ReturnType<typeof knownForms>[number];

/** Runs that were cut short by a stop, a pause or another process prove nothing. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['busy', 'paused', 'stopped']);

/** The forms that a target has, and those planned for it that are still to come. Pure. */
export function knownForms({ name, address, value: target }: TargetFacts, facts: Facts) {
  const { queue, nowMs } = facts;
  const { places = [], atMs: plannedAtMs = null, sinceMs } = facts.plan ?? {};
  const { forms: copies = [], pauses = [], agreements = [] } = target ?? {};
  const byId = new Map(copies.map((form) => [form.state.formId, form]));
  // Known from a failure: a first run that the target could not record.
  const failures = new Map(
    facts.kept.runs
      .filter((run) => run.target === name && run.address === address)
      .map((run) => [run.form.id, run]),
  );
  const planned = places.filter((place) => place.target === name);
  const plannedIds = new Set(planned.map(({ form }) => form.id));
  const jobs = new Map(
    (queue?.running ?? [])
      .filter(({ step, target: of }) => step === 'sync' && of === name)
      .map((job) => [job.formId, job]),
  );
  const forms = new Map(planned.map(({ form }) => [form.id, form]));
  for (const { form, endedAtMs } of failures.values())
    if (plannedAtMs === null || endedAtMs > plannedAtMs) forms.set(form.id, form);
  for (const [id, { state }] of byId) forms.set(id, { id, slug: state.slug, name: state.name });
  // Paused before its first run: it must not look as if nothing were missing.
  for (const { formId: id } of pauses)
    if (id !== null && !forms.has(id)) forms.set(id, { id, slug: id, name: id });
  return [...forms.values()].map((form) => {
    const copy = byId.get(form.id) ?? null;
    const failure = failures.get(form.id) ?? null;
    // A run dated in the future was recorded before the clock was set back. It hides no other run.
    const runs = (copy?.runs ?? []).filter(
      ({ outcome, endedAtMs }) => !SAYS_NOTHING.has(outcome) && !isAhead(endedAtMs, nowMs),
    );
    const last = lastOf(runs, failure, copy?.state.since ?? {});
    const running = jobs.get(form.id) ?? null;
    const goneMs = copy?.state.goneAtMs ?? (last?.outcome === 'gone' ? last.sinceMs : null);
    const agreed = agreementOn(agreements, form.id);
    const claim = claimIn(copy, agreed, nowMs);
    const claimedMs = Date.parse(claim.submissionsAsOf ?? '') || 0;
    // Also if nothing is claimed because people or settings changed the copy since.
    const heardMs = newestOf([claimedMs, agreed?.atMs, last?.endedAtMs], nowMs);
    const worked = runs.filter(({ outcome }) => outcome !== 'failed').map((run) => run.endedAtMs);
    if (failure?.outcome === 'gone') worked.push(failure.endedAtMs);
    // A newer plan of another process may have forms that this process's plan does not.
    const isPlanned =
      plannedAtMs === null ||
      plannedIds.has(form.id) ||
      running !== null ||
      goneMs !== null ||
      heardMs > plannedAtMs;
    return {
      form,
      target: name,
      /** Null: the target does not have it, or could not be read. */
      copy,
      pause: pauseOf(pauses, form.id),
      running,
      /** False if the settings no longer choose it. */
      isWanted: facts.isChosen(name, form) && isPlanned,
      /** The newest run that shows something, and since when runs have ended like this; null before the first. */
      last,
      /** Since when the source does not have it; null: it does, as far as is known. */
      goneMs,
      claim,
      /** When this process first planned it; 0 if it has not. */
      plannedMs: sinceMs?.get(form.id) ?? 0,
      /** The last news: a poll that agreed, or the end of a run; 0 for never. */
      heardMs,
      /** When the last run ended that shows that source and target work; 0 for never. */
      succeededMs: newestOf(worked, nowMs),
    };
  });
}

/** The newest of several times; 0 for none. A time in the future comes from a wrong clock. */
export const newestOf = (times: readonly (number | null | undefined)[], nowMs: number): number =>
  Math.max(0, ...times.map((ms) => (isAhead(ms ?? 0, nowMs) ? 0 : (ms ?? 0))));

function lastOf([newest]: readonly Run[], failure: KeptRun | null, since: FormState['since']) {
  if (failure !== null && failure.endedAtMs > (newest?.endedAtMs ?? -1)) return failure;
  if (newest === undefined) return null;
  const sinceMs = since[newest.outcome] ?? newest.endedAtMs;
  // Another build may have written it.
  const code = problemCode.safeParse(newest.code).data ?? null;
  return { ...newest, code, sinceMs };
}

/** The claim from runs and polls. A time in the future comes from a wrong clock, so nothing is claimed as of it. */
function claimIn(copy: FormCopy | null, agreed: Agreement | null, nowMs: number): ShownClaim {
  if (copy === null) return NO_CLAIM;
  const { state, losses } = copy;
  const claim = claimOf(state, isAhead(agreed?.atMs ?? 0, nowMs) ? null : agreed);
  const isNothing = losses.length > 0 || state.goneAtMs !== null;
  return shownClaim(isNothing ? { ...claim, submissionsAsOfMs: null } : claim, nowMs);
}
