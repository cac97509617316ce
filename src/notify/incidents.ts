import { z } from 'zod';
import { PROBLEMS, type ProblemCode } from '../base/catalogue.ts';
import { type FormReport, type Problem, type Report, isKnown } from '../health/report.ts';

/*
 * Follows problems from one report to the next; announcements.ts decides which of them are worth a message.
 *
 * An incident is one trouble of one subject: source, queue, settings, program, a target, or a form in a target. Problems that
 * may pass by themselves are one incident, under any code: a source that hangs is first waited for, then unreachable,
 * then it fails. A problem that has another cause is followed, and no one is notified of it.
 */

/** An incident is over when nothing was wrong for so long: a server that comes and goes is one outage. */
const SETTLE_MS = 60_000;
/** It is kept longer than that: while a message about its start is being sent, the message about its end must wait. */
const KEEP_MS = 5 * 60_000;

const placeSchema = z.object({
  form: z.object({ id: z.string(), name: z.string() }).nullable(),
  target: z.string().nullable(),
});

/** What something is about; null where it concerns all. */
export type Place = z.infer<typeof placeSchema>;

const incidentSchema = placeSchema.extend({
  scope: z.enum(['source', 'queue', 'settings', 'program', 'target', 'form']),
  code: z.string(),
  level: z.enum(['error', 'warning']),
  title: z.string(),
  message: z.string(),
  remedy: z.string().nullable(),
  command: z.string().nullable(),
  fromMs: z.number(),
  /** Since when nothing is wrong; null while something is. */
  goneMs: z.number().nullable(),
  /** It has lasted for its grace. */
  isDue: z.boolean(),
  isExplained: z.boolean(),
  /** When the form's last run ended. */
  run: z.string().nullable(),
});

/** See above. */
export type Incident = z.infer<typeof incidentSchema>;

/** The incidents in the reports so far, whether people were notified or not. */
export const observedSchema = z.object({
  incidents: z.record(z.string(), incidentSchema),
  /** The rejected submissions of each form. */
  rejected: z.record(z.string(), placeSchema.extend({ count: z.number() })),
});
/** See {@link observedSchema}. */
export type Observed = z.infer<typeof observedSchema>;

/** A look at the mirror. */
export interface Look {
  readonly report: Report;
  readonly nowMs: number;
  /** Targets and queue were read just now. False where only a run has ended: what may be over by now waits for a fresh look. */
  readonly isFresh: boolean;
  /** Incidents that some channel has announced: they stay until that has resolved them. */
  readonly announced: ReadonlySet<string>;
}

/** True when so much time has passed. A time that lies ahead was noted under a clock that was wrong. */
export const hasPassed = (sinceMs: number, ms: number, nowMs: number): boolean =>
  sinceMs > nowMs || nowMs - sinceMs >= ms;

/** Whether an incident is over and will not return. */
export const isOver = ({ goneMs }: Incident, nowMs: number): boolean =>
  goneMs !== null && hasPassed(goneMs, SETTLE_MS, nowMs);

/** Follows incidents and rejected submissions. Pure. */
export function observe(before: Observed, look: Look): Observed {
  const viewOf = viewer(look.report);
  const incidents: Record<string, Incident> = {};
  for (const sighting of sightings(look.report, viewOf)) {
    const id = idOf(sighting);
    const known = before.incidents[id];
    const isAnother = known && isOver(known, look.nowMs) && !look.announced.has(id);
    const incident = seen(sighting, isAnother ? undefined : known, look);
    // Of several problems the first counts, which is the worst, unless only another one has lasted long enough.
    if (incidents[id] === undefined || (incident.isDue && !incidents[id].isDue))
      incidents[id] = incident;
  }
  for (const [id, incident] of Object.entries(before.incidents)) {
    const view = viewOf(incident);
    if (incidents[id] !== undefined || view === 'none') continue;
    // A problem that cannot be seen is neither announced nor resolved.
    const next =
      view === 'seen'
        ? { ...incident, goneMs: incident.goneMs ?? look.nowMs }
        : { ...incident, goneMs: null, isDue: false };
    const isPast = next.goneMs !== null && hasPassed(next.goneMs, KEEP_MS, look.nowMs);
    if (!isPast || look.announced.has(id)) incidents[id] = next;
  }
  const rejected: Record<string, Observed['rejected'][string]> = {};
  for (const { form, target, rejected: count } of look.report.forms) {
    const place = { form: { id: form.id, name: form.name }, target };
    if (count !== null && viewOf({ scope: 'form', ...place }) === 'seen')
      rejected[keyOf(place)] = { ...place, count };
  }
  return { incidents, rejected };
}

