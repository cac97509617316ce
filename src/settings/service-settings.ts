import { isLoopback, type Transport, transportTo } from '../base/transport.ts';
import type { ProxySettings } from '../base/proxy.ts';
import type { EmailSettings } from '../notify/mail.ts';
import type { NotifySettings } from '../notify/notifier.ts';
import { queueTransport } from '../queue/backends.ts';
import type { Schedule } from '../queue/schedule.ts';
import type { SettingMistake } from '../base/errors.ts';
import type { ConfigNeeds } from './config.ts';
import type { WriteBackRule } from '../sync/write-back.ts';
import type { SettingsReader } from './settings-reader.ts';
import type { SettingName } from './settings-table.ts';
import { mailbox } from './values.ts';

/** The source; undefined if it is not configured or wrong. Complains about missing settings if `isRequired`. */
export function readSource(reader: SettingsReader, isRequired: boolean) {
  if (isRequired) {
    requireGiven(
      reader,
      'FORMS_API_URL',
      'the base address of the Forms API, with its version prefix',
    );
    requireGiven(reader, 'FORMS_API_KEY', 'the dashboard makes one under Settings, API keys');
  }
  const [baseUrl, apiKey] = [reader.read('FORMS_API_URL'), reader.read('FORMS_API_KEY')];
  const auth = reader.read('FORMS_API_AUTH');
  const concurrency = reader.read('FORMS_API_CONCURRENCY');
  const perMinute = reader.read('FORMS_API_RATE') ?? null;
  if (baseUrl === undefined || apiKey === undefined) return undefined;
  return { baseUrl, apiKey, auth, concurrency, perMinute };
}

/** The shortest times: more requests would gain nothing. */
const LEAST_SYNC_MS = 10_000;
const LEAST_RECONCILE_MS = 60_000;

/**
 * When polls happen, and within which time every row is compared. Complains if both an interval and a cron expression are given,
 * and about an interval that would ask the source (`sourceUrl`; undefined if none is set) too often.
 */
export function readSchedule(
  reader: SettingsReader,
  sourceUrl: string | undefined,
): { readonly schedule: Schedule; readonly compareEveryMs: number } {
  const [everyMs, cron] = [reader.read('SYNC_EVERY'), reader.read('SYNC_CRON')];
  const timeZone = reader.read('SYNC_TZ');
  const compareEveryMs = reader.read('RECONCILE_EVERY');
  if (reader.isGiven('SYNC_CRON') && reader.isGiven('SYNC_EVERY'))
    reader.complain('SYNC_CRON', 'and SYNC_EVERY are both set: keep one of them');
  // A source on this machine is a stand-in for experiments, for which any interval is allowed.
  if (sourceUrl !== undefined && !isLoopback(new URL(sourceUrl).hostname)) {
    if (everyMs < LEAST_SYNC_MS) reader.complain('SYNC_EVERY', 'is too short: at least 10s');
    if (compareEveryMs < LEAST_RECONCILE_MS)
      reader.complain('RECONCILE_EVERY', 'is too short: at least 1m');
  }
  return { schedule: cron === undefined ? { everyMs } : { cron, timeZone }, compareEveryMs };
}

function requireGiven(reader: SettingsReader, name: SettingName, why: string): void {
  if (!reader.isGiven(name)) reader.complain(name, `is missing: ${why}`);
}

/** The statuses that write-back sets and changes; null if it is off. */
export function readRule(reader: SettingsReader): WriteBackRule | null {
  const [to, from] = [reader.read('MARK_STATUS'), reader.read('MARK_FROM')];
  if (to === undefined) return null;
  if (from.includes(to)) {
    reader.complain(
      'MARK_FROM',
      `holds ${to}, which is MARK_STATUS itself: name the statuses that may be changed`,
    );
  }
  return { from, to };
}

/** Where to listen. Complains if other machines could reach what the command `serves` there without a password. */
export function readHost(reader: SettingsReader, serves: ConfigNeeds['serves']): string {
  const host = reader.read('HOST');
  if (serves !== undefined && reader.read(serves) !== undefined && !isLoopback(host)) {
    const shown = serves === 'PORT' ? 'the status page' : serves;
    const why = `it is required because HOST lets other machines reach ${shown}`;
    requireGiven(reader, 'ADMIN_PASSWORD', why);
  }
  return host;
}

/** The queue's address; undefined: embedded. */
export function readQueueUrl(reader: SettingsReader): URL | undefined {
  const url = reader.read('QUEUE_URL');
  if (url !== undefined) requireSafeTransport(reader, queueTransport(url), 'QUEUE_URL');
  return url;
}

