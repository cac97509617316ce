import { BlockList, isIP } from 'node:net';
import { isLoopback, plainHost } from './transport.ts';

/** The proxy of this machine's network, as HTTPS_PROXY (else HTTP_PROXY) and NO_PROXY say. */
export interface ProxySettings {
  /** Begins with http: or https:. May hold a user name and a password: only {@link proxyHost} is shown (L15). */
  readonly url: URL;
  /** The entries of NO_PROXY: hosts that are reached directly. */
  readonly except: readonly string[];
}

/** Host and port of a proxy, for messages. */
export const proxyHost = ({ url }: ProxySettings): string => url.host;

/**
 * The proxy that leads to an address; undefined: it is reached directly. A proxy is used for https alone, where it sees
 * a host and a port and no more; plain http, which only loopback hosts take, and https to this machine never leave it.
 */
export function proxyFor(
  address: string | URL,
  proxy: ProxySettings | undefined,
): ProxySettings | undefined {
  const { protocol, hostname, port } = new URL(address);
  if (proxy === undefined || protocol !== 'https:' || isLoopback(hostname)) return undefined;
  const host = hostName(hostname);
  const isExcepted = proxy.except.some((entry) => matches(entry, host, port || '443'));
  return isExcepted ? undefined : proxy;
}

/** A host as NO_PROXY and addresses both may write it, without the dot of a fully qualified name. */
const hostName = (host: string): string => plainHost(host).replace(/(?<=.)\.$/, '');

/** As curl and undici read NO_PROXY: `*`, a host and all below it, `*.host` for those below alone, `host:port`, `10.0.0.0/8`. */
function matches(entry: string, host: string, port: string): boolean {
  const [, name = entry, only] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (only !== undefined && only !== port) return false;
  if (name === '*') return true;
  const isBelowOnly = name.startsWith('*.');
  const domain = hostName(name.replace(/^\*?\./, ''));
  if (host === domain) return !isBelowOnly;
  return (isIP(host) === 0 && host.endsWith(`.${domain}`)) || isInNet(domain, host);
}

function isInNet(net: string, host: string): boolean {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(net) ?? [];
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  const widest = family === 'ipv6' ? 128 : 32;
  if (isIP(address) === 0 || isIP(host) !== isIP(address) || Number(bits) > widest) return false;
  const list = new BlockList();
  list.addSubnet(address, Number(bits), family);
  return list.check(host, family);
}
