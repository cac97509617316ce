import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.ts';

/** What became of a request's credentials. `limited`: too many wrong ones came from there; none is looked at for a while. */
export type Verdict =
  | { readonly outcome: 'granted' | 'missing' | 'wrong' }
  | { readonly outcome: 'limited'; readonly retryAfterSeconds: number };

/** The user's name for HTTP Basic. */
export const ADMIN_USER = 'admin';

/** Wrong passwords that an address may give at once, and how long until it may give one more. */
const TRIES = 10;
const REGAIN_MS = 6_000;
/** Addresses remembered; beyond that the longest silent is forgotten. */
const MAX_ADDRESSES = 10_000;

/**
 * Guards the pages with ADMIN_PASSWORD: HTTP Basic as `admin`, or `Authorization: Bearer <password>`. Compares in
 * constant time and bounds guessing by address.
 */
export class Access {
  readonly #expected: Buffer | undefined;
  readonly #clock: Clock;
  readonly #wrong = new Map<string, { count: number; atMs: number }>();

  /** Without a password everything is granted. */
  constructor(password: string | undefined, clock: Clock) {
    this.#expected = password === undefined ? undefined : digest(password);
    this.#clock = clock;
  }

  /** Judges an `Authorization` header that came from `address`. */
  judge(authorization: string | undefined, address: string): Verdict {
    if (this.#expected === undefined) return { outcome: 'granted' };
    // What a browser sends before it has asked for a password is no guess.
    if (authorization === undefined) return { outcome: 'missing' };
    const wrong = this.#wrongFrom(address);
    if (wrong >= TRIES) {
      const retryAfterSeconds = Math.ceil(((wrong - TRIES + 1) * REGAIN_MS) / 1_000);
      return { outcome: 'limited', retryAfterSeconds };
    }
    const given = passwordIn(authorization);
    if (given !== undefined && timingSafeEqual(digest(given), this.#expected)) {
      return { outcome: 'granted' };
    }
    this.#note(address, wrong + 1);
    return { outcome: 'wrong' };
  }

  /** Wrong ones lately; one is forgiven every few seconds. */
  #wrongFrom(address: string): number {
    const entry = this.#wrong.get(address);
    if (entry === undefined) return 0;
    const forgiven = (this.#clock.now() - entry.atMs) / REGAIN_MS;
    return Math.max(0, entry.count - forgiven);
  }

  #note(address: string, count: number): void {
    this.#wrong.delete(address);
    this.#wrong.set(address, { count, atMs: this.#clock.now() });
    if (this.#wrong.size <= MAX_ADDRESSES) return;
    const [oldest] = this.#wrong.keys();
    if (oldest !== undefined) this.#wrong.delete(oldest);
  }
}

/** Of equal length, so that a comparison in constant time is possible and tells no length. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

function passwordIn(authorization: string): string | undefined {
  const [, scheme = '', value = ''] = /^(\S+) +(.*)$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const text = Buffer.from(value, 'base64').toString('utf8');
  const at = text.indexOf(':');
  return text.slice(0, at) === ADMIN_USER && at >= 0 ? text.slice(at + 1) : undefined;
}
