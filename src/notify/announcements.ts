import { z } from 'zod';
import { PROBLEMS, problemCodeOrNull } from '../base/catalogue.ts';
import { count, plural, span } from '../base/format.ts';
import type { Due } from './channel.ts';
import { type Incident, type Observed, type Place, hasPassed, isOver } from './incidents.ts';
import { type Message, shortName } from './message.ts';

/*
 * Compares incidents with what a channel has delivered: each is announced once, repeated once a day while it lasts, and
 * resolved once. An undelivered one is due again, as long as it lasts.
 */

const REPEAT_MS = 24 * 3_600_000;
/** After the first message of a kind about a single form, others of that kind wait so long and go as one. */
const GROUP_MS = 5 * 60_000;

/** The deliveries of one channel. */
export const deliveredSchema = z.object({
  incidents: z.record(
    z.string(),
    z.object({ code: z.string(), title: z.string(), atMs: z.number() }),
  ),
  rejected: z.record(z.string(), z.object({ count: z.number(), atMs: z.number() })),
  /** When a message of a kind about forms was last delivered. */
  kinds: z.record(z.string(), z.number()),
});
/** See {@link deliveredSchema}. */
export type Delivered = z.infer<typeof deliveredSchema>;

/** One thing to say. Several about single forms may go together. */
interface Announcement extends Place {
  readonly id: string;
  readonly status: 'firing' | 'repeated' | 'resolved';
  readonly problem: Pick<Incident, 'code' | 'level' | 'title' | 'message' | 'remedy' | 'command'>;
  /** How long the problem lasted. */
  readonly lastedMs: number;
  /** Records this delivery. */
  readonly note: () => void;
}

/** See {@link dueMessages}. */
export interface DueOptions {
  readonly nowMs: number;
  readonly link: Message['link'];
  /** Called when `delivered` has changed, as a message has arrived. */
  readonly onTaken: () => void;
}

/**
 * What a channel has to send now, what concerns all first. Pure, but that `taken` of a message changes `delivered`, and
 * that it forgets there what does not exist any more, and how many submissions were rejected before fewer were.
 */
export function dueMessages(observed: Observed, delivered: Delivered, options: DueOptions): Due[] {
  const { nowMs } = options;
  // Its subject is not part of the mirror any more.
  for (const id of Object.keys(delivered.incidents))
    if (observed.incidents[id] === undefined) delete delivered.incidents[id];
  const all = [
    ...Object.entries(observed.incidents).flatMap(([id, incident]) =>
      ofIncident(id, incident, delivered.incidents, nowMs),
    ),
    ...Object.entries(observed.rejected).flatMap(([key, rejected]) =>
      ofRejected(key, rejected, delivered.rejected, nowMs),
    ),
  ];
  const wide = all.filter(({ form }) => form === null).map((each) => [each]);
  const byKind = Map.groupBy(
    all.filter(({ form }) => form !== null),
    kindOf,
  );
  const groups = [...byKind].flatMap(([kind, members]) => {
    const lastMs = delivered.kinds[kind];
    return lastMs === undefined || hasPassed(lastMs, GROUP_MS, nowMs) ? [members] : [];
  });
  return [...wide, ...groups].map((members) => dueOf(members, delivered, options));
}

const kindOf = ({ status, problem: { code } }: Announcement): string => `${status}\n${code}`;

function ofIncident(
  id: string,
  incident: Incident,
  delivered: Delivered['incidents'],
  nowMs: number,
): Announcement[] {
  const { form, target, fromMs, goneMs, isDue, isExplained } = incident;
  const before = delivered[id];
  const about = { id, form, target, lastedMs: (goneMs ?? nowMs) - fromMs };
  if (goneMs !== null) {
    if (before === undefined || !isOver(incident, nowMs)) return [];
    const problem = { ...incident, ...before, message: '', remedy: null, command: null };
    return [{ ...about, status: 'resolved', problem, note: () => delete delivered[id] }];
  }
  if (isExplained || !isDue) return [];
  const { code, title } = incident;
  // Most forms that are gone were deleted on purpose: that is not repeated.
  if (before !== undefined && (code === 'FORM_GONE' || !hasPassed(before.atMs, REPEAT_MS, nowMs)))
    return [];
  const note = (): void => {
    delivered[id] = { code, title, atMs: nowMs };
  };
  const status = before === undefined ? 'firing' : 'repeated';
  return [{ ...about, status, problem: incident, note }];
}

