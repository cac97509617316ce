import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Api, ApiLog } from './api.ts';
import { newApiLog } from './api.ts';
import { answerRequests, type Call, type Exchange, serversAreIdle } from './boundary.ts';
import { inProcess, outside, SimProcess } from './process.ts';
import type { Random } from './random.ts';

/** A wait of a process; `dueMs` for a wait by the clock. */
interface Waiting {
  readonly process: SimProcess;
  readonly label: string;
  readonly dueMs: number | null;
  readonly go: () => void | Promise<void>;
}

/** The task of a process. */
export interface Actor<T> {
  readonly process: SimProcess;
  readonly work: () => Promise<T>;
}

/** How it ended: a process that was killed has no result. */
export type Ending<T> =
  | { readonly result: T }
  | { readonly error: unknown }
  | { readonly killedAt: string };

/** Microtasks, dynamic imports and `setImmediate` of the program have run after this many turns. */
const SETTLED_TURNS = 3;
/** A statement that takes longer than this may wait for another process: the server is asked (milliseconds, real time). */
const SERVER_MS = 100;
/** A process that waits for nothing of ours for this long hangs (milliseconds, real time). */
const HANGS_AFTER_MS = 20_000;
/** A command with more requests than this never ends. */
const MAX_REQUESTS = 4_000;
/** How long a process is suspended. */
const ASLEEP_MS = 10 * 60_000;
/** By the world's clock: anything that takes longer than this has hung. */
const MAX_WAIT_MS = 3 * 24 * 60 * 60_000;

const dueOf = ({ dueMs, process }: Waiting): number => Math.max(dueMs ?? 0, process.asleepUntil);

/** Time, order and death: decides which wait of all processes ends next. */
export class World {
  /** The order of events; each step of a history has its own. */
  random: Random;
  readonly clock: { now: number };
  /** Called before the source answers; may change it. */
  onRequest: (path: string) => void = () => {};
  /** Called before a call reaches a real server: people may act there. */
  onCall: () => void = () => {};
  /** Whether a statement waits for the lock of another process. */
  isBlocked: () => Promise<boolean> = async () => false;
  /** Called before a PATCH reaches the source. */
  onPatch: (process: SimProcess, path: string) => Promise<void> = async () => {};
  /** The events, one line each; recorded only if the story is wanted. */
  readonly lines: string[] | null;
  api!: Api;
  readonly logs = new Map<SimProcess, ApiLog>();
  #waiting: Waiting[] = [];
  #processes = 0;
  /** All requests to the source, in order. */
  readonly sent: string[] = [];

  constructor(clock: { now: number }, random: Random, lines: string[] | null) {
    this.clock = clock;
    this.random = random;
    this.lines = lines;
    answerRequests(
      (exchange) => this.#send(exchange),
      (call) => this.#call(call),
    );
  }

  say(line: string): void {
    this.lines?.push(`${new Date(this.clock.now).toISOString().slice(5, 23)}  ${line}`);
  }

  newProcess(name: string): SimProcess {
    const random = this.random.fork();
    const number = ++this.#processes;
    const process = new SimProcess(
      `${name}${number}`,
      () => random.next(),
      (dead) => {
        this.say(`${dead.name} is killed ${dead.lastAct}`);
        this.#waiting = this.#waiting.filter((waiting) => waiting.process !== dead);
      },
    );
    this.logs.set(process, newApiLog());
    return process;
  }

  logOf(process: SimProcess): ApiLog {
    return this.logs.get(process) as ApiLog;
  }

