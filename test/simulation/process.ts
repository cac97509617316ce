import { AsyncLocalStorage } from 'node:async_hooks';

/** Thrown into a process that was killed; none of its code may act after that. */
export class Killed extends Error {
  constructor() {
    super('the process was killed');
  }
}

/** A resource that can be closed by force when a process dies. */
export interface Handle {
  close(): void;
}

/**
 * One simulated operating-system process of the program: its resources, and when it dies. All its external actions are counted; the
 * crash comes at a number drawn before.
 */
export class SimProcess {
  readonly name: string;
  readonly handles = new Set<Handle>();
  readonly random: () => number;
  /** It dies after this many more acts; below 0: after this many acts with lasting changes. 0 for never. */
  crashAt = 0;
  /** It dies at the first act that this matches. */
  crashOn: RegExp | undefined;
  /** The request at which it is suspended; 0 for never. */
  sleepsAt = 0;
  requests = 0;
  /** Until then none of its waits ends (milliseconds). */
  asleepUntil = 0;
  isDead = false;
  /** Its last acts before its death. */
  lastAct = '';
  readonly #onDeath: (process: SimProcess) => void;

  constructor(name: string, random: () => number, onDeath: (process: SimProcess) => void) {
    this.name = name;
    this.random = random;
    this.#onDeath = onDeath;
  }

  /** One act, or one side of it. Throws {@link Killed} if the process dies here, or has died. */
  act(what: string): void {
    if (this.isDead) throw new Killed();
    if (this.crashOn?.test(what) !== true) {
      if (this.crashAt === 0 || (this.crashAt < 0 && !isWritten(what))) return;
      this.crashAt -= Math.sign(this.crashAt);
      if (this.crashAt !== 0) return;
    }
    this.lastAct = what;
    this.kill();
    throw new Killed();
  }

  /** `kill -9`: open files are closed as by the operating system; waits never end. */
  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const handle of this.handles) handle.close();
    this.handles.clear();
    this.#onDeath(this);
  }
}

/** A commit, a file or a call that changes something was made. */
const isWritten = (what: string): boolean => /^(?:after|when (?:POST|PUT|PATCH)) /.test(what);

const current = new AsyncLocalStorage<SimProcess>();

/** The process to which the running code belongs; undefined for the test itself. */
export const currentProcess = (): SimProcess | undefined => current.getStore();

/** Runs the code of a process. */
export const inProcess = <T>(process: SimProcess, work: () => T): T => current.run(process, work);

/** Runs code of the test itself, for any process that called it. */
export const outside = <T>(work: () => T): T => current.exit(work);
