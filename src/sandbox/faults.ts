/** What an injected fault does, and to how many of the requests that its rule matches. Whatever is left out happens as without it. */
export interface Fault {
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

/** A rule with what became of it. */
export interface FaultTally<Rule = FaultRule> {
  readonly rule: Rule;
  /** Requests that matched so far. */
  readonly matched: number;
  /** Those of them that were hit. */
  readonly hit: number;
}

interface Entry<Rule> {
  rule: Rule;
  matched: number;
  hit: number;
}

/** Picks the fault for a request of any kind. The first rule that is due wins; every rule counts what it matches. */
export class Faults<Rule extends Fault, Subject> {
  readonly #matches: (rule: Rule, subject: Subject) => boolean;
  #entries: Entry<Rule>[] = [];

  /** `matches` is true when a rule describes a request, whatever its counts. */
  constructor(matches: (rule: Rule, subject: Subject) => boolean, rules: readonly Rule[] = []) {
    this.#matches = matches;
    for (const rule of rules) this.add(rule);
  }

  /** Adds a rule, its counts at 0; the returned function takes it away. */
  add(rule: Rule): () => void {
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
  tally(): FaultTally<Rule>[] {
    return this.#entries.map((entry) => ({ ...entry }));
  }

  /** Counts the request and returns the rule that hits it, if any. Call once per request. */
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

/** Picks the fault for an HTTP request. */
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