function ofRejected(
  key: string,
  { form, target, count: all }: Observed['rejected'][string],
  delivered: Delivered['rejected'],
  nowMs: number,
): Announcement[] {
  const before = delivered[key];
  // What rises again after a fall is new.
  if (before !== undefined) before.count = Math.min(before.count, all);
  const risen = all - (before?.count ?? 0);
  if (risen <= 0 || (before !== undefined && !hasPassed(before.atMs, REPEAT_MS, nowMs))) return [];
  const inAll = all === risen ? '' : ` (${count(all)} in all)`;
  const problem = {
    code: 'ROWS_REJECTED',
    level: 'warning',
    title: plural(risen, 'newly rejected submission'),
    message: `The target could not store ${risen === 1 ? 'it' : 'them'}${inAll}. It stores all others.`,
    remedy: PROBLEMS.ROWS_REJECTED.remedy,
    command: null,
  } as const;
  const note = (): void => {
    delivered[key] = { count: all, atMs: nowMs };
  };
  const id = `rejected\n${key}`;
  return [{ id, form, target, lastedMs: 0, status: 'firing', problem, note }];
}

function dueOf(members: readonly Announcement[], delivered: Delivered, options: DueOptions): Due {
  const { nowMs, link, onTaken } = options;
  const [first] = members as [Announcement];
  const targets = new Set(members.map(({ target }) => target));
  return {
    key: [first.status, ...members.map(({ id }) => id)].join('\n\n'),
    message: {
      ...(members.length === 1 ? textsOfOne(first) : textsOfMany(members)),
      level: first.status === 'resolved' ? 'ok' : worstLevel(members),
      code: first.problem.code,
      link,
      target: targets.size === 1 ? first.target : null,
      atMs: nowMs,
    },
    taken: () => {
      for (const { note } of members) note();
      if (first.form !== null) delivered.kinds[kindOf(first)] = nowMs;
      onTaken();
    },
  };
}

const worstLevel = (members: readonly Announcement[]): 'error' | 'warning' =>
  members.some(({ problem }) => problem.level === 'error') ? 'error' : 'warning';

type Texts = Pick<Message, 'headline' | 'body' | 'remedy' | 'command' | 'form' | 'forms'>;

function textsOfOne(announcement: Announcement): Texts {
  const { form, target, status, lastedMs, problem } = announcement;
  const { title, message, remedy, command } = problem;
  const where = target === null ? 'the whole mirror' : `target ${target}`;
  const place = form === null ? where : `${shortName(form.name)} → ${target ?? ''}`;
  const headline = `forms-mirror, ${place}: ${statement(status, title, span(lastedMs))}`;
  return { headline, body: message, remedy, command, form, forms: [] };
}

function textsOfMany(members: readonly Announcement[]): Texts {
  const [{ status, problem }] = members as [Announcement];
  const code = problemCodeOrNull(problem.code);
  const { title, meaning } = code === null ? { ...problem, meaning: '' } : PROBLEMS[code];
  const forms = members.flatMap(({ form, target }) =>
    form === null ? [] : [{ ...form, target: target ?? '' }],
  );
  const number = plural(new Set(forms.map(({ id }) => id)).size, 'form');
  const longestMs = Math.max(...members.map(({ lastedMs }) => lastedMs));
  const isResolved = status === 'resolved';
  return {
    headline: `forms-mirror, ${number}: ${statement(status, title, `up to ${span(longestMs)}`)}`,
    body: isResolved ? '' : meaning,
    remedy: isResolved ? null : 'The status page says what to do about each.',
    command: null,
    form: null,
    forms,
  };
}

function statement(status: Announcement['status'], title: string, lasted: string): string {
  if (status === 'resolved') return `resolved after ${lasted} (was: ${title})`;
  return status === 'repeated' ? `still: ${title}` : title;
}
