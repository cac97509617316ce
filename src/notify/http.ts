import { LinkedSignal } from '../base/clock.ts';
import { proxyFailureIn } from '../base/proxy.ts';
import { loginOf } from '../base/transport.ts';

/** `fetch`, through the proxy of this machine's network where there is one. */
export type Fetch = typeof globalThis.fetch;

/** For the whole of a request, its response included. */
const TIMEOUT_MS = 10_000;

/** A response: its head, and the beginning of its body where that was asked for. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
}

/**
 * A POST of `json`, or a GET without it. A redirect is not followed: the message would go to an address that is not in the
 * settings. Rejects as `fetch` does, and when `signal` aborts. A body is read for a GET: to a POST, the status is the
 * answer, and a body that never ends must not have a message sent twice.
 */
export async function request(
  fetch: Fetch,
  address: URL,
  signal: AbortSignal,
  json?: unknown,
): Promise<Answer> {
  const url = new URL(address);
  // `fetch` refuses an address that holds them.
  url.username = url.password = '';
  using stop = new LinkedSignal(signal, AbortSignal.timeout(TIMEOUT_MS));
  const { status, headers, body } = await fetch(url, {
    ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
    headers: {
      'user-agent': 'forms-mirror',
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...loginOf(address),
    },
    redirect: 'manual',
    signal: stop.signal,
  });
  const reader = body?.getReader();
  const { value } = json === undefined && reader ? await reader.read() : {};
  await reader?.cancel().catch(() => undefined);
  const retryAfter = headers.get('retry-after');
  return { status, retryAfter, body: Buffer.from(value ?? []).toString('utf8') };
}

/**
 * Why a request failed, as the end of a sentence after "Notifications are not delivered:", and whether a later one
 * may succeed.
 */
export function failureOf(error: unknown, host: string): { why: string; retry: boolean } {
  const refused = proxyFailureIn(error);
  return refused === undefined
    ? { why: `${host} cannot be reached`, retry: true }
    : { why: `${refused.message}. ${refused.remedy}`.replace(/\.$/, ''), retry: refused.transient };
}
