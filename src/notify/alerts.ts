import { z } from 'zod';
import { PROBLEMS } from '../base/catalogue.ts';
import { type Clock, hasPassed } from '../base/clock.ts';
import { plural, span } from '../base/format.ts';
import { type Problem, type Report, problemOf } from '../health/report.ts';
import { problemCode } from '../health/problem-facts.ts';
import type { Due, Feed } from './channel.ts';
import { type Message, shortName } from './message.ts';

/*
 * Messages about problems. A channel follows incidents from one report to the next, and records in each the last message about it.
 *
 * An incident is a problem of one subject: source, queue, settings, program, a target, or a form in a target. Problems of a target
 * or a form that may pass by themselves are one incident, whatever their code: a database that restarts first does not answer, then
 * fails.
 */

/** An incident is over when nothing was wrong for this long, so a server that comes and goes is one outage. */
const SETTLE_MS = 60_000;
const REPEAT_MS = 24 * 3_600_000;
/**
 * For a failure of one form while source and target work for others. An outage also leaves such failures behind until the form's
 * next run, which takes some time if there are many forms.
 */
const ALONE_MS = 5 * 60_000;
/** After the first message of a kind about single forms, further ones of that kind wait this long and go as one. */
const GROUP_MS = 5 * 60_000;

const incidentSchema = z.object({
  /** Its subject; null if it concerns everything. */
  form: z.object({ id: z.string(), name: z.string() }).nullable(),
  target: z.string().nullable(),
  /** From the last message about it; before the first, from the latest report. */
  code: problemCode,
  /** Submissions of the form that the target rejected. */
  rejected: z.number(),
  fromMs: z.number(),
  /** Since when nothing is wrong; null while something is, or while that is not known. */
  goneMs: z.number().nullable(),
  /** When the last message about it was sent; null: people were not notified. */
  toldMs: z.number().nullable(),
});
type Incident = z.infer<typeof incidentSchema>;

const incidentsSchema = z.record(z.string(), incidentSchema);
/** By ID. */
type Incidents = z.infer<typeof incidentsSchema>;

/** A problem of a subject, as a report shows it. */
interface Sighting extends Pick<Incident, 'form' | 'target' | 'rejected'> {
  readonly problem: Problem;
}

/** An incident that people should be notified of, and its problem in the report; null: it is over. */
interface News {
  readonly id: string;
  readonly incident: Incident;
  readonly sighting: Sighting | null;
}

/**
 * Announces each incident once, repeats it once a day while it lasts, and resolves it once. An announcement that was not delivered
 * stays due as long as its incident lasts.
 */
export class Alerts implements Feed {
  kept: Incidents;
  readonly #link: Message['link'];
  readonly #clock: Clock;
  /** When a message about forms was sent, by kind. */
  readonly #sentMs = new Map<string, number>();

