import { z } from 'zod';
import { LOG_LEVELS, type LogLevel } from '../base/logger.ts';
import { isLoopback } from '../base/loopback.ts';
import type { SettingsReader } from './settings-reader.ts';
import { apiAddress, oneOf, wholeNumber } from './value-schemas.ts';

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
}

const text = z.string();

/** Complains about a page that listens beyond loopback without a password, when the command shows it. */
export function readStatusPage(reader: SettingsReader, shown: boolean): StatusSettings {
  const host = reader.readWithDefault(
    'HOST',
    text.regex(/^[^\s/]+$/, 'is no host name or address'),
  );
  const given = reader.isGiven('ADMIN_PASSWORD');
  if (shown && !given && !isLoopback(host)) {
    const why = 'it is required because HOST lets other machines reach the status page';
    reader.complain('ADMIN_PASSWORD', `is missing: ${why}`);
  }
  return {
    host,
    port: reader.readWithDefault('PORT', wholeNumber(0, 65_535)),
    password: reader.read('ADMIN_PASSWORD', text),
  };
}

/** The queue's address; undefined: embedded. The value is not quoted: it may hold a password (L15). */
export const readQueueUrl = (reader: SettingsReader): string | undefined =>
  reader.read('QUEUE_URL', queueAddress);

const queueAddress = text.superRefine((value, context) => {
  const url = /^(rediss?|postgres(ql)?):\/\//i.test(value) ? URL.parse(value) : undefined;
  if (url) return;
  const message =
    url === undefined
      ? 'is of no kind we know: write redis://…, rediss://… or postgres://…, or leave it unset for the embedded queue'
      : 'is no address: a password with special characters must be percent-encoded (@ is %40, / is %2F, # is %23)';
  context.addIssue({ code: 'custom', message });
});

/** Alerts; undefined: none. */
export const readAlertUrl = (reader: SettingsReader): string | undefined =>
  reader.read(
    'ALERT_WEBHOOK_URL',
    text.refine((value) => {
      const url = URL.parse(value);
      return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
    }, 'is no https address (http is for a loopback host only)'),
  );

/** Sheets access. A key that was given for us alone wins over a file that may be the machine's. */
export function readGoogle(reader: SettingsReader): GoogleSettings {
  const credentialsJson = reader.read('GOOGLE_CREDENTIALS_JSON', googleKey);
  const credentialsFile = reader.read('GOOGLE_APPLICATION_CREDENTIALS', text);
  return {
    credentialsJson,
    credentialsFile: credentialsJson === undefined ? credentialsFile : undefined,
    emulatorUrl: reader.read('SHEETS_EMULATOR_URL', emulatorAddress),
  };
}

const emulatorAddress = apiAddress.refine(
  (address) => isLoopback(new URL(address).hostname),
  'is not on this machine: the stand-in listens on a loopback address only',
);

/** JSON, plain or in base64. Nothing of it is quoted: it is a private key. What is in it is looked at when it is used. */
const googleKey = text.refine((value) => {
  const json = value.startsWith('{') ? value : Buffer.from(value, 'base64').toString('utf8');
  try {
    return typeof JSON.parse(json) === 'object';
  } catch {
    return false;
  }
}, 'holds no JSON: paste the whole file that Google gave you with the key, as it is or in base64');

/** The directory for what this program keeps for itself. */
export const readDataDir = (reader: SettingsReader): string =>
  reader.readWithDefault('DATA_DIR', text);

/** How much is logged; undefined: as the command thinks best. */
export const readLogLevel = (reader: SettingsReader): LogLevel | undefined =>
  reader.read('LOG_LEVEL', oneOf(LOG_LEVELS));
