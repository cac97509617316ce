import { LinkedSignal } from '../base/clock.ts';
import { proxyFailureIn } from '../base/proxy.ts';
import { decoded } from '../base/transport.ts';

/** `fetch`, through the proxy of this machine's network where there is one. */
export type Fetch = typeof globalThis.fetch;

/** For the whole of a request, its response included. */
const TIMEOUT_MS = 10_000;

/**
 * healthchecks.io answers 200 `OK (not found)` for a check that it does not have (https://healthchecks.io/docs/http_api/),
 * Uptime Kuma's push monitor `{"ok":false}`.
 */
const NOT_KNOWN = /^OK \(not found\)|"ok"\s*:\s*false/;

/**
 * A POST of `json`, or a GET without it. Resolves to why it failed, as a part of a sentence; null: it was accepted. A
 * redirect is not followed: the message would go to an address that is not in the settings. The beginning of the body is read
 * for a GET: to a POST, the status is the answer, and a body that never ends must not have a message sent twice.
 */
export async function request(
  fetch: Fetch,
  address: URL,
  signal: AbortSignal,
  json?: unknown,
): Promise<string | null> {
  const { host } = address;
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
    if (!ok) return `${host} answers ${status}`;
    const text = Buffer.from(value ?? []).toString('utf8');
    return NOT_KNOWN.test(text) ? `${host} does not know the address` : null;
  } catch (error) {
    const refused = proxyFailureIn(error);
    if (refused === undefined) return `${host} cannot be reached`;
    return `${refused.message}. ${refused.remedy}`.replace(/\.$/, '');
  }
}

/** The header that sends the user name and password of an address, which the client itself leaves out; none without them. */
function loginOf({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const login = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
  return { authorization: `Basic ${login}` };
}