  /** `kept`: from an earlier process. */
  constructor(kept: unknown, link: Message['link'], clock: Clock) {
    this.kept = incidentsSchema.safeParse(kept).data ?? {};
    [this.#link, this.#clock] = [link, clock];
  }

  due(report: Report): Due[] {
    const nowMs = this.#clock.now();
    const { incidents, news } = follow(this.kept, report, nowMs);
    this.kept = incidents;
    // Several messages about single forms go together.
    const kinds = Map.groupBy(news, (one) => (one.incident.form === null ? one.id : kindOf(one)));
    return [...kinds]
      .filter(([kind]) => hasPassed(this.#sentMs.get(kind) ?? 0, GROUP_MS, nowMs))
      .map(([kind, members]) => ({
        content: { ...messageOf(members, nowMs), link: this.#link },
        taken: () => {
          for (const { id, incident, sighting } of members) {
            if (sighting === null) delete this.kept[id];
            else this.kept[id] = { ...incident, ...shown(sighting), toldMs: nowMs };
            if (incident.form !== null) this.#sentMs.set(kind, nowMs);
          }
        },
      }));
  }
}

/** What an incident records of a problem. */
const shown = ({ form, target, problem: { code }, rejected }: Sighting) => {
  return { form, target, code, rejected };
};

const kindOf = ({ incident, sighting }: News): string =>
  sighting === null
    ? `resolved\n${incident.code}`
    : `${incident.toldMs === null ? 'first' : 'repeated'}\n${sighting.problem.code}`;

/** The incidents according to a report, and those that people should be notified of. Pure. */
function follow(before: Incidents, report: Report, nowMs: number) {
  const { sightings, viewOf } = seenIn(report);
  const [incidents, news]: [Incidents, News[]] = [{}, []];
  for (const [id, some] of Map.groupBy(sightings, idOf)) {
    const [first] = some as [Sighting];
    const known = before[id];
    const fromMs = Math.min(known?.fromMs ?? beginMs(first, nowMs), nowMs);
    // Of several problems the first (the worst) counts, unless only another one has lasted long enough.
    const due = some.find((one) => nowMs - fromMs >= graceMs(one));
    const now = shown(due ?? first);
    const toldMs = known?.toldMs ?? null;
    const incident = { ...now, ...(toldMs !== null && known), fromMs, toldMs, goneMs: null };
    incidents[id] = incident;
    if (due !== undefined && (toldMs === null || isRepeated(now, incident, nowMs - toldMs)))
      news.push({ id, incident, sighting: due });
  }
  for (const [id, incident] of Object.entries(before)) {
    const { form, toldMs } = incident;
    const view = viewOf(incident);
    if (incidents[id] !== undefined || view === 'none') continue;
    // A problem that cannot be seen is neither announced nor resolved.
    const goneMs = view === 'seen' ? (incident.goneMs ?? nowMs) : null;
    const isOver = goneMs !== null && hasPassed(goneMs, SETTLE_MS, nowMs);
    // A problem of a form that an outage hides begins again after it.
    if (toldMs === null && (isOver || (form !== null && goneMs === null))) continue;
    incidents[id] = { ...incident, goneMs };
    if (isOver) news.push({ id, incident: incidents[id], sighting: null });
  }
  return { incidents, news };
}

function idOf(sighting: Sighting): string {
  const { code } = sighting.problem;
  const isOutage = sighting.target !== null && PROBLEMS[code].retryable === true;
  return `${keyOf(sighting)}\n${isOutage ? 'outage' : code}`;
}

/** A form's grace begins when its problem is seen, and not during an outage, a pause or the night before a start. */
const beginMs = ({ form, problem: { since } }: Sighting, nowMs: number): number =>
  form === null && since !== null ? Date.parse(since) : nowMs;

function graceMs({ form, problem: { code } }: Sighting): number {
  const { scope, graceMs: own } = PROBLEMS[code];
  const isAlone = form !== null && (scope === 'source' || scope === 'target');
  return Math.max(own ?? 0, isAlone ? ALONE_MS : 0);
}

type Shown = Pick<Incident, 'code' | 'rejected'>;

/** Most forms that are gone were deleted on purpose, and rejected submissions stay rejected. These are not repeated. */
const isRepeated = ({ code, rejected }: Shown, told: Shown, agoMs: number): boolean =>
  agoMs >= REPEAT_MS &&
  (code === 'ROWS_REJECTED' ? rejected > told.rejected : code !== 'FORM_GONE');

/** No name of a target has a line break. */
const keyOf = ({ form, target }: { form: { id: string } | null; target: string | null }): string =>
  `${target ?? ''}\n${form?.id ?? ''}`;

/**
 * The problems that may be worth a message, and whether a report shows the state of the incident's subject. `unknown`: it is
 * paused, ended, waiting or not readable, or has had no news since the incident began. `none`: it no longer belongs to the mirror.
 */
function seenIn({ problems, source, queue, targets, forms }: Report) {
  const isReadable = new Map(
    targets.map((one) => [one.name, one.isReadable && one.pause === null]),
  );
  const isSeen = new Map(
    forms.map((form) => [
      keyOf(form),
      form.pause === null && form.state !== 'ended' && form.state !== 'waiting',
    ]),
  );
  const viewOf = ({ form, target, code, fromMs }: Incident) => {
    const { scope } = PROBLEMS[code];
    const isHeard = scope !== 'source' || Date.parse(source.heardAt ?? '') > fromMs;
    const isWholeSeen = isHeard && (scope !== 'queue' || queue?.isReachable === true);
    if (target === null) return isWholeSeen ? 'seen' : 'unknown';
    if (isReadable.get(target) === false) return 'unknown';
    const found = form === null ? isReadable.get(target) : isSeen.get(keyOf({ form, target }));
    return found === undefined ? 'none' : found ? 'seen' : 'unknown';
  };
  const nowhere = { form: null, target: null, rejected: 0 };
  const sightings = [
    ...problems.map((problem): Sighting => ({ ...nowhere, problem })),
    ...targets.flatMap(({ name: target, pause, problem }) =>
      problem === null || pause !== null ? [] : [{ ...nowhere, target, problem }],
    ),
    ...forms.flatMap((one) => {
      const { form, target, rejected } = one;
      if (isReadable.get(target) !== true || isSeen.get(keyOf(one)) !== true) return [];
      const { id, name } = form;
      return [...one.problems, ...rejection(rejected ?? 0)].map((problem) => {
        return { form: { id, name }, target, problem, rejected: rejected ?? 0 };
      });
    }),
  ];
  const isWorthIt = ({ problem: { code } }: Sighting) => PROBLEMS[code].graceMs !== null;
  return { sightings: sightings.filter(isWorthIt), viewOf };
}

/** Rejected submissions do not make a form unhealthy, but people are notified of them. */
function rejection(rejected: number): Problem[] {
  if (rejected === 0) return [];
  const message = `The target could not store ${plural(rejected, 'submission')}. It stores all others.`;
  return [problemOf({ code: 'ROWS_REJECTED', message, sinceMs: null })];
}

/** How many forms are named; the status page shows all. */
const MOST_NAMED = 10;

const nameOf = ({ incident: { form, target } }: News): string => {
  if (target === null) return 'the whole mirror';
  return form === null ? `target ${target}` : `${shortName(form.name)} → ${target}`;
};

/** A message about one subject, or about several forms with the same problem. */
function messageOf(members: readonly News[], nowMs: number): Omit<Message, 'link'> {
  const [first] = members as [News];
  const { incident, sighting } = first;
  const isOne = members.length === 1;
  const ids = new Set(members.map((each) => each.incident.form?.id));
  const start = `forms-mirror, ${isOne ? nameOf(first) : plural(ids.size, 'form')}:`;
  const { title } = PROBLEMS[sighting?.problem.code ?? incident.code];
  const names = members.slice(0, MOST_NAMED).map(nameOf).join(', ');
  const list = isOne ? [] : [members.length > MOST_NAMED ? `${names}, …` : `${names}.`];
  if (sighting === null) {
    const lasted = members.map(({ incident: { fromMs, goneMs } }) => (goneMs ?? nowMs) - fromMs);
    const longest = `${isOne ? '' : 'up to '}${span(Math.max(...lasted))}`;
    return {
      level: 'ok',
      headline: `${start} resolved after ${longest} (was: ${title})`,
      body: list,
    };
  }
  const { message, remedy, command } = sighting.problem;
  const isError = members.some((each) => each.sighting?.problem.level === 'error');
  return {
    level: isError ? 'error' : 'warning',
    headline: `${start} ${incident.toldMs === null ? '' : 'still: '}${isOne ? sighting.problem.title : title}`,
    body: isOne
      ? [message, remedy, command].filter((part) => part !== null)
      : [...list, 'The status page says what to do about each.'],
  };
}
