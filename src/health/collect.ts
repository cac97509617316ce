import { type Clock, withinTime } from '../base/clock.ts';
import { errorCode, MirrorError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Run } from '../mirror/port.ts';
import type { Facts, TargetContent, TargetPlace } from './facts.ts';
import { judge } from './judge.ts';
import { Reading } from './reading.ts';
import type { QueueState, Report } from './report.ts';
import { settingsProblems, type ProblemFacts } from './problem-facts.ts';

/** The sources of facts. Calls may be slow, hang or fail; none delays another (L12). */
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
  /** The records in DATA_DIR, and why failures cannot be recorded there. Rejects with the system's error. */
  files(): Promise<FileFacts>;
}

type FileFacts = Pick<Facts, 'kept'> & { readonly problem: ProblemFacts | null };

/** A target that takes longer counts as not answering. */
const TARGET_LIMIT_MS = 20_000;
const OTHERS_LIMIT_MS = 5_000;
/** How often everything is read without a request, and how often while there is a problem, so that its end shows soon. */
const [READ_MS, PROBLEM_MS] = [30_000, 5_000];
/** A request gets nothing older than this, if it can be read in time. */
const [FRESH_MS, ANSWER_MS] = [2_000, 2_500];

/**
 * Reads targets, queue and files, and judges the latest readings. A command reads once; `start` keeps one, which reads at
 * intervals. A slow or broken part delays no other: its last reading stays, with its age (L12).
 */
export class Watch {
  readonly #sources: HealthSources;
  readonly #targets: readonly {
    readonly place: TargetPlace;
    readonly reading: Reading<TargetContent>;
  }[];
  readonly #queue: Reading<QueueState> | null;
  readonly #files: Reading<FileFacts>;
  readonly #stopping = new AbortController();
  #polling: Promise<void> | undefined;
  #hasRead = false;

  constructor(sources: HealthSources) {
    this.#sources = sources;
    const { clock } = sources;
    this.#targets = sources.targets.map(({ name, kind, address, restMs }) => {
      const read = (): Promise<TargetContent> => sources.readTarget(name);
      const options = { read, clock, limitMs: TARGET_LIMIT_MS, slow: slowTarget(name), restMs };
      return { place: { name, kind, address }, reading: new Reading(options) };
    });
    const others = { clock, limitMs: OTHERS_LIMIT_MS, restMs: 0 };
    const { queue } = sources;
    const slowQueue = { code: 'QUEUE_FAILED', message: 'The queue does not answer.' } as const;
    this.#queue = queue && new Reading({ ...others, read: queue, slow: slowQueue });
    const slowFiles = { code: 'DATA_DIR', message: 'DATA_DIR does not answer.' } as const;
    this.#files = new Reading({ ...others, read: () => readFiles(sources), slow: slowFiles });
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
    const found = this.#targets.find(({ place }) => place.name === target);
    const forms = found?.reading.latest.value?.forms ?? [];
    return forms.find(({ state }) => state.formId === formId)?.runs ?? [];
  }

  /** An action or a run has ended: the next report reads again. `atAnyCost`: even metered targets. */
  expire(atAnyCost: boolean, target?: string): void {
    for (const { place, reading } of this.#targets)
      if (target === undefined || target === place.name) reading.expire(atAnyCost);
    if (target === undefined) this.#queue?.expire(true);
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
    let pauseMs = READ_MS;
    while (!signal.aborted) {
      await Promise.race([this.#readAll(pauseMs / 2), stopped]);
      if (signal.aborted) return;
      this.#hasRead = true;
      try {
        const report = this.current();
        onReport(report);
        const hasProblem = report.problems.length > 0 || report.state === 'failed';
        pauseMs = hasProblem ? PROBLEM_MS : READ_MS;
      } catch (error) {
        logger.error({ err: error }, 'The mirror cannot be judged.');
      }
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  async #readAll(maxAgeMs: number): Promise<void> {
    const readings = [
      ...this.#targets.map(({ reading }) => reading),
      this.#files,
      ...(this.#queue ? [this.#queue] : []),
    ];
    await Promise.all(readings.map((reading) => reading.refresh(maxAgeMs)));
  }

  #facts(): Facts {
    const sources = this.#sources;
    const { value: files, problem: ofFiles } = this.#files.latest;
    const { value: queue, problem: ofQueue } = this.#queue?.latest ?? NEVER_READ;
    const plan = sources.plan();
    return {
      nowMs: sources.clock.now(),
      version: sources.version,
      targets: this.#targets.map(({ place, reading }) => Object.assign({}, place, reading.latest)),
      queue: queue && { ...queue, isReachable: queue.isReachable && ofQueue === null },
      problems: [
        ofQueue ?? queue?.problem ?? [],
        settingsProblems(plan?.unmatched ?? []),
        ofFiles ?? files?.problem ?? [],
      ].flat(),
      plan,
      kept: files?.kept ?? { runs: [], source: null },
      isChosen: sources.isChosen,
      nextPollMs: sources.nextPollMs,
    };
  }
}

const NEVER_READ = { value: null, readAtMs: 0, problem: null };

async function readFiles(sources: HealthSources): Promise<FileFacts> {
  try {
    return await sources.files();
  } catch (error) {
    const code = errorCode(error);
    const text = `DATA_DIR cannot be read${code === undefined ? '' : ` (${code})`}.`;
    throw new MirrorError('DATA_DIR', text, { cause: error });
  }
}

/** The problem of a target that takes too long. */
const slowTarget = (name: string) =>
  ({
    code: 'TARGET_UNREACHABLE',
    message: `Target ${name} takes longer than ${TARGET_LIMIT_MS / 1_000} s to answer: it is very busy, or one of its tables is locked.`,
  }) as const;
