import { z } from 'zod';
import { PROBLEMS, problemCodeOrNull } from '../base/catalogue.ts';
import { type Clock, hasPassed } from '../base/clock.ts';
import { count, plural, span } from '../base/format.ts';
import { type Problem, type Report, isKnown } from '../health/report.ts';
import type { Due, Feed } from './channel.ts';
import { type Message, shortName } from './message.ts';

/*
 * Messages about problems. A channel follows incidents from one report to the next, and notes in each the last message about it.
 *
 * An incident is one trouble of one subject: source, queue, settings, program, a target, or a form in a target. Problems that
 * may pass by themselves are one incident, under any code: a source that hangs is first waited for, then it fails.
 */

/** An incident is over when nothing was wrong for so long: a server that comes and goes is one outage. */
const SETTLE_MS = 60_000;
const REPEAT_MS = 24 * 3_600_000;
/**
 * A failure of one form while source and target work for others. It is also what an outage leaves behind until the form's next run,
 * which takes some time where there are many forms.
 */
const ALONE_MS = 5 * 60_000;
/** After the first message of a kind about single forms, others of that kind wait so long and go as one. */
const GROUP_MS = 5 * 60_000;

const problemSchema = z.custom<Problem>(
  (value) => problemCodeOrNull((value as Problem | undefined)?.code) !== null,
);
const incidentSchema = z.object({
  /** What it is about; null where it concerns all. */
  form: z.object({ id: z.string(), name: z.string() }).nullable(),
  target: z.string().nullable(),
  problem: problemSchema,
  /** Submissions of the form that the target rejected. */
  rejected: z.number(),
  fromMs: z.number(),
  /** Since when nothing is wrong; null while something is. */
  goneMs: z.number().nullable(),
  /** It has lasted for its grace, and can be seen. */
  isDue: z.boolean(),
  /** The last message about it, and `rejected` at its lowest since then; null: people were not notified. */
  told: z.object({ atMs: z.number(), problem: problemSchema, rejected: z.number() }).nullable(),
});
type Incident = z.infer<typeof incidentSchema>;

/** The incidents that a channel follows, by ID. */
export const incidentsSchema = z.record(z.string(), incidentSchema);

/** See {@link Alerts}. */
export interface AlertsOptions {
  /** What a channel keeps; changed here. */
  readonly kept: { incidents: z.infer<typeof incidentsSchema> };
  readonly link: Message['link'];
  readonly clock: Clock;
}

/** An incident of which people are to be notified. */
interface News {
  readonly id: string;
  readonly status: 'firing' | 'repeated' | 'resolved';
  readonly incident: Incident;
}

/**
 * Announces each incident once, repeats it once a day while it lasts, and resolves it once. An announcement that was not
 * delivered is due as long as its incident lasts.
 */
export class Alerts implements Feed {
  readonly #options: AlertsOptions;
  /** By kind, when a message about forms was sent. */
  readonly #sentMs = new Map<string, number>();

  constructor(options: AlertsOptions) {
    this.#options = options;
  }

  look(report: Report): void {
    const { kept, clock } = this.#options;
    const nowMs = clock.now();
    const viewOf = viewer(report);
    const incidents: typeof kept.incidents = {};
    for (const sighting of sightings(report)) {
      if (sighting.form !== null && viewOf(sighting) !== 'seen') continue;
      const id = idOf(sighting);
      const incident = followed(sighting, kept.incidents[id], nowMs);
      // Of several problems the first counts, which is the worst, unless only another one has lasted long enough.
      if (incidents[id] === undefined || (incident.isDue && !incidents[id].isDue))
        incidents[id] = incident;
    }
    for (const [id, incident] of Object.entries(kept.incidents)) {
      const view = viewOf(incident);
      if (incidents[id] !== undefined || view === 'none') continue;
      // A problem that cannot be seen is neither announced nor resolved.
      const goneMs = view === 'seen' ? (incident.goneMs ?? nowMs) : null;
      const isOver = goneMs !== null && hasPassed(goneMs, SETTLE_MS, nowMs);
      // What an outage hides of a form begins again after it.
      const isForgotten = isOver || (incident.form !== null && goneMs === null);
      if (incident.told !== null || !isForgotten)
        incidents[id] = { ...incident, goneMs, isDue: false };
    }
    kept.incidents = incidents;
  }

