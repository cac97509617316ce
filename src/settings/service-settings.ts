import { z } from 'zod';
import { LOG_LEVELS, type LogLevel } from '../base/logger.ts';
import { looksLikeKey } from '../base/key-like.ts';
import { isLoopback } from '../base/transport.ts';
import type { ProxySettings } from '../base/proxy.ts';
import { parseQueueUrl, queueTransport, QueueUrlError } from '../queue/backends.ts';
import { requireSafeTransport } from './plaintext.ts';
import type { SettingsReader } from './settings-reader.ts';
import { apiAddress, oneOf, wholeNumber } from './value-schemas.ts';

/** The two ways of sending the key. */
export type FormsAuth = 'bearer' | 'x-api-key';

/** How to reach the Forms API. */
export interface SourceSettings {
  /** With its version prefix, without a slash at its end. */
  readonly url: string;
  readonly key: string;
  readonly auth: FormsAuth;
  /** Requests in flight at once. */
  readonly concurrency: number;
  /** Most requests of this process in any minute; null: no limit. */
  readonly perMinute: number | null;
}

/** What an HTTP header can hold (RFC 9110, 5.5), white space aside. */
const headerToken = z
  .string()
  .regex(
    /^[\u0021-\u007e]+$/,
    'holds spaces or characters no key has: copy it again, only the key and all of it',
  );

/** The source; undefined when it is not set up or wrong. Complains about what is missing when `required`. */
export function readSource(reader: SettingsReader, required: boolean): SourceSettings | undefined {
  const url = required
    ? reader.readRequired(
        'FORMS_API_URL',
        apiAddress,
        'the base address of the Forms API, with its version prefix',
      )
    : reader.read('FORMS_API_URL', apiAddress);
  const key = required
    ? reader.readRequired(
        'FORMS_API_KEY',
        headerToken,
        'the dashboard makes one under Settings, API keys',
      )
    : reader.read('FORMS_API_KEY', headerToken);
  const auth = reader.readWithDefault('FORMS_API_AUTH', oneOf(['bearer', 'x-api-key']));
  const concurrency = reader.readWithDefault('FORMS_API_CONCURRENCY', wholeNumber(1, 32));
  const perMinute = reader.read('FORMS_API_RATE', wholeNumber(1, 1_000_000)) ?? null;
  if (url === undefined || key === undefined) return undefined;
  return { url, key, auth, concurrency, perMinute };
}

/** The status page. */
export interface StatusSettings {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly password: string | undefined;
}

/** How to reach Google Sheets. All undefined: the machine's own Google account. */
export interface GoogleSettings {
  /** The key as JSON, or as JSON in base64. */
  readonly credentialsJson: string | undefined;
  readonly credentialsFile: string | undefined;
  readonly emulatorUrl: string | undefined;
  /** Whether a spreadsheet has a Summary tab; undefined: one that the mirror began. */
  readonly summary: boolean | undefined;
}

const text = z.string();

/** What a command shows: the status page of `start`, or what a worker tells of itself. */
export type ShownPart = 'page' | 'worker';

/**
 * Complains about what others can reach without a password worth the name, when the command shows it. A proxy in front of the page
 * may show it to others although HOST is a loopback address: so a password of the page has to be a good one anywhere.
 */
export function readStatusPage(
  reader: SettingsReader,
  shown: ShownPart | undefined,
): StatusSettings {
  const host = reader.readWithDefault(
    'HOST',
    text.regex(/^[^\s/]+$/, 'is not a host name or address'),
  );
  const password = reader.read('ADMIN_PASSWORD', text);
  const isBeyond = shown !== undefined && !isLoopback(host);
  const what = shown === 'page' ? 'the status page' : 'WORKER_PORT';
  const why = isBeyond ? `HOST lets other machines reach ${what}` : 'a proxy may show it to others';
  if (isBeyond && !reader.isGiven('ADMIN_PASSWORD')) {
    reader.complain('ADMIN_PASSWORD', `is missing: it is required because ${why}`);
  }
  // No proxy shows a worker.
  const isGuard = password !== undefined && (isBeyond || shown === 'page');
  const weakness = isGuard ? weaknessOf(password) : undefined;
  if (weakness !== undefined) {
    reader.complain('ADMIN_PASSWORD', `${weakness} (a good one is required because ${why})`);
  }
  const port = reader.readWithDefault('PORT', wholeNumber(0, 65_535));
  return { host, port, password };
}

