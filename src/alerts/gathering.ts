import { remedyFor, type Problem } from '../health/problem.ts';
import { type Alert, incidentOf } from './alert-state.ts';

/*
 * One alert about many forms instead of many about one each: a workspace that was emptied, or a key of another workspace,
 * shows in every form within minutes, and no problem of source or target explains it.
 */

/** An alert that could be sent now; it is offered again at the next look when it has to wait. */
export interface Candidate {
  readonly alert: Alert;
  /** Called when it waits: what it would have changed is taken back. */
  readonly defer: () => void;
}

/** After the first alert of a kind about a single form, others of that kind wait so long and come as one message. */
export const GROUP_INTERVAL_MS = 5 * 60_000;

/** What {@link gather} makes of them. */
export interface Gathered {
  readonly alerts: readonly Alert[];
  /** When alerts of a kind were last sent, by kind; since the epoch. */
  readonly groups: Readonly<Record<string, number>>;
}

/**
 * The alerts to send now. What concerns all goes at once. Of alerts about single forms the first of a kind goes at once;
 * others of the same kind wait until {@link GROUP_INTERVAL_MS} have passed since, and go as one. `groups`: as the last look left it. Pure
 * but for calling `defer`.
 */
export function gather(
  groups: Readonly<Record<string, number>>,
  candidates: readonly Candidate[],
  nowMs: number,
): Gathered {
  const isOpen = (sentAtMs: number | undefined): boolean =>
    // A time that lies ahead was noted under a clock that was wrong.
    sentAtMs === undefined || sentAtMs > nowMs || nowMs - sentAtMs >= GROUP_INTERVAL_MS;
  const kept = Object.fromEntries(Object.entries(groups).filter(([, at]) => !isOpen(at)));
  const wide = candidates.filter(({ alert }) => alert.subject.form === null);
  const single = candidates.filter(({ alert }) => alert.subject.form !== null);
  const alerts = wide.map(({ alert }) => alert);
  for (const [kind, list] of Map.groupBy(single, ({ alert }) => kindOf(alert))) {
    if (!isOpen(groups[kind])) {
      for (const { defer } of list) defer();
      continue;
    }
    kept[kind] = nowMs;
    alerts.push(together(list.map(({ alert }) => alert)));
  }
  return { alerts, groups: kept };
}

const kindOf = ({ status, problem }: Alert): string => `${status}\n${problem.code}`;

/** One alert for several of a kind. */
function together(members: readonly Alert[]): Alert {
  const [first] = members;
  if (first === undefined) throw new TypeError('There is no alert to send.');
  if (members.length === 1) return first;
  const target = same(members, ({ subject }) => subject.target) ?? null;
  const opens = members.every((member) => member.opens);
  return {
    ...first,
    key: `group\n${kindOf(first)}`,
    opens,
    // Of several incidents the first one's.
    incident: opens ? undefined : incidentOf(first),
    forms: new Set(members.map(({ subject }) => subject.form?.id)).size,
    subject: { form: null, target },
    problem: sharedProblem(members, first.problem),
    members,
  };
}

const TITLES: Partial<Record<Problem['code'], string>> = {
  ROWS_REJECTED: 'Newly rejected submissions',
  RUN_INCOMPLETE: 'Unproven several times in a row',
};

function sharedProblem(members: readonly Alert[], first: Problem): Problem {
  const of = <T>(pick: (problem: Problem) => T): T | undefined =>
    same(members, ({ problem }) => pick(problem));
  const remedy = of((problem) => problem.remedy);
  const command = of((problem) => problem.command);
  return {
    ...first,
    level: members.some(({ problem }) => problem.level === 'error') ? 'error' : first.level,
    title: of(({ title }) => title) ?? TITLES[first.code] ?? first.title,
    // Where it differs it is told form by form.
    message: of(({ message }) => message) ?? '',
    remedy: remedy === undefined || command === undefined ? EACH : remedy,
    command: command ?? null,
  };
}

const EACH = `The status page says what to do about each. ${remedyFor(null) ?? ''}`.trim();

/** What all have in common; undefined where they differ. */
function same<T>(members: readonly Alert[], pick: (alert: Alert) => T): T | undefined {
  const [first, ...others] = members.map(pick);
  return others.every((other) => other === first) ? first : undefined;
}
