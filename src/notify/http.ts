import { decoded } from '../base/transport.ts';

/** `fetch`, through the proxy of this machine's network if there is one. */
export type Fetch = typeof globalThis.fetch;

/** For the whole request, including its response. */
const TIMEOUT_MS = 10_000;

/**
 * A POST of `json`, or a GET without it. Resolves to why it failed, as part of a sentence; null: it was accepted. Does not follow a
 * redirect, which would send the message to an address that is not in the settings. Does not read the body: the status is enough,
 * and a body that never ends must not cause a message to be sent twice.
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
    await body?.cancel().catch(() => undefined);
    return ok ? null : `${host} answers ${status}`;
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
