import { count, plural } from '../base/format.ts';
import { formKey } from '../health/facts.ts';
import type { FormHealth } from '../health/form-health.ts';
import type { MirrorHealth, TargetHealth } from '../health/mirror-health.ts';
import { newestPass } from '../health/pass-summary.ts';
import { type FormProblem, type Problem, remedyFor, type Track } from '../health/problem.ts';
import {
  type Alert,
  ALERTS_VERSION,
  type AlertState,
  type Observation,
  type RejectedState,
  type SubjectState,
  evaluate,
  evaluateRejected,
  incidentOf,
} from './alert-state.ts';
import { type Candidate, gather } from './gathering.ts';
import { type Spell, isSameCause, whatPersists } from './persistence.ts';

/*
 * Groups the mirror's problems by subject, so that one cause makes one alert: a problem of the source or a target
 * inhibits those of the forms that it explains.
 */

/** What a look at the mirror's health changes: the state from now on, and the alerts to send, the widest first. */
export interface AlertChanges {
  readonly state: AlertState;
  readonly alerts: readonly Alert[];
}

/** Compares health with what people were notified of; `isFresh` as in {@link Look}. Pure. */
export function evaluateAll(
  before: AlertState,
  health: MirrorHealth,
  isFresh: boolean,
): AlertChanges {
  const { nowMs } = health;
  const subjects = new Map<string, SubjectState>();
  const spells = new Map<string, Spell>();
  const candidates: Candidate[] = [];
  for (const seen of observe(health, before.spells)) {
    const { key } = seen;
    const { spell, observation } = whatPersists(before.spells[key], seen, { nowMs, isFresh });
    const { state, alert } = evaluate(before.subjects[key], observation, nowMs);
    put(spells, key, spell);
    put(subjects, key, state);
    if (alert === undefined) continue;
    const defer = (): void => {
      put(spells, key, before.spells[key] ?? spell);
      put(subjects, key, before.subjects[key]);
    };
    candidates.push({ alert, defer });
  }
  const unread = new Set(health.targets.filter(isUnobserved).map(({ name }) => name));
  const paused = new Set(
    health.forms
      .filter(({ pause }) => pause !== null)
      .map(({ target, form }) => formKey(target, form.id)),
  );
  // What cannot be read now, or is paused, is neither healthy nor not; whatever else was not observed exists no more.
  const isKept = (key: string): boolean =>
    unread.has(targetOf(key)) || paused.has(key.slice(key.indexOf('\n') + 1));
  for (const [key, state] of Object.entries(before.subjects)) {
    if (!subjects.has(key) && isKept(key)) subjects.set(key, state);
  }
  for (const [key, spell] of Object.entries(before.spells)) {
    if (!spells.has(key) && isKept(key)) spells.set(key, spell);
  }
  const rejected = evaluateAllRejected(before, health, unread);
  candidates.push(...rejected.candidates);
  const { alerts, groups } = gather(before.groups, candidates, nowMs);
  for (const alert of alerts) {
    // What follows about one of these forms belongs to this alert.
    for (const { key } of alert.opens ? (alert.members ?? []) : []) {
      const state = subjects.get(key);
      if (state !== undefined) subjects.set(key, { ...state, incident: incidentOf(alert) });
    }
  }
  const state = {
    version: ALERTS_VERSION,
    subjects: Object.fromEntries(subjects),
    spells: Object.fromEntries(spells),
    rejected: Object.fromEntries(rejected.subjects),
    groups,
  } as const;
  return { state, alerts };
}

function put<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

const TRACKS: readonly Track[] = ['passes', 'deletions', 'staleness', 'marking'];

/** Every subject as it is: the mirror, its targets, its forms. */
function observe(health: MirrorHealth, spells: AlertState['spells']): Observation[] {
  const { problems, targets, nowMs, sourceHeardAtMs } = health;
  const unread = new Set(targets.filter(isUnread).map(({ name }) => name));
  // Nobody waits for what people have paused.
  const forms = health.forms.filter(
    (form) => form.wanted && form.pause === null && !isUnknown(form, unread),
  );
  const sourceProblem = problems.find(({ code }) => sharedKey(code) === 'source');
  const source = causeOf(sourceProblem, forms, 'FORMS_', spells['source']);
  const causes = new Map(
    targets.map(({ name, problem }) => {
      const own = forms.filter(({ target }) => target === name);
      const spell = spells[subjectKey('target', name)];
      return [name, causeOf(problem ?? undefined, own, 'TARGET_', spell)];
    }),
  );
  return [
    sharedObservation('source', null, source, sourceHeardAtMs),
    ...(['settings', 'queue', 'staleness'] as const).map((key) => {
      const problem = problems.find(({ code }) => sharedKey(code) === key) ?? null;
      const heardAtMs = key === 'queue' ? nowMs : sourceHeardAtMs;
      return sharedObservation(key, null, { ...NO_CAUSE, problem }, heardAtMs);
    }),
    ...targets.filter(isObserved).map(({ name, readable, readAtMs, heardAtMs }) => {
      const healthyAtMs = Math.max(readable ? readAtMs : 0, heardAtMs);
      const cause = causes.get(name) ?? NO_CAUSE;
      return sharedObservation(subjectKey('target', name), name, cause, healthyAtMs);
    }),
    ...forms.flatMap((form) => {
      const explained = [source, causes.get(form.target) ?? NO_CAUSE];
      return TRACKS.map((track) => formObservation(form, track, explained));
    }),
  ];
}

/** What forms have in common: the problem, and the failures of forms that it explains. */
interface Cause {
  readonly problem: Problem | null;
  readonly explained: ReadonlySet<FormProblem>;
  readonly forms: number;
}

