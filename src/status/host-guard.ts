/** True for a host name or address that never leaves the machine; IPv6 with or without its brackets. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

/**
 * Whether a `Host` header may belong to somebody who typed a loopback address: without a password a web page elsewhere
 * could otherwise have its own name point here and read along (DNS rebinding).
 */
export function isLocalHostHeader(header: string | undefined): boolean {
  if (header === undefined) return false;
  const url = URL.parse(`http://${header}`);
  return url !== null && url.host !== '' && url.pathname === '/' && isLoopback(url.hostname);
}
