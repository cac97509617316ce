import type { Step } from './plan.ts';
import type { SimProcess } from './process.ts';
import { type Job, jobKey, type Settings, Worker } from './program.ts';
import { Random } from './random.ts';
import type { Actor, World } from './world.ts';

/** How often a worker without a job looks for one (milliseconds). */
const IDLE_MS = 50;
const MOST_POSTPONED = 20;

interface Held {
  readonly worker: Worker;
  readonly process: SimProcess;
  /** Its initial settings. */
  readonly settings: string;
}

/** How a job ended. */
export type OnEnd = (job: Job, outcome: string, process: SimProcess) => void;

/** The long-running processes of the program, and their queue, which outlives them. */
export class Workers {
  readonly #world: World;
  readonly #onEnd: OnEnd;
  readonly #queue = new Map<string, Job>();
  /** A job that dies with its worker is in the queue again. */
  readonly #underWay = new Map<SimProcess, { readonly job: Job; readonly since: number }>();
  #held: Held[] = [];

  constructor(world: World, onEnd: OnEnd) {
    this.#world = world;
    this.#onEnd = onEnd;
  }

  get all(): readonly Held[] {
    return this.#held;
  }

  /** This many workers, old ones first. The first one polls, and may die at `crashAt`. All work until the queue is empty. */
  begin(wanted: number, settings: Settings, crashAt: number): Actor<void>[] {
    const key = JSON.stringify(settings);
    const taken = new Set<SimProcess>();
    const poll: { by?: SimProcess; isOver: boolean } = { isOver: false };
    return Array.from({ length: wanted }, (_, index) => {
      const held = this.#held.find(
        ({ settings: with_, process }) => with_ === key && !process.isDead && !taken.has(process),
      );
      const process = held?.process ?? this.#world.newProcess('worker');
      taken.add(process);
      const isFirst = index === 0;
      if (isFirst) poll.by = process;
      process.crashAt = isFirst ? crashAt : 0;
      const worker = (): Worker => {
        if (held !== undefined) return held.worker;
        const made = new Worker(this.#world, process, settings);
        this.#held.push({ worker: made, process, settings: key });
        return made;
      };
      const isPolling = (): boolean => !poll.isOver && poll.by?.isDead !== true;
      const work = async (): Promise<void> => {
        const own = worker();
        if (isFirst) await this.#poll(own, process);
        if (isFirst) poll.isOver = true;
        await this.#serve(own, process, isFirst ? () => false : isPolling);
      };
      return { process, work };
    });
  }

  forgetTheDead(): void {
    this.#held = this.#held.filter(({ process }) => !process.isDead);
  }

  kill(): void {
    for (const { process } of this.#held) process.kill();
    this.#held = [];
  }

  /** When a worker began its current job (milliseconds); undefined if it has none. */
  since(process: SimProcess): number | undefined {
    return this.#underWay.get(process)?.since;
  }

  async #poll(worker: Worker, process: SimProcess): Promise<void> {
    try {
      for (const job of await worker.poll())
        this.#queue.set(jobKey(job), this.#queue.get(jobKey(job)) ?? job);
    } catch (error) {
      this.#world.say(
        `${process.name}: the poll failed: ${(error as Error).message.slice(0, 120)}`,
      );
    }
  }

  async #serve(worker: Worker, process: SimProcess, mayCome: () => boolean): Promise<void> {
    const postponed: Job[] = [];
    for (;;) {
      const job = this.#take();
      if (job === undefined && mayCome()) {
        await this.#world.sleep(process, IDLE_MS, undefined);
        continue;
      }
      if (job === undefined) break;
      this.#underWay.set(process, { job, since: this.#world.clock.now });
      const { outcome, again } = await worker.work(job);
      this.#underWay.delete(process);
      this.#world.say(`${process.name}: ${jobKey(job)}: ${outcome.slice(0, 160)}`);
      this.#onEnd(job, outcome, process);
      if (again && postponed.length < MOST_POSTPONED) postponed.push(job);
    }
    for (const job of postponed) this.#queue.set(jobKey(job), job);
  }

  #take(): Job | undefined {
    for (const [process, { job }] of this.#underWay) {
      if (!process.isDead) continue;
      this.#underWay.delete(process);
      this.#queue.set(jobKey(job), job);
    }
    const [first] = this.#queue;
    if (first !== undefined) this.#queue.delete(first[0]);
    return first?.[1];
  }
}

/**
 * One of the processes is suspended when the source answers one of its requests, if it makes this many in this step.
 */
export function putToSleep({ seed, sleepsAt = 0 }: Step, actors: readonly Actor<unknown>[]): void {
  const chosen = new Random(seed + 7).pick(actors);
  for (const actor of actors) {
    const sleeps = actor === chosen && sleepsAt > 0;
    actor.process.sleepsAt = sleeps ? actor.process.requests + sleepsAt : 0;
  }
}
