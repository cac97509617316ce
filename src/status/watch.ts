import type { Clock } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import type { FormOverview } from '../mirror/target.ts';
import type { PassRecord } from '../mirror/types.ts';
import type { SyncEvents } from '../sync/events.ts';
import type { TargetReading } from './known-pairs.ts';
import { type MirrorView, buildView } from './mirror-view.ts';
import { type Pair, PassBook, type TellsPass, pairKey } from './pass-book.ts';
import { SlowReading } from './slow-reading.ts';
import type { QueueState, StatusSource, TargetOverview } from './source.ts';
import { withinTime } from './time-limit.ts';

/** What {@link Watch} needs. */
export interface WatchOptions {
  readonly source: StatusSource;
  readonly events: Events<SyncEvents>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of each pass of the mirror once, whichever worker ran it. */
  readonly onPass: (told: TellsPass) => void;
  /** Told when things may stand differently: a pass ended, or all was read anew. */
  readonly onChange: (view: MirrorView) => void;
}

/** How often everything is read when nobody asks. */
const POLL_MS = 30_000;
/** Whoever asks gets nothing older than this, if it can be had in time. */
const FRESH_MS = 2_000;
const PATIENCE_MS = 2_500;
const TARGET_LIMIT_MS = 20_000;
const QUEUE_LIMIT_MS = 5_000;
/** Reading a sheet counts against its quota, which the passes need. */
const SHEET_REST_MS = 45_000;
/** Passes asked for when other workers have run some. */
const HISTORY = 50;

/**
 * Knows how the mirror stands: reads targets and queue now and then, and hears the passes of this process. What is slow
 * or broken holds up nothing else: then the last reading stands, with its age (L12).
 */
