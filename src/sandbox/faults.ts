/** An injected fault. Whatever is left out happens as without it. */
export interface FaultRule {
  /** Which requests: method (any case; all when absent). */
  readonly method?: string;
  /** Which requests: start of the path, or a pattern for it; without base prefix and query. All when absent. */
  readonly path?: string | RegExp;
  /** Which requests: these query parameters have exactly these values. */
  readonly query?: Readonly<Record<string, string>>;
  /** Matching requests to let through first. Default 0. */
  readonly after?: number;
  /** Matching requests to hit then. Default 1; Infinity for all. */
  readonly times?: number;

  /** Waits before anything else. */
  readonly delayMs?: number;
  /** Answers with this status instead of serving the request. */
  readonly status?: number;
  /** The body of that answer; JSON when it parses as JSON, else HTML. Default: a short JSON error. */
  readonly body?: string;
  /** `Retry-After` of that answer: seconds, or an HTTP date as text. */
  readonly retryAfter?: number | string;
  /** Serves the request first (a write takes effect), and shows the fault only afterwards. */
  readonly applied?: boolean;
  /** Sends only so many bytes of the body, then breaks the connection. */
  readonly cutBodyAt?: number;
  /** Sends headers and part of the body (`cutBodyAt` bytes, else half), then nothing more until the client gives up. */
  readonly hang?: boolean;
  /** Breaks the connection without a byte of answer. */
  readonly dropConnection?: boolean;
}

/** The request that rules are matched against; `path` without base prefix and query. */
export interface FaultSubject {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** A rule with what became of it. */
export interface FaultTally {
  readonly rule: FaultRule;
  /** Requests that matched so far. */
  readonly matched: number;
  /** Those of them that were hit. */
  readonly hit: number;
}

interface Entry {
  rule: FaultRule;
  matched: number;
  hit: number;
}

/** Picks the fault for a request. The first rule that is due wins; every rule counts what it matches. */
export class FaultInjector {
  #entries: Entry[] = [];

  constructor(rules: readonly FaultRule[] = []) {
    for (const rule of rules) this.add(rule);
  }

  /** Adds a rule, its counts at 0; the returned function takes it away. */
  add(rule: FaultRule): () => void {
    const entry = { rule, matched: 0, hit: 0 };
    this.#entries.push(entry);
    return () => {
      this.#entries = this.#entries.filter((other) => other !== entry);
    };
  }

  /** Takes all rules away. */
  clear(): void {
    this.#entries = [];
  }

  /** Every rule with its counts, in the order they were added. */
  tally(): FaultTally[] {
    return this.#entries.map((entry) => ({ ...entry }));
  }

  /** Counts the request and returns the rule that hits it, if any. Call once per request. */
  take(subject: FaultSubject): FaultRule | undefined {
    let due: Entry | undefined;
    for (const entry of this.#entries) {
      if (!matches(entry.rule, subject)) continue;
      entry.matched++;
      if (due === undefined && isDue(entry)) due = entry;
    }
    if (due === undefined) return undefined;
    due.hit++;
    return due.rule;
  }
}

/** True when the rule speaks of this request, whatever its counts. */
function matches(rule: FaultRule, { method, path, query }: FaultSubject): boolean {
  if (rule.method !== undefined && rule.method.toUpperCase() !== method.toUpperCase()) return false;
  if (typeof rule.path === 'string' && !path.startsWith(rule.path)) return false;
  // search() ignores lastIndex, so that a pattern with the g flag works each time.
  if (rule.path instanceof RegExp && path.search(rule.path) < 0) return false;
  return Object.entries(rule.query ?? {}).every(([name, value]) => query.get(name) === value);
}

function isDue({ rule, matched, hit }: Entry): boolean {
  return matched > (rule.after ?? 0) && hit < (rule.times ?? 1);
}
