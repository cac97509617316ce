import { z } from 'zod';
import { nearestName } from '../base/nearest-name.ts';
import { type Transport, plainHost } from '../base/transport.ts';
import type { SettingProblem } from './problems.ts';
import type { SettingsReader } from './settings-reader.ts';
import type { SettingName } from './settings-table.ts';
import { list, quoted } from './value-schemas.ts';
import type { Variable } from './variables.ts';

/** The hosts in ALLOW_PLAINTEXT, in lower case. */
export const readPlaintextHosts = (reader: SettingsReader): ReadonlySet<string> =>
  new Set(reader.read('ALLOW_PLAINTEXT', hostList) ?? []);

/** Node's own switch that has it take any certificate, of any server, for the process as a whole. */
const NO_CHECKS = 'NODE_TLS_REJECT_UNAUTHORIZED';

/** The mistake of switching off all checks of certificates; undefined where they are on. */
export function uncheckedCertificates(
  variables: ReadonlyMap<string, Variable>,
): SettingProblem | undefined {
  if (variables.get(NO_CHECKS)?.value !== '0') return undefined;
  return {
    variable: NO_CHECKS,
    message:
      'is 0, so that no certificate is checked and another server could take the place of any: take it away, and name the file of an authority of your own',
    example: 'NODE_EXTRA_CA_CERTS=/etc/ssl/authority.pem',
  };
}

/** A name or address of a host; a URL pasted in is another thing, and would allow nothing. */
const HOST = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$|^[0-9a-f:]*:[0-9a-f:.]*$/;

const hostList = list.pipe(
  z.array(z.string()).transform((entries, context): string[] => {
    const hosts = entries.map(plainHost);
    const wrong = hosts.find((host) => !HOST.test(host) || /^[^:]+:\d+$/.test(host));
    if (wrong !== undefined) {
      // Not quoted where it may be a whole URL, with its password (L15).
      const what = /[@/]/.test(wrong) ? 'an address' : quoted(wrong);
      context.addIssue({
        code: 'custom',
        message: `holds ${what}: write only host names, without scheme, user and port`,
      });
    }
    return hosts;
  }),
);

/** Complains about each weakness of a way that leaves this machine, unless ALLOW_PLAINTEXT names its host. */
export function requireSafeTransport(
  reader: SettingsReader,
  { host: first, others = [], weaknesses }: Transport,
  name: SettingName,
  target?: string,
): void {
  if (first === undefined || weaknesses.length === 0) return;
  const allowed = readPlaintextHosts(reader);
  const host = [first, ...others].find((one) => !allowed.has(one));
  if (host === undefined) return;
  const near = nearestName(
    host,
    [...allowed].map((entry) => ({ name: entry })),
  );
  const ending = host === '' ? '' : `, or ${permission(host, near)}`;
  for (const weakness of weaknesses) reader.complain(name, `${weakness}${ending}`, target);
}

function permission(host: string, near: string | undefined): string {
  const meant = near === undefined ? '' : ` (it names ${near}: did you mean ${host}?)`;
  return `name ${host} in ALLOW_PLAINTEXT, if no one else can reach or read that network${meant}`;
}