const NO_CAUSE: Cause = { problem: null, explained: new Set(), forms: 0 };

/**
 * What health says the forms have in common; or, where it does not say so (one of them was well in between, as in front of
 * a database that takes every other connection), that several fail in the same way. A cause lasts until the last form that
 * fails like this is well: it is no trouble of that form's own.
 */
function causeOf(
  shared: Problem | undefined,
  forms: readonly FormHealth[],
  codes: 'FORMS_' | 'TARGET_',
  spell: Spell | undefined,
): Cause {
  const failing = forms.flatMap(({ form, problems }) =>
    problems
      .filter(({ track, level, code }) => {
        return track === 'passes' && level === 'error' && code.startsWith(codes);
      })
      .map((problem) => ({ id: form.id, problem })),
  );
  // A key is refused for all forms or for none: a failure from before it was taken again says nothing.
  const left = failing.find(
    ({ problem: { code } }) =>
      spell && code !== 'FORMS_UNAUTHORIZED' && isSameCause(code, spell.code),
  );
  const problem = shared ?? (left ?? failing[0])?.problem;
  if (problem === undefined) return NO_CAUSE;
  const alike = failing.filter(
    (one) => one.problem.inhibited || isSameCause(one.problem.code, problem.code),
  );
  const count = new Set(alike.map(({ id }) => id)).size;
  if (shared === undefined && left === undefined && count < 2) return NO_CAUSE;
  return {
    problem: shared ?? { ...problem, title: 'Passes of several forms fail' },
    explained: new Set(alike.map((one) => one.problem)),
    forms: count,
  };
}

function sharedObservation(
  key: string,
  target: string | null,
  { problem, forms }: Cause,
  healthyAtMs: number,
): Observation {
  // A warning about all is one that may be over with the next look.
  const notifies = problem?.level === 'error';
  const always = { notifies, inhibited: false, occurrence: '' };
  return { key, subject: { form: null, target }, problem, ...always, healthyAtMs, forms };
}

function formObservation(
  { form, target, summary, problems }: FormHealth,
  track: Track,
  causes: readonly Cause[],
): Observation {
  const found = problems.find((problem) => problem.track === track);
  const { id, name } = form;
  const newest = track === 'deletions' ? summary.full : newestPass(summary);
  return {
    key: subjectKey(track, target, id),
    subject: { form: { id, name }, target },
    problem: found ?? null,
    notifies: found?.notifies ?? false,
    inhibited: found !== undefined && (found.inhibited || isExplained(found, causes)),
    occurrence: found?.occurrence ?? '',
    healthyAtMs: newest === null ? 0 : Date.parse(newest.endedAt),
    forms: 0,
  };
}

const isExplained = (problem: FormProblem, causes: readonly Cause[]): boolean =>
  causes.some(({ explained }) => explained.has(problem));

function sharedKey(code: Problem['code']): 'settings' | 'source' | 'queue' | 'staleness' {
  if (code === 'STALE') return 'staleness';
  if (code === 'SETTINGS') return 'settings';
  return code.startsWith('QUEUE_') ? 'queue' : 'source';
}

/** `<what>\n<target>[\n<form>]`: no target's name holds a line break. */
const subjectKey = (what: string, target: string, formId?: string): string =>
  formId === undefined ? `${what}\n${target}` : `${what}\n${formKey(target, formId)}`;

const targetOf = (key: string): string => key.split('\n')[1] ?? '';

const isUnread = ({ readAtMs }: TargetHealth): boolean => readAtMs === 0;

/** Paused as a whole, it is neither well nor not; one that was never read may be observed to fail. */
const isObserved = ({ pause }: TargetHealth): boolean => pause === null;
const isUnobserved = (target: TargetHealth): boolean => isUnread(target) || !isObserved(target);

/** Its target was not read yet, and no pass of this process has ended: nothing is known of it. */
const isUnknown = ({ target, summary }: FormHealth, unread: ReadonlySet<string>): boolean =>
  summary.notedUntilMs === 0 && unread.has(target);

function evaluateAllRejected(
  before: AlertState,
  health: MirrorHealth,
  unread: ReadonlySet<string>,
): { subjects: Map<string, RejectedState>; candidates: Candidate[] } {
  const { nowMs } = health;
  const subjects = new Map<string, RejectedState>();
  const candidates: Candidate[] = [];
  for (const [key, state] of Object.entries(before.rejected)) {
    if (unread.has(targetOf(key))) subjects.set(key, state);
  }
  for (const { form, target, overview, wanted } of health.forms) {
    if (overview === null || !wanted) continue;
    const { id, name } = form;
    const key = subjectKey('rejected', target, id);
    const { rejected } = overview;
    const { state, risen } = evaluateRejected(before.rejected[key], rejected, nowMs);
    put(subjects, key, state);
    if (risen === 0) continue;
    const problem = rejectedProblem(risen, rejected);
    const subject = { form: { id, name }, target };
    const about = { key, opens: true, forms: 0, subject, problem, atMs: nowMs, openedAtMs: nowMs };
    const defer = (): void => put(subjects, key, before.rejected[key]);
    candidates.push({ alert: { status: 'firing', ...about }, defer });
  }
  return { subjects, candidates };
}

function rejectedProblem(risen: number, total: number): Problem {
  const all = total === risen ? '' : ` (${count(total)} in all)`;
  return {
    level: 'warning',
    code: 'ROWS_REJECTED',
    title: plural(risen, 'newly rejected submission'),
    message: `They could not be stored, or not unchanged${all}. All others are.`,
    remedy: remedyFor('ROWS_REJECTED'),
    command: null,
    since: null,
  };
}
