import { isIP } from 'node:net';
import { z } from 'zod';
import type { SettingsReader } from './settings-reader.ts';
import { list, quoted } from './value-schemas.ts';

/** The proxies in TRUST_PROXY, as the web server takes them; empty: none. */
export const readTrustedProxies = (reader: SettingsReader): readonly string[] =>
  reader.read('TRUST_PROXY', proxyList) ?? [];

/** Names of networks that the web server knows: this machine's own, and addresses that the internet does not carry. */
const NETWORKS = new Set(['loopback', 'linklocal', 'uniquelocal']);

const proxyList = list.pipe(
  z.array(z.string()).transform((entries, context): string[] => {
    const proxies = entries.map((entry) => entry.toLowerCase());
    for (const entry of proxies) {
      const message = complaintAbout(entry);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    }
    return proxies;
  }),
);

function complaintAbout(entry: string): string | undefined {
  const wanted = "write the proxy's address, its network (10.0.0.0/8), or loopback";
  if (NETWORKS.has(entry)) return undefined;
  // A number of proxies says nothing about who connects: anyone could send as many addresses.
  if (/^\d+$/.test(entry)) return `is a number, which tells no proxy from anybody else: ${wanted}`;
  const [address = '', bits, ...rest] = entry.split('/');
  const family = isIP(address);
  const most = family === 6 ? 128 : 32;
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
  if (family === 0 || rest.length > 0 || !isNetwork) return `holds ${quoted(entry)}: ${wanted}`;
  if (Number(bits) === 0) return `trusts everybody with ${quoted(entry)}: ${wanted}`;
  return undefined;
}