/**
 * Whether a report shows how a subject is. `unknown`: it is paused, ended or not readable, or was not asked since the start.
 * `none`: it is not part of the mirror any more.
 */
type ViewOf = (subject: Pick<Incident, 'scope' | 'form' | 'target'>) => 'seen' | 'unknown' | 'none';

function viewer({ source, queue, targets, forms }: Report): ViewOf {
  const formsByKey = new Map(forms.map((form) => [keyOf(form), form]));
  const targetsByName = new Map(targets.map((target) => [target.name, target]));
  const seenIf = (isSeen: boolean) => (isSeen ? 'seen' : 'unknown');
  return ({ scope, form, target }) => {
    if (scope === 'source') return seenIf(source.condition === 'answering');
    if (scope === 'queue') return seenIf(queue?.isReachable === true);
    if (target === null) return 'seen';
    const place = targetsByName.get(target);
    if (place === undefined) return 'none';
    if (!isKnown(place) || place.pause !== null) return 'unknown';
    if (form === null) return 'seen';
    const found = formsByKey.get(keyOf({ form, target }));
    if (found === undefined) return 'none';
    return seenIf(found.pause === null && found.state !== 'ended');
  };
}

/** No name of a target has a line break. */
const keyOf = ({ form, target }: { form: { id: string } | null; target: string | null }): string =>
  `${target ?? ''}\n${form?.id ?? ''}`;

interface Sighting extends Place {
  readonly scope: Incident['scope'];
  readonly problem: Problem;
  readonly run: string | null;
}

/** The problems that may be worth a message. */
function sightings({ problems, targets, forms }: Report, viewOf: ViewOf): Sighting[] {
  const nowhere = { form: null, target: null, run: null };
  return [
    ...problems.map((problem) => ({ ...nowhere, scope: scopeOf(problem.code), problem })),
    ...targets.flatMap(({ name: target, pause, problem }): Sighting[] =>
      problem === null || pause !== null ? [] : [{ ...nowhere, scope: 'target', target, problem }],
    ),
    ...forms.flatMap((each) => formSightings(each, viewOf)),
  ].filter(({ problem }) => PROBLEMS[problem.code].graceMs !== null);
}

function scopeOf(code: ProblemCode): Incident['scope'] {
  const { scope } = PROBLEMS[code];
  return scope === 'target' || scope === 'form' ? 'program' : scope;
}

function formSightings(
  { form: { id, name }, target, problems, lastRun }: FormReport,
  viewOf: ViewOf,
): Sighting[] {
  const subject = { scope: 'form', form: { id, name }, target } as const;
  if (problems.length === 0 || viewOf(subject) !== 'seen') return [];
  return problems.map((problem) => ({ ...subject, problem, run: lastRun?.endedAt ?? null }));
}

function idOf(sighting: Sighting): string {
  const { scope, problem } = sighting;
  const cause = PROBLEMS[problem.code].retryable ? 'outage' : problem.code;
  return `${scope}\n${keyOf(sighting)}\n${cause}`;
}

function seen(sighting: Sighting, before: Incident | undefined, look: Look): Incident {
  const { scope, form, target, problem, run } = sighting;
  const { code, level, title, message, remedy, command, since } = problem;
  const { nowMs, isFresh } = look;
  const wasExplained = before?.isExplained === true;
  // What a run left behind has the same cause until the next run, also when the cause is over.
  const isExplained =
    problem.isExplained || (wasExplained && before.run === run && code !== 'STALE');
  const firstMs = since === null ? nowMs : Date.parse(since);
  const isNewlyOwn = wasExplained && !isExplained && !before.isDue;
  const fromMs = isNewlyOwn ? nowMs : Math.min(before?.fromMs ?? firstMs, nowMs);
  const graceMs = PROBLEMS[code].graceMs ?? 0;
  const hasLasted = nowMs - fromMs >= graceMs && (isFresh || graceMs === 0);
  const isDue = before?.isDue === true || (hasLasted && !isExplained);
  const what = { code, level, title, message, remedy, command };
  return { scope, form, target, ...what, fromMs, goneMs: null, isDue, isExplained, run };
}