  /** Waits `ms` by this world's clock. `onAbort` is the early end of the wait. */
  sleep(process: SimProcess, ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        process,
        label: `wait ${ms} ms`,
        dueMs: this.clock.now + ms,
        go: resolve,
      };
      this.#waiting.push(waiting);
      signal?.addEventListener('abort', () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        reject(signal.reason as Error);
      });
    });
  }

  /** Lets processes work concurrently until each has ended or died. */
  async run<T>(actors: readonly Actor<T>[]): Promise<Ending<T>[]> {
    const endings: (Ending<T> | undefined)[] = actors.map(() => undefined);
    const startedMs = this.clock.now;
    const requests = this.sent.length;
    for (const [index, { process, work }] of actors.entries()) {
      void inProcess(process, async () => work()).then(
        // A program may treat its own death as an error, and continue to an exit code, which is ignored.
        (result) =>
          (endings[index] ??= process.isDead ? { killedAt: process.lastAct } : { result }),
        (error: unknown) => (endings[index] ??= { error }),
      );
    }
    let idleSince = performance.now();
    for (;;) {
      await this.#settle();
      for (const [index, { process }] of actors.entries()) {
        if (process.isDead) endings[index] ??= { killedAt: process.lastAct };
      }
      if (endings.every((ending) => ending !== undefined)) return endings;
      if (this.sent.length - requests > MAX_REQUESTS)
        throw new Error(
          `it takes more than ${MAX_REQUESTS} requests: ${this.sent.slice(-8).join('; ')}`,
        );
      if (this.clock.now - startedMs > MAX_WAIT_MS)
        throw new Error('it does not end in three days');
      if (await this.#step()) idleSince = performance.now();
      else if (performance.now() - idleSince > HANGS_AFTER_MS)
        throw new Error('it waits for nothing');
    }
  }

  /** All work of processes that does not wait for this world is done, except for statements that wait for a lock. */
  async #settle(): Promise<void> {
    for (let turn = 0; turn < SETTLED_TURNS; turn++) {
      await nextTurn();
      const before = performance.now();
      if (!(await serversAreIdle(SERVER_MS))) continue;
      if (performance.now() - before >= SERVER_MS && (await this.isBlocked())) return;
      turn = 0;
    }
  }

  /** One wait ends. False if there is none. */
  async #step(): Promise<boolean> {
    const ready = this.#waiting.filter((each) => dueOf(each) <= this.clock.now);
    let next: Waiting | undefined = ready.length === 0 ? undefined : this.random.pick(ready);
    if (next === undefined) {
      next = this.#waiting.toSorted((a, b) => dueOf(a) - dueOf(b))[0];
      if (next === undefined) return false;
      this.clock.now = Math.max(this.clock.now, dueOf(next));
    }
    const chosen = next;
    this.#waiting = this.#waiting.filter((each) => each !== chosen);
    this.clock.now += 1 + this.random.below(15);
    await outside(chosen.go);
    return true;
  }

  /** A call to a real server reaches it at one instant, and its answer comes back at another. */
  #call(call: Call): Promise<Response> {
    const { process, label } = call;
    return new Promise((resolve, reject) => {
      if (dies(process, `before it sends ${label}`)) return;
      const wait = (what: string, go: () => void | Promise<void>): void => {
        this.#waiting.push({ process, label: what, dueMs: null, go });
      };
      wait(label, async () => {
        this.onCall();
        const answer = await call.make().catch((error: unknown) => error as Error);
        this.say(
          `${process.name}: ${label} → ${answer instanceof Error ? answer.message : answer.status}`,
        );
        wait(`answer to ${label}`, () => {
          if (dies(process, `when ${label} is answered`)) return;
          if (answer instanceof Error) reject(answer);
          else resolve(answer);
        });
      });
    });
  }

  /** A request is on its way: it reaches the source at one instant, and its answer comes back at another. */
  #send(exchange: Exchange): void {
    const { process } = exchange;
    const request = `${exchange.method} ${decodeURIComponent(exchange.path)}`;
    this.sent.push(request);
    const wait = (label: string, go: () => void | Promise<void>): void => {
      this.#waiting.push({ process, label, dueMs: null, go });
    };
    if (dies(process, `before it sends ${request}`)) return;
    wait(request, async () => {
      if (exchange.isOver()) return;
      const path = exchange.path.replace(/^\/api\/v1/, '');
      this.onRequest(path);
      if (exchange.method === 'PATCH') await this.onPatch(process, path);
      const answer = this.api.answer(
        { method: exchange.method, path, body: exchange.body, headers: exchange.headers },
        this.logOf(process),
      );
      // The source has answered: when the process continues, the response is old.
      if (++process.requests === process.sleepsAt) {
        process.asleepUntil = this.clock.now + ASLEEP_MS;
        this.say(`${process.name} is suspended`);
      }
      this.say(
        `${process.name}: ${request} → ${answer === undefined ? 'no answer' : `${answer.status} ${short(answer.body)}`}`,
      );
      wait(`answer to ${request}`, () => {
        if (dies(process, `when ${request} is answered`)) return;
        if (answer === undefined)
          exchange.fail(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
        else exchange.respond(answer);
      });
    });
  }
}

/** Counts an act of a process; returns whether the process dies at it. */
function dies(process: SimProcess, what: string): boolean {
  try {
    process.act(what);
    return false;
  } catch {
    return true;
  }
}

/** Enough of a body to understand a story. */
function short(body: string): string {
  try {
    const { items, total, id, status } = JSON.parse(body) as {
      items?: { id?: string; status?: string }[];
      total?: unknown;
      id?: string;
      status?: string;
    };
    if (items === undefined) return [id, status].filter((part) => part !== undefined).join(' ');
    return `${items.map((item) => `${item.id ?? '?'}${item.status === undefined ? '' : `:${item.status}`}`).join(' ')} of ${JSON.stringify(total)}`;
  } catch {
    return body.slice(0, 40);
  }
}
