import { isLoopback } from '../base/loopback.ts';

/**
 * Whether a `Host` header may belong to somebody who typed a loopback address: without a password a web page elsewhere
 * could otherwise have its own name point here and read along (DNS rebinding).
 */
export function isLocalHostHeader(header: string | undefined): boolean {
  if (header === undefined) return false;
  const url = URL.parse(`http://${header}`);
  return url !== null && url.host !== '' && url.pathname === '/' && isLoopback(url.hostname);
}
