import type { FormOverview, TargetKind } from '../mirror/target.ts';
import {
  assessQueue,
  assessSource,
  assessTarget,
  explains,
  lastSuccessMs,
  silenceOfAll,
} from './assess-mirror.ts';
import { assessPair } from './assess-pair.ts';
import { type KnownPair, type TargetReading, type ViewFacts, knownPairs } from './known-pairs.ts';
import { type Pair, type RunningPass, pairKey } from './pass-book.ts';
import { type PairMemory, newestPass } from './pass-memory.ts';
import type { PairProblem, Problem } from './problem.ts';
import { type Silence, isSilent, patienceWith, silenceScope } from './silence.ts';
import type { PlanState, QueueState } from './source.ts';

/** How something stands, worst first. `waiting`: no pass yet. `ended`: no longer mirrored. */
export const STATES = ['failed', 'attention', 'working', 'ok', 'waiting', 'ended'] as const;
/** One of {@link STATES}. */
export type State = (typeof STATES)[number];

/** How the whole mirror stands. */
export interface MirrorView {
  readonly nowMs: number;
  readonly state: State;
  /** When the source last did what it should, as far as is known; since the epoch, 0 for never. */
  readonly sourceHeardAtMs: number;
  /** What concerns all: the source, the queue, the scheduler. */
  readonly problems: readonly Problem[];
  readonly targets: readonly TargetView[];
  readonly pairs: readonly PairView[];
  readonly queue: QueueState | null;
  readonly plan: PlanState;
}

/** How a target stands. */
export interface TargetView {
  readonly name: string;
  readonly kind: TargetKind | null;
  readonly address: string | null;
  readonly readAtMs: number;
  /** Whether the last try to read it succeeded. */
  readonly readable: boolean;
  /** End of the newest pass that did not fail; since the epoch, 0 for none. */
  readonly heardAtMs: number;
  readonly paused: boolean;
  readonly problem: Problem | null;
}

/** How a form stands in a target. */
export interface PairView {
  readonly pair: Pair;
  readonly state: State;
  /** False when the settings no longer choose it. */
  readonly wanted: boolean;
  readonly overview: FormOverview | null;
  readonly memory: PairMemory;
  readonly running: RunningPass | null;
  /** When it was last proven complete (ISO); null for never. */
  readonly provenAt: string | null;
  readonly problems: readonly PairProblem[];
}

/** A form that was deleted some time ago is history, nothing to look into. */
const GONE_IS_NEWS_MS = 7 * 24 * 3_600_000;

/** Puts together how everything stands. Pure. */
export function buildView(facts: ViewFacts): MirrorView {
  const { nowMs, plan, queue, queueFailures } = facts;
  const known = facts.targets.flatMap((target) => knownPairs(target, facts));
  const wanted = known.filter((pair) => pair.wanted);
  const source = assessSource(wanted, plan);
  const targets = facts.targets.map((target) => targetView(target, wanted, facts));
  const silences = silencesOf(wanted, facts);
  const scope = silenceScope([...silences.values()], nowMs);
  const pairs = known.map((pair) => {
    const target = targets.find(({ name }) => name === pair.pair.target);
    const shared = [source, target?.problem ?? null];
    const silence = silences.get(keyOf(pair));
    return pairView(pair, { shared, nowMs, silence, silenceCalls: scope === 'alone' });
  });
  const sourceHeardAtMs = Math.max(lastSuccessMs(wanted), Date.parse(plan.at ?? '') || 0);
  const problems = [
    source,
    assessQueue(queue, queueFailures, nowMs),
    scope === 'all' ? silenceOfAll(silences.size, longestSilence(silences, nowMs)) : null,
  ].filter((problem) => problem !== null);
  const state = worst([
    ...problems.map((): State => 'failed'),
    ...targets.filter(({ problem }) => problem !== null).map((): State => 'failed'),
    ...pairs.map(({ state, provenAt }) =>
      state === 'working' && provenAt !== null ? 'ok' : state,
    ),
  ]);
  return { nowMs, state, sourceHeardAtMs, problems, targets, pairs, queue, plan };
}

/** The worst of several states; `waiting` for none. What has ended counts only when all has. */
export function worst(states: readonly State[]): State {
  return STATES.find((state) => states.includes(state)) ?? 'waiting';
}

