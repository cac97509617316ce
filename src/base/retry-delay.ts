/** When and how long to wait between tries. */
export interface RetryPolicy {
  /** Tries in all, the first included. */
  attempts: number;
  /** Upper bound of the first wait. */
  baseDelayMs: number;
  /** Upper bound of every wait that the server did not ask for itself. */
  maxDelayMs: number;
  /** Longest `Retry-After` we honour; a server that asks for more gets this. */
  maxServerDelayMs: number;
}

/** Six tries over roughly half a minute: outlasts a restart of the other side, not an outage. */
export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 6,
  baseDelayMs: 250,
  maxDelayMs: 15_000,
  maxServerDelayMs: 120_000,
};

/**
 * Milliseconds to wait before try `attempt + 1` (`attempt` counts from 1). Exponential with full jitter; a
 * server's `Retry-After` is the floor, and jitter is added on top of it so that clients don't return in step.
 * Always a whole number (PostgreSQL queues refuse fractions).
 */
export function retryDelayMs(
  policy: RetryPolicy,
  attempt: number,
  random: () => number,
  serverDelayMs?: number,
): number {
  const ceiling = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempt - 1));
  const jitter = random() * ceiling;
  const floor = Math.min(serverDelayMs ?? 0, policy.maxServerDelayMs);
  return Math.round(floor + jitter);
}

/** `Retry-After` as milliseconds from `nowMs`: whole seconds or an HTTP date (RFC 9110, 10.2.3); undefined when neither. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
