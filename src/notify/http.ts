import { LinkedSignal } from '../base/clock.ts';
import { proxyFailureIn } from '../base/proxy.ts';
import { loginOf } from '../base/transport.ts';

/** `fetch`, through the proxy of this machine's network where there is one. */
export type Fetch = typeof globalThis.fetch;

/** For the whole of a request, its response included. */
const TIMEOUT_MS = 10_000;

/** The outcome of a request. */
export interface Answer {
  /** Why it failed, as a part of a sentence; null: it was accepted. */
  readonly why: string | null;
  /** The beginning of the body, of a GET. */
  readonly body: string;
}

/**
 * A POST of `json`, or a GET without it. A redirect is not followed: the message would go to an address that is not in the
 * settings. A body is read for a GET: to a POST, the status is the answer, and a body that never ends must not have a
 * message sent twice. Never rejects.
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
    const reader = body?.getReader();
    const { value } = json === undefined && reader ? await reader.read() : {};
    await reader?.cancel().catch(() => undefined);
    const why = ok ? null : `${url.host} answers ${status}`;
    return { why, body: Buffer.from(value ?? []).toString('utf8') };
  } catch (error) {
    const refused = proxyFailureIn(error);
    if (refused === undefined) return { why: `${url.host} cannot be reached`, body: '' };
    return { why: `${refused.message}. ${refused.remedy}`.replace(/\.$/, ''), body: '' };
  }
}