  due(): Due[] {
    const nowMs = this.#options.clock.now();
    const news = Object.entries(this.#options.kept.incidents).flatMap(([id, incident]): News[] => {
      const status = statusOf(incident, nowMs);
      return status === null ? [] : [{ id, status, incident }];
    });
    // Several about single forms go together.
    const kinds = Map.groupBy(news, ({ id, status, incident }) =>
      incident.form === null ? id : `${status}\n${shown(incident).code}`,
    );
    return [...kinds].flatMap(([kind, members]) =>
      hasPassed(this.#sentMs.get(kind) ?? Number.NEGATIVE_INFINITY, GROUP_MS, nowMs)
        ? [this.#dueOf(kind, members, nowMs)]
        : [],
    );
  }

  #dueOf(kind: string, members: readonly News[], nowMs: number): Due {
    const { kept, link } = this.#options;
    return {
      key: [kind, ...members.map(({ id, status }) => `${status}\n${id}`)].join('\n\n'),
      message: { ...messageOf(members, nowMs), link },
      taken: () => {
        for (const { id, status, incident } of members) {
          const told = { atMs: nowMs, problem: incident.problem, rejected: incident.rejected };
          if (status === 'resolved') delete kept.incidents[id];
          // It may be over by now: then people are still to be notified of its end.
          else kept.incidents[id] = { ...incident, ...kept.incidents[id], told };
          if (incident.form !== null) this.#sentMs.set(kind, nowMs);
        }
      },
    };
  }
}

function statusOf(incident: Incident, nowMs: number): News['status'] | null {
  const { problem, goneMs, isDue, rejected, told } = incident;
  if (goneMs !== null)
    return told !== null && hasPassed(goneMs, SETTLE_MS, nowMs) ? 'resolved' : null;
  if (!isDue) return null;
  if (told === null) return 'firing';
  // Most forms that are gone were deleted on purpose, and rejected submissions stay rejected: that is not repeated.
  const { code } = problem;
  const isNews = code === 'ROWS_REJECTED' ? rejected > told.rejected : code !== 'FORM_GONE';
  return isNews && hasPassed(told.atMs, REPEAT_MS, nowMs) ? 'repeated' : null;
}

/**
 * Whether a report shows how a subject is. `unknown`: it is paused, ended, held up or not readable, or was not heard of since the
 * incident began. `none`: it is not part of the mirror any more.
 */
type ViewOf = (
  subject: Pick<Incident, 'form' | 'target' | 'problem'> & { readonly fromMs?: number },
) => 'seen' | 'unknown' | 'none';

function viewer({ source, queue, targets, forms }: Report): ViewOf {
  const formsByKey = new Map(forms.map((form) => [keyOf(form), form]));
  const targetsByName = new Map(targets.map((target) => [target.name, target]));
  const seenIf = (isSeen: boolean) => (isSeen ? 'seen' : 'unknown');
  return ({ form, target, problem, fromMs = 0 }) => {
    if (target === null) {
      const { scope } = PROBLEMS[problem.code];
      if (scope === 'source') return seenIf(Date.parse(source.heardAt ?? '') > fromMs);
      return seenIf(scope !== 'queue' || queue?.isReachable === true);
    }
    const place = targetsByName.get(target);
    if (place === undefined) return 'none';
    if (!isKnown(place) || place.pause !== null) return 'unknown';
    if (form === null) return 'seen';
    const found = formsByKey.get(keyOf({ form, target }));
    if (found === undefined) return 'none';
    return seenIf(found.pause === null && found.state !== 'ended' && found.state !== 'waiting');
  };
}

/** No name of a target has a line break. */
const keyOf = ({ form, target }: { form: { id: string } | null; target: string | null }): string =>
  `${target ?? ''}\n${form?.id ?? ''}`;

type Sighting = Pick<Incident, 'form' | 'target' | 'problem' | 'rejected'>;

