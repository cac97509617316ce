import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { htmlReply, jsonReply, type Reply, sendHead } from '../../src/sandbox/reply.ts';

/** The effect of an injected fault, and how many of the matching requests get it. Missing parts stay normal. */
export interface Fault {
  /** Matching requests to let through first. Default 0. */
  readonly after?: number;
  /** Matching requests to affect after that. Default 1; Infinity for all. */
  readonly times?: number;

  /** Waits before anything else. */
  readonly delayMs?: number;
  /** Answers with this status instead of serving the request. */
  readonly status?: number;
  /** The body of that response: JSON if it parses as JSON, otherwise HTML. Default: a short JSON error. */
  readonly body?: string;
  /** `Retry-After` of that response: seconds, or an HTTP date as text. */
  readonly retryAfter?: number | string;
  /** Serves the request first (a write takes effect), and shows the fault only afterwards. */
  readonly applied?: boolean;
  /** Sends only this many bytes of the body, then breaks the connection. */
  readonly cutBodyAt?: number;
  /** Breaks the connection without a byte of a response. */
  readonly dropConnection?: boolean;
}

/** A fault of the HTTP requests that it describes. */
export interface FaultRule extends Fault {
  /** Which requests: method (any case; all when absent). */
  readonly method?: string;
  /** Which requests: start of the path, or a pattern for it; without base prefix and query. All when absent. */
  readonly path?: string | RegExp;
  /** Which requests: these query parameters have exactly these values. */
  readonly query?: Readonly<Record<string, string>>;
}

/** The request that rules are matched against; `path` without base prefix and query. */
export interface FaultSubject {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** A rule and how often it matched and applied. */
export interface FaultTally<Rule = FaultRule> {
  readonly rule: Rule;
  /** Requests that matched so far. */
  readonly matched: number;
  /** Those that the fault affected. */
  readonly hit: number;
}

interface Entry<Rule> {
  rule: Rule;
  matched: number;
  hit: number;
}

/** Selects the fault for a request of any kind. The first rule that is due wins; every rule counts its matches. */
export class Faults<Rule extends Fault, Subject> {
  readonly #matches: (rule: Rule, subject: Subject) => boolean;
  #entries: Entry<Rule>[] = [];

  /** `matches` is true if a rule describes a request, regardless of its counts. */
  constructor(matches: (rule: Rule, subject: Subject) => boolean, rules: readonly Rule[] = []) {
    this.#matches = matches;
    for (const rule of rules) this.add(rule);
  }

  /** Adds a rule, with its counts at 0; the returned function removes it. */
  add(rule: Rule): () => void {
    const entry = { rule, matched: 0, hit: 0 };
    this.#entries.push(entry);
    return () => {
      this.#entries = this.#entries.filter((other) => other !== entry);
    };
  }

  /** Removes all rules. */
  clear(): void {
    this.#entries = [];
  }

  /** Every rule with its counts, in the order in which they were added. */
  tally(): FaultTally<Rule>[] {
    return this.#entries.map((entry) => ({ ...entry }));
  }

  /** Counts the request and returns the rule that affects it, if any. Call once per request. */
  take(subject: Subject): Rule | undefined {
    let due: Entry<Rule> | undefined;
    for (const entry of this.#entries) {
      if (!this.#matches(entry.rule, subject)) continue;
      entry.matched++;
      if (due === undefined && isDue(entry)) due = entry;
    }
    if (due === undefined) return undefined;
    due.hit++;
    return due.rule;
  }
}

/** Selects the fault for an HTTP request. */
export class FaultInjector extends Faults<FaultRule, FaultSubject> {
  constructor(rules: readonly FaultRule[] = []) {
    super(describes, rules);
  }
}

function describes(rule: FaultRule, { method, path, query }: FaultSubject): boolean {
  if (rule.method !== undefined && rule.method.toUpperCase() !== method.toUpperCase()) return false;
  if (typeof rule.path === 'string' && !path.startsWith(rule.path)) return false;
  // search() ignores lastIndex, so that a pattern with the g flag works each time.
  if (rule.path instanceof RegExp && path.search(rule.path) < 0) return false;
  return Object.entries(rule.query ?? {}).every(([name, value]) => query.get(name) === value);
}

function isDue({ rule, matched, hit }: Entry<Fault>): boolean {
  return matched > (rule.after ?? 0) && hit < (rule.times ?? 1);
}

/** The response that a fault shows instead of the real one; undefined if it only affects the delivery. */
function faultReply(fault: Fault): Reply | undefined {
  if (fault.status === undefined) return undefined;
  const { status } = fault;
  const text = fault.body ?? JSON.stringify({ error: 'injected', message: `Injected ${status}` });
  const reply = text === '' || !isJson(text) ? htmlReply(status, text) : jsonReply(status, text);
  if (fault.retryAfter === undefined) return reply;
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(fault.retryAfter) } };
}

/**
 * Answers one request as the fault requires: waits, serves (or not), affects the delivery. `serve` is called at most
 * once, right before the response is sent. Resolves with the status shown, 0 if the connection was dropped or `signal`
 * ended the wait. Never rejects because a client disconnected.
 */
export async function answer(
  response: ServerResponse,
  fault: Fault | undefined,
  serve: () => Reply | Promise<Reply>,
  signal: AbortSignal,
): Promise<number> {
  const applied = fault?.applied === true ? await serve() : undefined;
  if (fault?.delayMs !== undefined && !(await waited(fault.delayMs, signal))) return 0;
  if (fault?.dropConnection === true) {
    response.destroy();
    return 0;
  }
  const reply = (fault && faultReply(fault)) ?? applied ?? (await serve());
  send(response, reply, fault);
  return reply.status;
}

async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

/** Sends a reply; with `cutBodyAt` only a part of it. */
function send(response: ServerResponse, reply: Reply, fault: Fault | undefined): void {
  if (response.destroyed) return;
  const body = sendHead(response, reply);
  if (fault?.cutBodyAt === undefined || body === undefined) response.end(body);
  else response.write(body.subarray(0, fault.cutBodyAt), () => response.destroy());
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