function targetView(
  reading: TargetReading,
  wanted: readonly KnownPair[],
  { queue }: ViewFacts,
): TargetView {
  const { name, overview, readAtMs, failure, failures } = reading;
  const pairs = wanted.filter(({ pair }) => pair.target === name);
  return {
    name,
    kind: overview?.kind ?? null,
    address: overview?.address ?? null,
    readAtMs,
    readable: failure === null,
    heardAtMs: lastSuccessMs(pairs),
    paused: queuesOf(queue, name).some(({ paused }) => paused),
    problem: assessTarget(pairs, failures > 1 ? failure : null),
  };
}

function queuesOf(queue: QueueState | null, target: string): QueueState['queues'] {
  return (queue?.queues ?? []).filter((depth) => depth.target === target);
}

function silencesOf(wanted: readonly KnownPair[], facts: ViewFacts): Map<string, Silence> {
  const silences = new Map<string, Silence>();
  for (const known of wanted) {
    const { pair, target, memory, running } = known;
    const newest = newestPass(memory);
    if (newest?.outcome === 'gone' || isHeldGone(known)) continue;
    const heardMs = Math.max(
      target.listeningSinceMs,
      facts.knownSinceMs(pair),
      newest === null ? 0 : Date.parse(newest.endedAt),
      running?.heardAtMs ?? 0,
    );
    const queues = queuesOf(facts.queue, pair.target);
    const silence = patienceWith({
      heardMs,
      nextDueAt: facts.nextDueAt,
      paused: queues.some(({ paused }) => paused),
      busy: queues.some(({ active }) => active > 0),
    });
    silences.set(keyOf(known), silence);
  }
  return silences;
}

const isHeldGone = ({ overview }: KnownPair): boolean => (overview?.goneAt ?? null) !== null;

const keyOf = ({ pair }: { pair: Pair }): string => pairKey(pair.target, pair.form.id);

function longestSilence(silences: ReadonlyMap<string, Silence>, nowMs: number): number {
  return Math.max(...[...silences.values()].map(({ heardMs }) => nowMs - heardMs));
}

interface PairContext {
  readonly shared: readonly (Problem | null)[];
  readonly nowMs: number;
  readonly silence: Silence | undefined;
  readonly silenceCalls: boolean;
}

function pairView(known: KnownPair, context: PairContext): PairView {
  const { pair, overview, memory, running } = known;
  const { nowMs, silence, shared } = context;
  const silent =
    silence !== undefined && isSilent(silence, nowMs)
      ? { forMs: nowMs - silence.heardMs, calls: context.silenceCalls }
      : null;
  const goneAt = overview?.goneAt ?? null;
  const isShared = (code: PairProblem['code'] | null): boolean =>
    shared.some((problem) => explains(problem, code));
  const problems = known.wanted ? assessPair({ pair, memory, goneAt, silent, isShared }) : [];
  const state = stateOf(known, problems, nowMs);
  const provenAt = provenTime(overview, memory);
  return { pair, state, wanted: known.wanted, overview, memory, running, provenAt, problems };
}

/** As the target's checkpoint says, unless a pass has proven it since that was read. */
function provenTime(overview: FormOverview | null, { provenMs }: PairMemory): string | null {
  const stored = overview?.checkpoint?.provenAt ?? null;
  if (stored !== null && Date.parse(stored) >= provenMs) return stored;
  return provenMs === 0 ? null : new Date(provenMs).toISOString();
}

function stateOf(known: KnownPair, problems: readonly PairProblem[], nowMs: number): State {
  if (!known.wanted) return 'ended';
  const gone = problems.find(({ code }) => code === 'FORM_GONE');
  const goneAt = known.overview?.goneAt;
  if (gone !== undefined && goneAt !== undefined && goneAt !== null) {
    if (nowMs - Date.parse(goneAt) > GONE_IS_NEWS_MS) return 'ended';
  }
  if (problems.some(({ level }) => level === 'error')) return 'failed';
  if (problems.length > 0) return 'attention';
  if (known.running !== null) return 'working';
  const { memory, overview } = known;
  const isBegun = newestPass(memory) !== null || (overview?.checkpoint ?? null) !== null;
  return isBegun ? 'ok' : 'waiting';
}