/** Where a worker tells of itself; undefined: nowhere. */
export const readWorkerPort = (reader: SettingsReader): number | undefined =>
  reader.read('WORKER_PORT', wholeNumber(0, 65_535));

/** The queue's address; undefined: embedded. */
export function readQueueUrl(reader: SettingsReader): URL | undefined {
  const url = reader.read('QUEUE_URL', queueAddress);
  if (url !== undefined) requireSafeTransport(reader, queueTransport(url), 'QUEUE_URL');
  return url;
}

/** What QUEUE_URL takes. Messages do not quote the value: it may hold a password (L15). */
const queueAddress = text.transform((value, context): URL => {
  try {
    return parseQueueUrl(value);
  } catch (error) {
    if (!(error instanceof QueueUrlError)) throw error;
    context.addIssue({ code: 'custom', message: error.problem });
    return z.NEVER;
  }
});

/** Access to Google Sheets. GOOGLE_CREDENTIALS_JSON, which only this program reads, wins over a file that the machine may set for all. */
export function readGoogle(reader: SettingsReader): GoogleSettings {
  const credentialsJson = reader.read('GOOGLE_CREDENTIALS_JSON', googleKey);
  const credentialsFile = reader.read('GOOGLE_APPLICATION_CREDENTIALS', text);
  const summary = reader.read('SHEETS_SUMMARY', oneOf(['true', 'false']));
  return {
    credentialsJson,
    credentialsFile: credentialsJson === undefined ? credentialsFile : undefined,
    emulatorUrl: reader.read('SHEETS_EMULATOR_URL', emulatorAddress),
    summary: summary === undefined ? undefined : summary === 'true',
  };
}

/** Messages do not quote the value: it may hold a password (L15). */
const proxyAddress = text.transform((value, context): URL => {
  // As curl and others take it: host and port alone.
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  // The host is shown.
  if (
    url !== null &&
    !looksLikeKey(url.hostname) &&
    /^https?:$/.test(url.protocol) &&
    url.hostname !== ''
  )
    return url;
  context.addIssue({
    code: 'custom',
    message: 'is not the address of an http proxy: write http://host:port',
  });
  return z.NEVER;
});

/** The proxy of this machine's network; undefined: none. */
export function readProxy(reader: SettingsReader): ProxySettings | undefined {
  const forHttp = reader.read('HTTP_PROXY', proxyAddress);
  const url = reader.read('HTTPS_PROXY', proxyAddress) ?? forHttp;
  const except = reader.read('NO_PROXY', text)?.split(/[,\s]+/) ?? [];
  return url && { url, except: except.filter((entry) => entry !== '') };
}

const emulatorAddress = apiAddress.refine(
  (address) => isLoopback(new URL(address).hostname),
  'is not on this machine: the stand-in listens on a loopback address only',
);

/** JSON, plain or in base64. Messages quote nothing of it: it is a private key. Its content is checked when it is used. */
const googleKey = text.refine((value) => {
  const json = value.startsWith('{') ? value : Buffer.from(value, 'base64').toString('utf8');
  try {
    return typeof JSON.parse(json) === 'object';
  } catch {
    return false;
  }
}, 'does not hold JSON: paste the whole file that Google gave you with the key, as it is or in base64');

/** The directory for what this program keeps for itself. */
export const readDataDir = (reader: SettingsReader): string =>
  reader.readWithDefault('DATA_DIR', text);

/** How much is logged; undefined: the command's own default. */
export const readLogLevel = (reader: SettingsReader): LogLevel | undefined =>
  reader.read('LOG_LEVEL', oneOf(LOG_LEVELS));

/** Fewer characters can be found by trial and error, or were meant for trying things out. */
const MIN_SECRET_LENGTH = 12;
/** What is weak about a secret that guards something others can reach; undefined: nothing. Goes on after its name, quotes nothing of it (L15). */
function weaknessOf(text: string): string | undefined {
  if (text.length < MIN_SECRET_LENGTH) {
    return `is short: with fewer than ${MIN_SECRET_LENGTH} characters it can be guessed. Make one with: openssl rand -hex 16`;
  }
  return undefined;
}
