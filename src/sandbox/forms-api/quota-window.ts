import type { Reply } from '../reply.ts';
import { type Quota } from './behaviour.ts';

/** Counts requests in windows of fixed length, for a {@link Quota}. */
export class QuotaWindow {
  #endsAtMs = Number.NEGATIVE_INFINITY;
  #used = 0;

  /** Counts a request; undefined when it may pass, else milliseconds until it might. */
  take(quota: Quota, nowMs: number): number | undefined {
    if (nowMs >= this.#endsAtMs) {
      this.#endsAtMs = nowMs + quota.windowMs;
      this.#used = 0;
    }
    return ++this.#used <= quota.requests ? undefined : this.#endsAtMs - nowMs;
  }
}

/** The reply with `Retry-After` as the quota writes it. */
export function withRetryAfter(reply: Reply, quota: Quota, waitMs: number, nowMs: number): Reply {
  if (quota.retryAfter === 'absent') return reply;
  const value =
    quota.retryAfter === 'seconds'
      ? String(Math.ceil(waitMs / 1000))
      : new Date(Math.ceil((nowMs + waitMs) / 1000) * 1000).toUTCString();
  return { ...reply, headers: { ...reply.headers, 'retry-after': value } };
}
