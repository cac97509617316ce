import { decoded } from '../base/transport.ts';

/** `fetch`, through the proxy of this machine's network if there is one. */
export type Fetch = typeof globalThis.fetch;

/** For the whole request, including its response. */
const TIMEOUT_MS = 10_000;

/**
 * healthchecks.io answers 200 `OK (not found)` for an unknown check (https://healthchecks.io/docs/http_api/), Uptime Kuma's push
 * monitor `{"ok":false}`.
 */
const NOT_KNOWN = /^OK \(not found\)|"ok"\s*:\s*false/;

/**
 * A POST of `json`, or a GET without it. Resolves to why it failed, as part of a sentence; null: it was accepted. Does not follow a
 * redirect, which would send the message to an address that is not in the settings. Reads the beginning of the body only for a GET:
 * for a POST the status is enough, and a body that never ends must not cause a message to be sent twice.
 */
export async function request(
  fetch: Fetch,
  address: URL,
  signal: AbortSignal,
  json?: unknown,
): Promise<string | null> {
  const { host } = address;
  const url = new URL(address);
  // `fetch` refuses an address that contains them.
  url.username = url.password = '';
  try {
    const { ok, status, body } = await fetch(url, {
      ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
      headers: {
        'user-agent': 'forms-mirror',
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...loginOf(address),
      },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const reader = body?.getReader();
    const { value } = json === undefined && reader ? await reader.read() : {};
    await reader?.cancel().catch(() => undefined);
    if (!ok) return `${host} answers ${status}`;
    const text = Buffer.from(value ?? []).toString('utf8');
    return NOT_KNOWN.test(text) ? `${host} does not know the address` : null;
  } catch {
    return `${host} cannot be reached`;
  }
}

/** The header with the user name and password of an address, which the client itself omits; none without them. */
function loginOf({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const login = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
  return { authorization: `Basic ${login}` };
}