export class Watch {
  readonly #options: WatchOptions;
  readonly #book: PassBook;
  readonly #targets: ReadonlyMap<string, SlowReading<TargetOverview>>;
  readonly #queue: SlowReading<QueueState>;
  readonly #listeningSinceMs = new Map<string, number>();
  readonly #knownSinceMs = new Map<string, number>();
  readonly #stopping = new AbortController();
  #polling: Promise<void> | undefined;
  #queueFailures = 0;
  #hasLooked = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    const { source, events, clock, onPass } = options;
    this.#book = new PassBook(events, clock, {
      onPass: (told) => {
        this.#targets.get(told.pair.target)?.expire();
        onPass(told);
      },
      onChange: () => this.#tell(),
    });
    this.#targets = new Map(source.targets.map((name) => [name, this.#targetReading(name)]));
    this.#queue = new SlowReading({
      read: async () => source.queue(),
      clock,
      limitMs: QUEUE_LIMIT_MS,
      tooSlow: () => new MirrorError('QUEUE_UNREACHABLE', 'The queue does not answer.'),
      restMs: () => 0,
    });
  }

  /** Begins to look by itself. */
  start(): void {
    const now = this.#options.clock.now();
    for (const name of this.#targets.keys()) this.#listeningSinceMs.set(name, now);
    this.#polling ??= this.#poll();
  }

  /** True once every target and the queue were tried. */
  get hasLooked(): boolean {
    return this.#hasLooked;
  }

  /** How everything stands, read just now as far as that takes no more than moments. */
  async look(): Promise<MirrorView> {
    await withinTime(this.#readAll(FRESH_MS), PATIENCE_MS, this.#options.clock);
    return this.view();
  }

  /** How the queue stands, read just now; null when it does not answer. */
  async lookAtQueue(): Promise<QueueState | null> {
    await withinTime(this.#queue.refresh(FRESH_MS), PATIENCE_MS, this.#options.clock);
    return this.#queueState();
  }

  /** How everything stands as far as it is known, without reading. */
  view(): MirrorView {
    const { source, clock } = this.#options;
    const queue = this.#queueState();
    const { value } = this.#queue;
    return buildView({
      nowMs: clock.now(),
      targets: [...this.#targets].map(([name, reading]) => this.#stateOf(name, reading)),
      queue: queue ?? (value === null ? null : { ...value, reachable: false }),
      queueFailures: this.#queueFailures,
      plan: source.plan(),
      nextDueAt: (afterMs) => source.nextDueAt(afterMs),
      knownSinceMs: (pair) => this.#knownSinceMs.get(keyOf(pair)) ?? clock.now(),
      memory: (target, formId) => this.#book.memory(target, formId),
      running: (target, formId) => this.#book.running(target, formId),
    });
  }

  /** Ends looking; a reading under way is not waited for. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#book.stop();
    await this.#polling;
  }

  #targetReading(name: string): SlowReading<TargetOverview> {
    const { source, clock } = this.#options;
    const slow = `Target ${name} takes longer than ${TARGET_LIMIT_MS / 1_000} s to say how it stands.`;
    return new SlowReading({
      read: async () => {
        const overview = await source.overview(name);
        await this.#noteRemembered(name, overview.forms);
        return overview;
      },
      clock,
      limitMs: TARGET_LIMIT_MS,
      tooSlow: () => new MirrorError('TARGET_UNREACHABLE', slow),
      restMs: ({ kind }) => (kind === 'google-sheets' ? SHEET_REST_MS : 0),
    });
  }

  async #noteRemembered(name: string, forms: readonly FormOverview[]): Promise<void> {
    const histories = new Map<string, readonly PassRecord[]>();
    for (const { formId } of this.#book.behind(name, forms)) {
      histories.set(formId, await this.#historyOf(name, formId));
    }
    this.#book.noteRemembered(name, forms, histories);
  }

  /** Its newest passes; none when they cannot be read: then the newest of all, which is known, has to do. */
  async #historyOf(target: string, formId: string): Promise<readonly PassRecord[]> {
    try {
      return await this.#options.source.passes(target, formId, HISTORY);
    } catch (error) {
      this.#options.logger.debug({ target, err: error }, 'The pass history cannot be read.');
      return [];
    }
  }

  #stateOf(name: string, reading: SlowReading<TargetOverview>): TargetReading {
    const { value: overview, readAtMs, failure, failures } = reading;
    return {
      name,
      overview,
      readAtMs,
      failure: failure && { code: failure.code, message: failure.message },
      failures,
      listeningSinceMs: this.#listeningSinceMs.get(name) ?? 0,
    };
  }

  #queueState(): QueueState | null {
    const { value, failure } = this.#queue;
    return failure === null && value?.reachable === true ? value : null;
  }

  async #readAll(maxAgeMs: number): Promise<void> {
    const readings = [...this.#targets.values(), this.#queue];
    await Promise.all(readings.map((reading) => reading.refresh(maxAgeMs)));
  }

  async #poll(): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#untilStopped(this.#readAll(POLL_MS / 2));
      if (signal.aborted) return;
      this.#hasLooked = true;
      this.#queueFailures = this.#queueState() === null ? this.#queueFailures + 1 : 0;
      try {
        this.#tell();
      } catch (error) {
        logger.error({ err: error }, 'Looking at the mirror failed.');
      }
      await clock.sleep(POLL_MS, signal).catch(() => undefined);
    }
  }

  #tell(): void {
    const view = this.view();
    this.#noteOutages(view);
    this.#noteKnown(view);
    this.#options.onChange(view);
  }

  /** While something shared is broken nothing can be heard; from its end on forms have their usual time. */
  #noteOutages(view: MirrorView): void {
    const outage = view.problems.some(({ code }) => code !== 'SILENT');
    for (const { name, problem } of view.targets) {
      if (outage || problem !== null) this.#listeningSinceMs.set(name, view.nowMs);
    }
  }

  #noteKnown({ pairs, nowMs }: MirrorView): void {
    for (const { pair } of pairs) {
      const key = keyOf(pair);
      if (!this.#knownSinceMs.has(key)) this.#knownSinceMs.set(key, nowMs);
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

const keyOf = ({ target, form }: Pair): string => pairKey(target, form.id);
