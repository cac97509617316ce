/** An injected fault. Whatever is left out happens as without it. */
export interface FaultRule {
  /** Which requests: Google's name of the method, such as `jobs.query`; a pattern for it. All when absent. */
  readonly method?: string | RegExp;
  /** Which requests: the text of the query matches. */
  readonly query?: RegExp;
  /** Matching requests to let through first. Default 0. */
  readonly after?: number;
  /** Matching requests to hit then. Default 1; Infinity for all. */
  readonly times?: number;

  /** Waits before anything else. */
  readonly delayMs?: number;
  /** Answers with this status instead of serving the request. */
  readonly status?: number;
  /** The body of that answer: JSON as Google sends it; see {@link GOOGLE_FAULTS}. */
  readonly body?: string;
  /** `Retry-After` of that answer: seconds, or an HTTP date as text. */
  readonly retryAfter?: number | string;
  /** Serves the request first (a change takes effect), and shows the fault only afterwards. */
  readonly applied?: boolean;
  /** Sends only so many bytes of the body, then breaks the connection. */
  readonly cutBodyAt?: number;
  /** Takes the request and never answers; the connection stays open until the client gives up. */
  readonly silent?: boolean;
  /** Breaks the connection without a byte of answer. */
  readonly dropConnection?: boolean;
}

/** The request that rules are matched against. */
export interface FaultSubject {
  readonly method: string;
  readonly query: string | undefined;
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
function matches(rule: FaultRule, { method, query }: FaultSubject): boolean {
  if (typeof rule.method === 'string' && rule.method !== method) return false;
  // search() ignores lastIndex, so that a pattern with the g flag works each time.
  if (rule.method instanceof RegExp && method.search(rule.method) < 0) return false;
  return rule.query === undefined || (query ?? '').search(rule.query) >= 0;
}

function isDue({ rule, matched, hit }: Entry): boolean {
  return matched > (rule.after ?? 0) && hit < (rule.times ?? 1);
}
