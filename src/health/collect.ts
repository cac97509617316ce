import { type Clock, withinTime } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Run } from '../mirror/port.ts';
import type { FileFacts } from './data-dir.ts';
import type { Facts, TargetContent, TargetPlace } from './facts.ts';
import { judge } from './judge.ts';
import { settingsProblems } from './problem-facts.ts';
import { TargetReading } from './reading.ts';
import type { QueueState, Report } from './report.ts';

/** The sources of facts. Calls may be slow; those to a target may hang or fail, and delay no other (L12). */
export interface HealthSources extends Pick<Facts, 'version' | 'isChosen' | 'nextPollMs'> {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The targets, in the order of the settings. `restMs`: the least time between two readings, if each has a cost. */
  readonly targets: readonly (TargetPlace & { readonly restMs: number })[];
  /** The content of a target. Rejects if it cannot be read. */
  readTarget(name: string): Promise<TargetContent>;
  /** The queue; null for a command, which does not look at it. */
  readonly queue: (() => Promise<QueueState>) | null;
  plan(): Facts['plan'];
  /** The records in DATA_DIR. */
  files(): Promise<FileFacts>;
}

/** How often everything is read without a request. */
const READ_MS = 30_000;
/** A request gets nothing older than this, if it can be read in time. */
const [FRESH_MS, ANSWER_MS] = [2_000, 2_500];

/**
 * Reads targets, queue and files, and judges the latest readings. A command reads once; `start` keeps one, which reads at
 * intervals. A slow or broken part delays no other: its last reading stays, with its age (L12).
 */
export class Watch {
  readonly #sources: HealthSources;
  readonly #targets: readonly TargetReading[];
  #queue: QueueState | null = null;
  #files: FileFacts = { kept: { runs: [], source: null }, problem: null };
  readonly #stopping = new AbortController();
  #polling: Promise<void> | undefined;
  #hasRead = false;

  constructor(sources: HealthSources) {
    this.#sources = sources;
    const { clock } = sources;
    this.#targets = sources.targets.map(({ restMs, ...place }) => {
      const read = (): Promise<TargetContent> => sources.readTarget(place.name);
      return new TargetReading({ place, read, clock, restMs });
    });
  }

  /** True once everything was tried. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** The report on readings made now. For commands. */
  async once(): Promise<Report> {
    await this.#readAll(0);
    return this.current();
  }

  /** The report. Reads facts again if that takes only a moment. */
  async refresh(): Promise<Report> {
    await withinTime(this.#readAll(FRESH_MS), ANSWER_MS, this.#sources.clock);
    return this.current();
  }

  /** The report on the latest readings. */
  current(): Report {
    return judge(this.#facts());
  }

  /** The newest runs of a form, the newest first, as of the latest reading of its target. */
  runs(target: string, formId: string): readonly Run[] {
    const found = this.#targets.find(({ facts }) => facts.name === target);
    const forms = found?.facts.value?.forms ?? [];
    return forms.find(({ state }) => state.formId === formId)?.runs ?? [];
  }

  /** A person's action has ended: the next report reads every target again. */
  expire(): void {
    for (const reading of this.#targets) reading.expire();
  }

  /** Reads at intervals, and calls `onReport` after each reading. */
  start(onReport: (report: Report) => void): void {
    this.#polling ??= this.#poll(onReport);
  }

  /** Stops reading, without waiting for a reading in progress. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#polling;
  }

  async #poll(onReport: (report: Report) => void): Promise<void> {
    const { clock, logger } = this.#sources;
    const { signal } = this.#stopping;
    const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve));
    while (!signal.aborted) {
      try {
        await Promise.race([this.#readAll(READ_MS / 2), stopped]);
        if (signal.aborted) return;
        this.#hasRead = true;
        onReport(this.current());
      } catch (error) {
        logger.error({ err: error }, 'The mirror cannot be judged.');
      }
      await clock.sleep(READ_MS, signal).catch(() => undefined);
    }
  }

  async #readAll(maxAgeMs: number): Promise<void> {
    const sources = this.#sources;
    await Promise.all([
      ...this.#targets.map((reading) => reading.refresh(maxAgeMs)),
      sources.files().then((found) => (this.#files = found)),
      sources.queue?.().then((found) => (this.#queue = found)),
    ]);
  }

  #facts(): Facts {
    const sources = this.#sources;
    const plan = sources.plan();
    const [queue, { kept, problem }] = [this.#queue, this.#files];
    return {
      nowMs: sources.clock.now(),
      version: sources.version,
      targets: this.#targets.map(({ facts }) => facts),
      queue,
      problems: [
        queue?.problem ?? [],
        settingsProblems(plan?.unmatched ?? []),
        problem ?? [],
      ].flat(),
      plan,
      kept,
      isChosen: sources.isChosen,
      nextPollMs: sources.nextPollMs,
    };
  }
}