/** The proxy of this machine's network; undefined: none, or every host is reached without it. */
export function readProxy(reader: SettingsReader): ProxySettings | undefined {
  const forHttp = reader.read('HTTP_PROXY');
  const url = reader.read('HTTPS_PROXY') ?? forHttp;
  const except = reader.read('NO_PROXY') ?? [];
  return url && !except.includes('*') ? { url, except } : undefined;
}

/** The receivers of notifications. Complains about missing settings. */
export function readNotify(reader: SettingsReader): NotifySettings {
  const mail = readMail(reader);
  const mailTo = (name: 'ALERT_EMAIL_TO' | 'NOTIFY_NEW_EMAIL_TO'): EmailSettings | undefined => {
    const to = reader.read(name);
    return to && mail && { ...mail, to };
  };
  return {
    receivers: {
      ALERT_WEBHOOK_URL: readCalledUrl(reader, 'ALERT_WEBHOOK_URL'),
      ALERT_EMAIL_TO: mailTo('ALERT_EMAIL_TO'),
      NOTIFY_NEW_URL: readCalledUrl(reader, 'NOTIFY_NEW_URL'),
      NOTIFY_NEW_EMAIL_TO: mailTo('NOTIFY_NEW_EMAIL_TO'),
    },
    heartbeatUrl: readCalledUrl(reader, 'HEARTBEAT_URL'),
    statusUrl: reader.read('STATUS_URL'),
  };
}

/** Server and sender; undefined if they are not configured. */
function readMail(reader: SettingsReader): Omit<EmailSettings, 'to'> | undefined {
  const server = reader.read('ALERT_SMTP_URL');
  const from = reader.read('ALERT_EMAIL_FROM') ?? mailbox(server?.login?.user ?? '');
  const needing = (['ALERT_EMAIL_TO', 'NOTIFY_NEW_EMAIL_TO'] as const).find((name) =>
    reader.isGiven(name),
  );
  if (needing === undefined) return undefined;
  requireGiven(reader, 'ALERT_SMTP_URL', `the mail server for ${needing}`);
  if (server === undefined) return undefined;
  if (from === undefined) {
    const why =
      'the user name in ALERT_SMTP_URL is not an e-mail address that could be used for it';
    requireGiven(reader, 'ALERT_EMAIL_FROM', why);
    return undefined;
  }
  const isTrusted = isLoopback(server.host) || plaintextHosts(reader).has(server.host);
  return { server: { ...server, isTrusted }, from };
}

/** An address that contains a secret. */
function readCalledUrl(
  reader: SettingsReader,
  name: 'ALERT_WEBHOOK_URL' | 'NOTIFY_NEW_URL' | 'HEARTBEAT_URL',
): URL | undefined {
  const address = reader.read(name);
  if (address?.protocol === 'http:') {
    const transport = transportTo(address.hostname, ['is plain http: write https://']);
    requireSafeTransport(reader, transport, name);
  }
  return address;
}

const plaintextHosts = (reader: SettingsReader): ReadonlySet<string> =>
  new Set(reader.read('ALLOW_PLAINTEXT') ?? []);

/** Complains about each weakness of a connection to another machine, unless ALLOW_PLAINTEXT names its host. */
export function requireSafeTransport(
  reader: SettingsReader,
  { hosts, weaknesses }: Transport,
  name: SettingName,
  target?: string,
): void {
  const allowed = plaintextHosts(reader);
  if (hosts.every((host) => allowed.has(host))) return;
  const permission =
    'or list the host in ALLOW_PLAINTEXT if only you use the network between it and this machine';
  for (const weakness of weaknesses) reader.complain(name, `${weakness}, ${permission}`, target);
}

/** Node's own switch that makes the whole process accept any certificate of any server. */
const NO_CHECKS = 'NODE_TLS_REJECT_UNAUTHORIZED';

/** The mistake of switching off all certificate checks; none if they are on. */
export function uncheckedCertificates({ variables }: SettingsReader): SettingMistake[] {
  if (variables.get(NO_CHECKS)?.value !== '0') return [];
  const message =
    'is 0, so no certificate is checked and another one could pretend to be the server: remove it, and name the certificate file of your own authority';
  const example = 'NODE_EXTRA_CA_CERTS=/etc/ssl/authority.pem';
  return [{ variable: NO_CHECKS, message, example }];
}
