import type { ProblemCode } from '../base/catalogue.ts';
import { type Clock, withinTime } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import type { FormOverview } from '../mirror/target.ts';
import type { PassRecord } from '../mirror/types.ts';
import type { SyncEvents } from '../sync/events.ts';
import { overviewRestMs } from '../targets/target-kinds.ts';
import { CachedReading } from './cached-reading.ts';
import {
  type FormInTarget,
  formKey,
  type HealthSource,
  type QueueState,
  slowTarget,
  TARGET_LIMIT_MS,
  type TargetOverview,
  type TargetReading,
} from './facts.ts';
import { type KeptFailures, NO_FAILURES } from './kept-failures.ts';
import { assessMirror, type MirrorHealth, queuedRunAt } from './mirror-health.ts';
import { comparedBy } from './next-comparison.ts';
import { type EndedPass, PassTracker } from './pass-tracker.ts';
import type { Problem } from './problem.ts';
import { type SourceWait, SourceWaits, together } from './source-waits.ts';

/** See {@link HealthMonitor}. */
export interface MonitorOptions {
  readonly source: HealthSource;
  readonly events: Events<SyncEvents>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once for each pass of the mirror, whichever worker ran it. */
  readonly onPass: (ended: EndedPass) => void;
  /** Called when health may have changed: passes ended, or everything was read again just now (`isFresh`). */
  readonly onChange: (health: MirrorHealth, isFresh: boolean) => void;
}

/** How often everything is read when nobody asks. */
const POLL_MS = 30_000;
/** And while something is wrong: its end is to show, and nothing is announced that is over. */
const TROUBLED_POLL_MS = 5_000;
/** Whoever asks gets nothing older than this, if it can be had in time. */
const FRESH_MS = 2_000;
const ANSWER_LIMIT_MS = 2_500;
/** A queue that did not answer is asked again by whoever asks for it, no oftener than this: it may be back. */
const RECOVERY_MS = 500;
const QUEUE_LIMIT_MS = 5_000;
/** Passes asked for when other workers have run some. */
const HISTORY = 50;
/** Passes that end within this time of each other are judged together: with many forms they end by the hundred. */
const CHANGE_REST_MS = 1_000;

/**
 * Follows the health of the mirror in a running process: reads targets and queue at intervals, and listens to the passes
 * of this process. What is slow or broken holds up nothing else: its last reading stands, with its age (L12).
 */
export class HealthMonitor {
  readonly #options: MonitorOptions;
  readonly #tracker: PassTracker;
  readonly #waits: SourceWaits;
  readonly #targets: ReadonlyMap<string, CachedReading<TargetOverview>>;
  readonly #queue: CachedReading<QueueState>;
  readonly #elsewhere: CachedReading<{ readonly wait: SourceWait | null }>;
  readonly #expectedSinceMs = new Map<string, number>();
  readonly #knownSinceMs = new Map<string, number>();
  readonly #stopping = new AbortController();
  #polling: Promise<void> | undefined;
  #kept = NO_FAILURES;
  #dataDir: Problem | null = null;
  #queueFailures = 0;
  #queueDownSinceMs = 0;
  #hasRead = false;
  #isTroubled = false;
  #changedAtMs = Number.NEGATIVE_INFINITY;
  /** Passes have ended that `onChange` was not called for yet; it will be. */
  #isChangePending = false;

