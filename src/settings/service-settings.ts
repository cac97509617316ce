import { z } from 'zod';
import { looksLikeKey } from '../base/key-like.ts';
import { isLoopback } from '../base/transport.ts';
import type { ProxySettings } from '../base/proxy.ts';
import { parseQueueUrl, queueTransport, QueueUrlError } from '../queue/backends.ts';
import { requireSafeTransport } from './plaintext.ts';
import type { SettingsReader } from './settings-reader.ts';
import { apiAddress, oneOf, secretOf, wholeNumber } from './value-schemas.ts';

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

/** The source; undefined when it is not set up or wrong. Complains about missing settings when `required`. */
export function readSource(reader: SettingsReader, required: boolean): SourceSettings | undefined {
  const read = <T>(
    name: 'FORMS_API_URL' | 'FORMS_API_KEY',
    schema: z.ZodType<T, string>,
    why: string,
  ) => {
    if (required && !reader.isGiven(name)) reader.complain(name, `is missing: ${why}`);
    return reader.read(name, schema);
  };
  const url = read(
    'FORMS_API_URL',
    apiAddress,
    'the base address of the Forms API, with its version prefix',
  );
  const key = read(
    'FORMS_API_KEY',
    headerToken,
    'the dashboard makes one under Settings, API keys',
  );
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

/** Fewer characters can be found by trial and error, or were meant for trying things out. */
const LEAST_PASSWORD = 12;

/**
 * The status page. Complains when HOST lets other machines reach `shown`, what the command shows there, without a password;
 * undefined: the command shows nothing.
 */
export function readStatusPage(reader: SettingsReader, shown: string | undefined): StatusSettings {
  const host = reader.readWithDefault(
    'HOST',
    text.regex(/^[^\s/]+$/, 'is not a host name or address'),
  );
  if (shown !== undefined && !isLoopback(host) && !reader.isGiven('ADMIN_PASSWORD')) {
    reader.complain(
      'ADMIN_PASSWORD',
      `is missing: it is required because HOST lets other machines reach ${shown}`,
    );
  }
  return {
    host,
    port: reader.readWithDefault('PORT', wholeNumber(0, 65_535)),
    password: reader.read('ADMIN_PASSWORD', secretOf(LEAST_PASSWORD, 'openssl rand -hex 16')),
  };
}

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
  // As curl and others take it: only host and port.
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  // The host is shown.
  const isHttp = url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '';
  if (isHttp && !looksLikeKey(url.hostname)) return url;
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
}, 'does not hold JSON: paste the whole file that Google gave you with the key, plain or in base64');
