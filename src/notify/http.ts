import { LinkedSignal } from '../base/clock.ts';
import { proxyFailureIn } from '../base/proxy.ts';
import { loginOf } from '../base/transport.ts';

/** `fetch`, through the proxy of this machine's network where there is one. */
export type Fetch = typeof globalThis.fetch;

/** For the whole of a request, its response included. */
const TIMEOUT_MS = 10_000;

/**
 * A POST of `json`, or a GET without it. Resolves to why it failed, as a part of a sentence; null: it was accepted. A
 * redirect is not followed: the message would go to an address that is not in the settings. The status is the answer: a body that never
 * ends must not have a message sent twice.
 */
export async function request(
  fetch: Fetch,
  address: URL,
  signal: AbortSignal,
  json?: unknown,
): Promise<string | null> {
  const url = new URL(address);
  const { host } = url;
  // `fetch` refuses an address that holds them.
  url.username = url.password = '';
  using stop = new LinkedSignal(signal, AbortSignal.timeout(TIMEOUT_MS));
  try {
    const { ok, status, body } = await fetch(url, {
      ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
      headers: {
        'user-agent': 'forms-mirror',
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...loginOf(address),
      },
      redirect: 'manual',
      signal: stop.signal,
    });
    await body?.cancel().catch(() => undefined);
    return ok ? null : `${host} answers ${status}`;
  } catch (error) {
    const refused = proxyFailureIn(error);
    if (refused === undefined) return `${host} cannot be reached`;
    return `${refused.message}. ${refused.remedy}`.replace(/\.$/, '');
  }
}