  constructor(options: MonitorOptions) {
    this.#options = options;
    const { source, events, clock, onPass } = options;
    this.#tracker = new PassTracker(events, clock, {
      onPass: (ended) => {
        this.#targets.get(ended.target)?.expire();
        onPass(ended);
      },
      onEnd: () => this.#changeSoon(),
    });
    this.#waits = new SourceWaits(events, clock);
    this.#targets = new Map(source.targets.map((name) => [name, this.#targetReading(name)]));
    this.#queue = new CachedReading({
      read: () => this.#readQueue(),
      clock,
      limitMs: QUEUE_LIMIT_MS,
      tooSlow: () => new MirrorError('QUEUE_FAILED', 'The queue does not answer.'),
      restMs: () => 0,
      isAnswer: ({ reachable }) => reachable,
    });
    this.#elsewhere = new CachedReading({
      read: async () => {
        await this.#readDataDir();
        return { wait: await source.waitElsewhere() };
      },
      clock,
      limitMs: QUEUE_LIMIT_MS,
      tooSlow: () => new MirrorError('INTERNAL', 'DATA_DIR cannot be read.'),
      restMs: () => 0,
    });
  }

  /** Starts reading at intervals. */
  start(): void {
    const now = this.#options.clock.now();
    for (const name of this.#targets.keys()) this.#expectedSinceMs.set(name, now);
    this.#polling ??= this.#poll();
  }

  /** True once every target and the queue were tried. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** The mirror's health, read again as far as that takes no more than a moment. */
  async refresh(): Promise<MirrorHealth> {
    await withinTime(this.#readAll(FRESH_MS), ANSWER_LIMIT_MS, this.#options.clock);
    return this.current();
  }

  /** A person had something done: what is shown next is read after that, whatever reading it costs. */
  expire(): void {
    for (const reading of [...this.#targets.values(), this.#queue]) reading.expireAtOnce();
  }

  /** The queue's state, read again; null when it does not answer. That it answers again shows at once. */
  async refreshQueue(): Promise<QueueState | null> {
    const maxAgeMs = this.#queueState() === null ? RECOVERY_MS : FRESH_MS;
    await withinTime(this.#queue.refresh(maxAgeMs), ANSWER_LIMIT_MS, this.#options.clock);
    return this.#queueState();
  }

  /** The mirror's health as far as it is known, without reading. */
  current(): MirrorHealth {
    const { source, clock } = this.#options;
    const { value } = this.#queue;
    const queue = this.#queueState() ?? (value === null ? null : { ...value, reachable: false });
    return assessMirror({
      nowMs: clock.now(),
      targets: [...this.#targets].map(([name, reading]) => this.#readingOf(name, reading)),
      queue,
      queueFailures: this.#queueFailures,
      queueFailingSinceMs: this.#queueDownSinceMs,
      plan: source.plan(),
      kept: this.#kept.passes,
      dataDir: this.#dataDir,
      isChosen: (subject) => source.isChosen(subject),
      nextRunMs: (afterMs) => source.nextRunMs(afterMs),
      nextRunAt: () => queuedRunAt(queue),
      nextFullAt: ({ overview }) =>
        queuedRunAt(queue) && comparedBy(overview, source.compareWithinMs, clock.now()),
      knownSinceMs: (subject) => this.#knownSinceMs.get(keyOf(subject)) ?? clock.now(),
      summary: (target, formId) => this.#tracker.summary(target, formId),
      running: (target, formId) => this.#tracker.running(target, formId),
      sourceWait: this.#sourceWait(),
      notRunning: null,
      hasNoQueue: value === null && this.#queue.failure === null,
    });
  }

  /** Stops reading; a reading under way is not waited for. What has changed meanwhile is announced before. */
  async stop(): Promise<void> {
    this.#tracker.stop();
    this.#waits.stop();
    this.#flushChange();
    this.#stopping.abort();
    await this.#polling;
  }

  #targetReading(name: string): CachedReading<TargetOverview> {
    const { source, clock } = this.#options;
    return new CachedReading({
      read: async () => {
        const overview = await source.overview(name);
        await this.#addRecorded(name, overview.forms);
        return overview;
      },
      clock,
      limitMs: TARGET_LIMIT_MS,
      tooSlow: () => slowTarget(name),
      restMs: ({ kind }) => overviewRestMs(kind),
    });
  }

  async #readQueue(): Promise<QueueState> {
    const { source, clock } = this.#options;
    const downSinceMs = this.#queueDownSinceMs || clock.now();
    this.#queueDownSinceMs = downSinceMs;
    const state = await source.queue();
    if (state.reachable) this.#queueDownSinceMs = 0;
    return state;
  }

  async #addRecorded(name: string, forms: readonly FormOverview[]): Promise<void> {
    const histories = new Map<string, readonly PassRecord[]>();
    for (const { formId } of this.#tracker.withNewPasses(name, forms)) {
      histories.set(formId, await this.#historyOf(name, formId));
    }
    this.#tracker.addRecorded(name, forms, histories, await this.#readKept());
  }

  /** Its newest passes; none when they cannot be read: then the newest one, which is known, has to do. */
  async #historyOf(target: string, formId: string): Promise<readonly PassRecord[]> {
    try {
      return await this.#options.source.passes(target, formId, HISTORY);
    } catch (error) {
      this.#options.logger.debug({ target, err: error }, 'The pass history cannot be read.');
      return [];
    }
  }

  /** The failures that no target holds; those known last when they cannot be read. */
  async #readKept(): Promise<KeptFailures['passes']> {
    try {
      this.#kept = await this.#options.source.kept();
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'The failures kept in DATA_DIR cannot be read.');
    }
    return this.#kept.passes;
  }

  async #readDataDir(): Promise<void> {
    const problem = await this.#options.source.dataDir();
    const since = this.#dataDir?.since ?? new Date(this.#options.clock.now()).toISOString();
    this.#dataDir = problem && { ...problem, since };
  }

  #readingOf(name: string, reading: CachedReading<TargetOverview>): TargetReading {
    const { value: overview, readAtMs, failure, failures, failingSinceMs: sinceMs } = reading;
    return {
      name,
      overview,
      readAtMs,
      failure: failure && { code: failure.code, message: failure.message, sinceMs },
      failures,
      expectedSinceMs: this.#expectedSinceMs.get(name) ?? 0,
    };
  }

  #queueState(): QueueState | null {
    const { value, failure } = this.#queue;
    return failure === null && value?.reachable === true ? value : null;
  }

  /** Of this process and of those it hears of: one of them may do the work. */
  #sourceWait(): SourceWait | null {
    const waits = [this.#waits.current, this.#elsewhere.value?.wait ?? null];
    return together(waits.filter((wait) => wait !== null));
  }

  async #readAll(maxAgeMs: number): Promise<void> {
    const readings = [...this.#targets.values(), this.#queue, this.#elsewhere];
    await Promise.all(readings.map((reading) => reading.refresh(maxAgeMs)));
  }

  async #poll(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#untilStopped(this.#readForPoll());
      if (signal.aborted) return;
      this.#hasRead = true;
      this.#countQueueFailures();
      this.#tryChange(true);
      const pauseMs = this.#isTroubled ? TROUBLED_POLL_MS : POLL_MS;
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  /** What failed is asked for again, the queue last: a target may have taken its time to fail again. */
  async #readForPoll(): Promise<void> {
    const restMs = (isTroubled: boolean) => (isTroubled ? TROUBLED_POLL_MS : POLL_MS) / 2;
    await Promise.all([
      this.#elsewhere.refresh(restMs(this.#dataDir !== null || this.#elsewhere.failure !== null)),
      ...[...this.#targets.values(), this.#queue].map((reading) =>
        reading.refresh(restMs(reading.failure !== null)),
      ),
    ]);
    if (this.#queueState() === null) await this.#queue.refresh(RECOVERY_MS);
  }

  #countQueueFailures(): void {
    const isUp = this.#queueState() !== null;
    this.#queueFailures = isUp ? 0 : this.#queueFailures + 1;
  }

  /** At once, or together with what else ends soon after the last time; the last pass to end is never left out. */
  #changeSoon(): void {
    const { clock } = this.#options;
    if (this.#isChangePending) return;
    const restMs = this.#changedAtMs + CHANGE_REST_MS - clock.now();
    this.#isChangePending = true;
    if (restMs <= 0) this.#flushChange();
    else
      clock.sleep(restMs, this.#stopping.signal).then(
        () => this.#flushChange(),
        () => undefined,
      );
  }

  /** Announces the passes that have ended, if there are any. */
  #flushChange(): void {
    if (!this.#isChangePending) return;
    this.#isChangePending = false;
    this.#changedAtMs = this.#options.clock.now();
    this.#tryChange(false);
  }

  #tryChange(isFresh: boolean): void {
    try {
      const health = this.current();
      this.#noteOutages(health);
      this.#noteKnown(health);
      this.#isTroubled = hasTrouble(health);
      this.#options.onChange(health, isFresh);
    } catch (error) {
      this.#options.logger.error({ err: error }, 'The health of the mirror cannot be judged.');
    }
  }

  /** During an outage nothing can be heard; from its end on forms have their usual time. */
  #noteOutages(health: MirrorHealth): void {
    const isOutage = health.problems.some(
      ({ code, level }) => level === 'error' && !HOLDS_UP_NOTHING.has(code),
    );
    for (const { name, problem } of health.targets) {
      if (isOutage || problem?.level === 'error') this.#expectedSinceMs.set(name, health.nowMs);
    }
  }

  #noteKnown({ forms, nowMs }: MirrorHealth): void {
    for (const form of forms) {
      const key = keyOf(form);
      // One that is resumed has its usual time from then on.
      if (!this.#knownSinceMs.has(key) || form.pause !== null) this.#knownSinceMs.set(key, nowMs);
    }
  }

  async #untilStopped(work: Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    const stopped = Promise.withResolvers<void>();
    const stop = (): void => stopped.resolve();
    signal.addEventListener('abort', stop, { once: true });
    await Promise.race([work, stopped.promise]);
    signal.removeEventListener('abort', stop);
  }
}

/** What concerns all forms while their passes go on, or says itself that they do not. */
const HOLDS_UP_NOTHING: ReadonlySet<ProblemCode> = new Set(['STALE', 'SETTINGS', 'DATA_DIR']);

/** Something is wrong that may be over soon: not one form's own matter, which its next pass decides. */
const hasTrouble = ({ problems, targets, forms, queue }: MirrorHealth): boolean =>
  problems.length > 0 ||
  queue?.reachable !== true ||
  targets.some(({ problem, readable }) => problem !== null || !readable) ||
  forms.some(({ state }) => state === 'failed');

const keyOf = ({ target, form }: FormInTarget): string => formKey(target, form.id);