/** The problems that may be worth a message. */
function sightings({ problems, targets, forms }: Report): Sighting[] {
  const nowhere = { form: null, target: null, rejected: 0 };
  return [
    ...problems.map((problem) => ({ ...nowhere, problem })),
    ...targets.flatMap(({ name: target, pause, problem }) =>
      problem === null || pause !== null ? [] : [{ ...nowhere, target, problem }],
    ),
    ...forms.flatMap(({ form: { id, name }, target, problems: own, rejected }) =>
      [...own, ...rejection(rejected ?? 0)].map((problem) => {
        return { form: { id, name }, target, problem, rejected: rejected ?? 0 };
      }),
    ),
  ].filter(({ problem }) => PROBLEMS[problem.code].graceMs !== null);
}

/** Rejected submissions do not make a form unhealthy, but people are notified of them. */
function rejection(rejected: number): Problem[] {
  if (rejected === 0) return [];
  const { severity, remedy } = PROBLEMS.ROWS_REJECTED;
  const title = plural(rejected, 'rejected submission');
  const message = `The target could not store ${count(rejected)} of the submissions. It stores all others.`;
  const nothing = { command: null, since: null };
  return [{ code: 'ROWS_REJECTED', level: severity, title, message, remedy, ...nothing }];
}

function idOf(sighting: Sighting): string {
  const { code } = sighting.problem;
  const { retryable, scope } = PROBLEMS[code];
  const outage = sighting.target === null ? `outage of ${scope}` : 'outage';
  return `${keyOf(sighting)}\n${retryable ? outage : code}`;
}

function followed(sighting: Sighting, before: Incident | undefined, nowMs: number): Incident {
  const { form, problem, rejected } = sighting;
  const { scope, graceMs } = PROBLEMS[problem.code];
  const isAlone = form !== null && (scope === 'source' || scope === 'target');
  // A form's grace begins when it is seen: not during an outage, a pause or the night before a start.
  const sinceMs = form === null && problem.since !== null ? Date.parse(problem.since) : nowMs;
  const fromMs = Math.min(before?.fromMs ?? sinceMs, nowMs);
  const isDue = nowMs - fromMs >= Math.max(graceMs ?? 0, isAlone ? ALONE_MS : 0);
  // What rises again after a fall is new.
  const told = before?.told
    ? { ...before.told, rejected: Math.min(before.told.rejected, rejected) }
    : null;
  return { ...sighting, fromMs, goneMs: null, isDue, told };
}

/** What a message about it names: of one that is over, what people were told. */
const shown = ({ problem, goneMs, told }: Incident): Problem =>
  goneMs === null || told === null ? problem : told.problem;

function messageOf(members: readonly News[], nowMs: number): Omit<Message, 'link'> {
  const [{ status, incident }] = members as [News];
  const { form, target } = incident;
  const { code, title, message, remedy, command } = shown(incident);
  const isOne = members.length === 1;
  const isError = members.some((each) => each.incident.problem.level === 'error');
  const forms = members.flatMap(({ incident: each }) =>
    each.form === null ? [] : [{ ...each.form, target: each.target ?? '' }],
  );
  const all = target === null ? 'the whole mirror' : `target ${target}`;
  const one = form === null ? all : `${shortName(form.name)} → ${target ?? ''}`;
  const place = isOne ? one : plural(new Set(forms.map(({ id }) => id)).size, 'form');
  const { meaning, title: kind } = PROBLEMS[code];
  const what = isOne ? title : kind;
  const about = { forms, atMs: nowMs };
  const start = `forms-mirror, ${place}:`;
  if (status === 'resolved') {
    const lasted = members.map(({ incident: { fromMs, goneMs } }) => (goneMs ?? nowMs) - fromMs);
    const longest = `${isOne ? '' : 'up to '}${span(Math.max(...lasted))}`;
    const headline = `${start} resolved after ${longest} (was: ${what})`;
    return { ...about, level: 'ok', headline, body: '', remedy: null, command: null };
  }
  return {
    ...about,
    level: isError ? 'error' : 'warning',
    headline: `${start} ${status === 'repeated' ? 'still: ' : ''}${what}`,
    body: isOne ? message : meaning,
    remedy: isOne ? remedy : 'The status page says what to do about each.',
    command: isOne ? command : null,
  };
}
