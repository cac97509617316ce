import {
  type Alert,
  type AlertEntry,
  type AlertMemory,
  type Observation,
  type RejectedEntry,
  judge,
  judgeRejected,
} from './alert-book.ts';
import type { MirrorView, PairView, TargetView } from './mirror-view.ts';
import { pairKey } from './pass-book.ts';
import { newestPass } from './pass-memory.ts';
import type { PairProblem, Problem, Track } from './problem.ts';
import { plural } from './words.ts';

/** What a view changes: what was told from now on, and what to tell, the widest first. */
export interface Considered {
  readonly memory: AlertMemory;
  readonly alerts: readonly Alert[];
}

/** Compares how everything stands with what was told. Pure. */
export function consider(memory: AlertMemory, view: MirrorView): Considered {
  const subjects: Record<string, AlertEntry> = {};
  const alerts: Alert[] = [];
  for (const observation of observe(view)) {
    const { key } = observation;
    const { entry, alert } = judge(memory.subjects[key], observation, view.nowMs);
    if (entry !== undefined) subjects[key] = entry;
    if (alert !== undefined) alerts.push(alert);
  }
  const unread = new Set(view.targets.filter(isUnread).map(({ name }) => name));
  // What cannot be looked at now is neither well nor bad; whatever else was not observed exists no more.
  for (const [key, entry] of Object.entries(memory.subjects)) {
    if (!(key in subjects) && unread.has(targetOf(key))) subjects[key] = entry;
  }
  const rejected = considerRejected(memory, view, unread);
  return {
    memory: { version: 1, subjects, rejected: rejected.entries },
    alerts: [...alerts, ...rejected.alerts],
  };
}

const TRACKS: readonly Track[] = ['passes', 'deletions', 'silence'];
const SHARED = ['source', 'queue', 'silence'] as const;

/** Every subject as it stands: the mirror, its targets, its forms. */
function observe(view: MirrorView): Observation[] {
  const { problems, targets, pairs } = view;
  return [
    ...SHARED.map((slot) => {
      const problem = problems.find(({ code }) => slotOf(code) === slot) ?? null;
      const goodAtMs = slot === 'queue' ? view.nowMs : view.sourceHeardAtMs;
      return sharedObservation(slot, null, problem, goodAtMs);
    }),
    ...targets.map((target) => {
      const goodAtMs = Math.max(target.readable ? target.readAtMs : 0, target.heardAtMs);
      return sharedObservation(subjectKey('target', target.name), target, target.problem, goodAtMs);
    }),
    ...pairs
      .filter((pair) => pair.wanted && !isUnknown(pair, targets))
      .flatMap((pair) => TRACKS.map((track) => pairObservation(pair, track))),
  ];
}

function sharedObservation(
  key: string,
  target: TargetView | null,
  problem: Problem | null,
  goodAtMs: number,
): Observation {
  const subject = { form: null, target: target?.name ?? null };
  return { key, subject, problem, calls: true, covered: false, evidence: '', goodAtMs };
}

function pairObservation({ pair, memory, problems }: PairView, track: Track): Observation {
  const found: PairProblem | undefined = problems.find((problem) => problem.track === track);
  const { id, name } = pair.form;
  const newest = track === 'deletions' ? memory.full : newestPass(memory);
  return {
    key: subjectKey(track, pair.target, id),
    subject: { form: { id, name }, target: pair.target },
    problem: found ?? null,
    calls: found?.calls ?? false,
    covered: found?.covered ?? false,
    evidence: found?.evidence ?? '',
    goodAtMs: newest === null ? 0 : Date.parse(newest.endedAt),
  };
}

function slotOf(code: Problem['code']): (typeof SHARED)[number] {
  if (code === 'SILENT') return 'silence';
  return code.startsWith('QUEUE_') || code === 'SCHEDULE_OVERDUE' ? 'queue' : 'source';
}

/** `<what>\n<target>[\n<form>]`: no target's name holds a line break. */
const subjectKey = (what: string, target: string, formId?: string): string =>
  formId === undefined ? `${what}\n${target}` : `${what}\n${pairKey(target, formId)}`;

const targetOf = (key: string): string => key.split('\n')[1] ?? '';

const isUnread = ({ readAtMs }: TargetView): boolean => readAtMs === 0;

/** Its target has told nothing yet, and no pass of this process has: nothing is known either way. */
function isUnknown({ pair, memory }: PairView, targets: readonly TargetView[]): boolean {
  const target = targets.find(({ name }) => name === pair.target);
  return memory.notedUntilMs === 0 && (target === undefined || isUnread(target));
}

function considerRejected(
  memory: AlertMemory,
  view: MirrorView,
  unread: ReadonlySet<string>,
): { entries: Record<string, RejectedEntry>; alerts: Alert[] } {
  const entries: Record<string, RejectedEntry> = {};
  const alerts: Alert[] = [];
  for (const [key, entry] of Object.entries(memory.rejected)) {
    if (unread.has(targetOf(key))) entries[key] = entry;
  }
  for (const { pair, overview, wanted } of view.pairs) {
    if (overview === null || !wanted) continue;
    const key = subjectKey('rejected', pair.target, pair.form.id);
    const { entry, risen } = judgeRejected(memory.rejected[key], overview.rejected, view.nowMs);
    if (entry !== undefined) entries[key] = entry;
    if (risen === 0) continue;
    const { id, name } = pair.form;
    const problem = rejectedProblem(risen, overview.rejected);
    const subject = { form: { id, name }, target: pair.target };
    alerts.push({ turn: 'bad', subject, problem, atMs: view.nowMs });
  }
  return { entries, alerts };
}

function rejectedProblem(risen: number, total: number): Problem {
  const all = total === risen ? '' : ` (${total.toLocaleString('en-US')} in all)`;
  return {
    level: 'warning',
    code: 'ROWS_REJECTED',
    title: plural(risen, 'newly rejected submission'),
    message: `They could not be stored, or not as they are${all}. All others are.`,
    remedy: "The form's page in the status page lists their IDs with the reason for each.",
    command: null,
  };
}
