import type { z } from 'zod';
import { LOG_LEVELS } from '../base/logger.ts';
import { STATUSES } from '../mirror/types.ts';
import { parseQueueUrl } from '../queue/backends.ts';
import { parseTargetUrl } from '../targets/target-kinds.ts';
import * as take from './values.ts';

/** Names of fields, for `parseSelection` in `src/mirror/selection.ts`. */
const fieldList = take.listOf(
  (entry) => (!entry.includes(':') || /^[^:]+:.+$/.test(entry) ? entry : undefined),
  'takes field IDs, <form>:* for a whole form, <form>:<field ID> for one field of it, or *',
);

/** Names of targets, in lower case. A name that ends in "hash" would make TARGET_…HASH_FIELDS ambiguous. */
const targetNames = take
  .listOf((entry) => {
    const name = entry.toLowerCase();
    return /^[a-z](?:[a-z0-9_-]{0,38}[a-z0-9])?$/.test(name) && !/(^|[-_])hash$/.test(name)
      ? name
      : undefined;
  }, 'takes names of letters, digits, - and _, each with a letter first, of at most 40 characters, and without "hash" at its end')
  .refine(
    (names) => new Set(names.map((name) => name.replaceAll('-', '_'))).size === names.length,
    'names a target twice',
  );

/** One setting: its documentation, and how it is read from the environment. */
export interface Setting {
  /** The values that it accepts. Its messages continue a sentence after the setting's name. */
  readonly schema: z.ZodType<unknown, string>;
  /** The value when unset, as text; absent if there is none. */
  readonly default?: string;
  /** Shown instead of a default if there is none; absent: `none`. */
  readonly whenUnset?: string;
  /** Markdown, one sentence or two. */
  readonly meaning: string;
  /** A value to copy and adapt; never a working secret. */
  readonly example: string;
  /** Never shown, and may come from a file named by `<NAME>_FILE` (L15). */
  readonly secret?: true;
  /** The heading above it and the settings that follow. */
  readonly heading?: string;
}

/**
 * Every setting, by its name in the environment. A setting that begins with `TARGET_` can also be set for a named target. The
 * reference page, `.env.example` and the messages about mistakes are made from this table; a test keeps them equal.
 */
export const SETTINGS = {
  FORMS_API_URL: {
    heading: 'Source',
    schema: take.apiAddress,
    whenUnset: 'required',
    meaning: 'Base URL of the Forms API including its version: https, or http for a loopback host.',
    example: 'https://forms.example.com/api/v1',
  },
  FORMS_API_KEY: {
    schema: take.headerToken,
    whenUnset: 'required',
    meaning: 'The API key, from the dashboard under Settings, API keys.',
    example: 'prefix_0123456789abcdef',
    secret: true,
  },
  FORMS_API_AUTH: {
    schema: take.oneOf(['bearer', 'x-api-key']),
    default: 'bearer',
    meaning: 'How the key is sent: `bearer` (`Authorization: Bearer …`) or `x-api-key`.',
    example: 'x-api-key',
  },
  FORMS_API_CONCURRENCY: {
    schema: take.wholeNumber(1, 32),
    default: '4',
    meaning: 'Requests to the Forms API that each process has in flight at a time, 1 to 32.',
    example: '2',
  },
  FORMS_API_RATE: {
    schema: take.wholeNumber(1, 1_000_000),
    whenUnset: 'no limit',
    meaning:
      "The most requests per minute that each process sends to the Forms API, including retries, 1 to 1,000,000. With N workers, divide your plan's limit by N. After a 429 the process pauses for as long as the API asks.",
    example: '600',
  },
  TARGET_URL: {
    heading: 'Targets',
    schema: take.parsed(parseTargetUrl, 'is not an address'),
    whenUnset: '`sqlite:./data/mirror.sqlite` (inside `DATA_DIR`)',
    meaning:
      'Where the copy lives: `sqlite:<file>`, `postgres://user:password@host/database?schema=forms&sslmode=verify-full`, `mysql://user:password@host/database?ssl-mode=VERIFY_IDENTITY` (or `mariadb://…`), `bigquery://<project>/<dataset>?location=EU` (experimental), or the URL of a Google Sheet as copied from the browser.',
    example: 'postgres://mirror:password@db.example.com/forms?schema=forms&sslmode=verify-full',
    secret: true,
  },
  TARGET_FORMS: {
    schema: take.list,
    default: '*',
    meaning: 'The forms to mirror: `*`, or form IDs or slugs separated by commas.',
    example: 'contact,job-application',
  },
  TARGET_FIELDS: {
    schema: fieldList,
    whenUnset: 'required; `forms <form>` lists the fields',
    meaning:
      'The fields that may leave the source: field IDs, `<form>:<field ID>` for a field of one form, `<form>:*` for every field of a form, or `*` for every field of every form, including fields that only old answers have.',
    example: 'contact:*',
  },
  TARGET_HISTORY: {
    schema: take.oneOf(['status', 'full']),
    default: 'status',
    meaning:
      'The history that a SQL target keeps. `status`: every status that a submission had (`mirror_status_history`). `full`: also every version of every row, in `<table>_history`, from the time you turn it on. A spreadsheet keeps no history.',
    example: 'full',
  },
  TARGET_HASH_FIELDS: {
    schema: fieldList,
    meaning:
      'The fields whose answers are stored as a keyed hash (needs `HASH_KEY`), written as in `TARGET_FIELDS`. You can still count and join them. It does not select fields.',
    example: 'field_1700000000002_email,job-application:*',
  },
  HASH_KEY: {
    schema: take.secretOf(32, 'openssl rand -base64 32'),
    whenUnset: 'required with `TARGET_HASH_FIELDS`',
    meaning:
      'The key of those hashes, at least 32 characters. Create one with `openssl rand -base64 32` and keep it: another key makes other hashes.',
    example: 'from-openssl-rand-base64-32',
    secret: true,
  },
  TARGETS: {
    schema: targetNames,
    whenUnset: 'one target, named `default`',
    meaning:
      'Names of several targets. Each reads `TARGET_<NAME>_URL`, `TARGET_<NAME>_FIELDS` and so on; a `TARGET_…` without a name is the default for all of them.',
    example: 'sheet,warehouse',
  },
  SYNC_EVERY: {
    heading: 'Schedule',
    schema: take.duration,
    default: '1m',
    meaning:
      'How often to poll for changes: `30s`, `1m`, `6h`, `1d`; at least `10s`, or `1s` if the source is on this machine.',
    example: '30s',
  },
  SYNC_CRON: {
    schema: take.cronPattern,
    whenUnset: '`SYNC_EVERY` applies',
    meaning: 'A cron expression of five fields for polls, instead of `SYNC_EVERY`.',
    example: '*/5 8-18 * * 1-5',
  },
  SYNC_TZ: {
    schema: take.timeZone,
    default: 'UTC',
    meaning: 'The time zone of `SYNC_CRON`.',
    example: 'Europe/Prague',
  },
  RECONCILE_EVERY: {
    schema: take.duration,
    default: '6h',
    meaning:
      'Time within which every row is compared, spread evenly over polls. Row comparisons find edited answers and changes that no count shows. At least `1m`, or `1s` if the source is on this machine.',
    example: '1d',
  },
  MARK_STATUS: {
    heading: 'Write-back',
    schema: take.oneOf(STATUSES),
    whenUnset: 'the source is never changed',
    meaning: `The status that a submission gets at the source after every target has stored it. One of ${STATUSES.map((each) => `\`${each}\``).join(', ')}.`,
    example: 'DONE',
  },
  MARK_FROM: {
    schema: take.wordsOf(STATUSES),
    default: 'NEW',
    meaning:
      'Only submissions in one of these statuses are changed, as read immediately before. Needs `MARK_STATUS`.',
    example: 'NEW,IN_PROGRESS',
  },
  MAX_DELETE_FRACTION: {
    heading: 'Safety',
    schema: take.fraction,
    default: '0.2',
    meaning:
      'If more than this fraction of a form (and more than 20 rows) disappears at once, nothing is marked deleted until a person accepts it: `sync --full --accept-deletes`.',
    example: '0.05',
  },
  PURGE_DELETED_AFTER: {
    schema: take.duration,
    whenUnset: 'never',
    meaning:
      'How long a row stays after it was marked deleted, such as `30d`. It is then removed after a row comparison, as `purge --deleted-before` does. A form that is gone or no longer selected gets no comparisons: its rows are removed as often. A paused form keeps them.',
    example: '30d',
  },
  PURGE_HISTORY_AFTER: {
    schema: take.duration,
    whenUnset: 'never',
    meaning:
      'How long a SQL target keeps former answers, such as `365d`. Older ones are removed at the same times as rows with `PURGE_DELETED_AFTER`. Current answers and all statuses stay.',
    example: '365d',
  },
  ALLOW_PLAINTEXT: {
    schema: take.hostList,
    whenUnset: 'none: another machine is reached only over TLS with a checked certificate',
    meaning:
      'Hosts on a network that only you use, separated by commas. A queue, target, webhook, heartbeat or mail server there may be reached without TLS, with an unchecked certificate, or, for Redis, without a password.',
    example: 'redis,postgres',
  },
  GOOGLE_APPLICATION_CREDENTIALS: {
    heading: 'Google Sheets and BigQuery',
    schema: take.text,
    whenUnset: "the machine's own Google account",
    meaning:
      'The key file of the service account that the sheet is shared with, or that may write to the dataset.',
    example: './service-account.json',
  },
  GOOGLE_CREDENTIALS_JSON: {
    schema: take.googleKey,
    whenUnset: '`GOOGLE_APPLICATION_CREDENTIALS` applies',
    meaning: 'The key itself, as JSON or as JSON in base64, instead of a file.',
    example: '{"type":"service_account","client_email":"…","private_key":"…"}',
    secret: true,
  },
  SHEETS_EMULATOR_URL: {
    schema: take.localAddress,
    whenUnset: 'the real service',
    meaning: 'A local emulator of the Sheets API for experiments; a loopback address.',
    example: 'http://127.0.0.1:4020',
  },
  SHEETS_SUMMARY: {
    schema: take.oneOf(['true', 'false']),
    default: 'true',
    meaning:
      'Whether the spreadsheet has a Summary tab: submissions per week, statuses, answers to multiple-choice questions. `false` stops updating an existing one, which you can then delete.',
    example: 'false',
  },
  HTTPS_PROXY: {
    heading: 'Network',
    schema: take.proxyAddress,
    whenUnset: '`HTTP_PROXY`, otherwise none',
    meaning:
      'The proxy for the Forms API, Google, webhooks and the heartbeat, as `http://user:password@host:port`. It sees only host names. Loopback hosts, Redis, databases and mail servers are reached without it. The lowercase name works, too.',
    example: 'http://proxy.example.com:3128',
    secret: true,
  },
  HTTP_PROXY: {
    schema: take.proxyAddress,
    meaning: 'Used if `HTTPS_PROXY` is not set.',
    example: 'http://proxy.example.com:3128',
    secret: true,
  },
  NO_PROXY: {
    schema: take.list,
    meaning:
      'Hosts that are reached without the proxy, separated by commas: `example.com` (including subdomains), `host:port`, or `*`.',
    example: 'forms.example.com',
  },
  QUEUE_URL: {
    heading: 'Queue',
    schema: take.parsed(parseQueueUrl, 'is not an address'),
    whenUnset: 'embedded in `DATA_DIR`: no server, one process',
    meaning:
      'The job queue: `rediss://…` or `redis://…` (for production and several workers), or `postgres://…`. `rediss+sentinel://:password@host:26379/master?sentinel=other:26379` finds the master through Sentinel.',
    example: 'rediss://:password@redis.example.com:6379',
    secret: true,
  },
  DATA_DIR: {
    schema: take.text,
    default: './data',
    meaning:
      'The directory of the embedded queue, the default target, and records of failures and notifications. Only its owner can read what the mirror makes there.',
    example: '/var/lib/forms-mirror',
  },
  HOST: {
    heading: 'Status page and alerts',
    schema: take.text.regex(/^[^\s/]+$/, 'is not a host name or address'),
    default: '127.0.0.1',
    meaning:
      'The address that the status page and `WORKER_PORT` listen on. Beyond loopback, it needs an `ADMIN_PASSWORD`.',
    example: '0.0.0.0',
  },
  PORT: {
    schema: take.wholeNumber(0, 65_535),
    default: '8080',
    meaning: 'The port of the status page; 0 takes any free port.',
    example: '8081',
  },
  ADMIN_PASSWORD: {
    schema: take.secretOf(12, 'openssl rand -hex 16'),
    whenUnset: 'none, on loopback only',
    meaning:
      'The password of the status page (user name `admin`) and of `/metrics` of a worker, at least 12 characters.',
    example: 'your-secret',
    secret: true,
  },
  WORKER_PORT: {
    schema: take.wholeNumber(0, 65_535),
    whenUnset: 'a worker opens no port',
    meaning:
      'The port at which a `worker` answers `/live`, `/health`, `/ready` and `/metrics`; 0 takes any free port. `start` answers them at `PORT`.',
    example: '9091',
  },
  STATUS_URL: {
    schema: take.pageAddress,
    whenUnset: 'messages contain no link',
    meaning: 'The public URL of the status page. Messages link to it.',
    example: 'https://mirror.example.com',
  },
  ALERT_WEBHOOK_URL: {
    schema: take.calledAddress,
    meaning:
      'Gets a message when a problem needs a person, and another when it is over: a webhook of Slack, Mattermost, Discord, Microsoft Teams (a workflow) or Google Chat, or any other address that takes JSON.',
    example: 'https://hooks.example.com/services/forms-mirror',
    secret: true,
  },
  ALERT_EMAIL_TO: {
    schema: take.mailboxes,
    meaning:
      'Addresses, separated by commas, that get an e-mail when a problem needs a person and when it is over. Needs `ALERT_SMTP_URL`.',
    example: 'ops@example.com,jo@example.com',
  },
  ALERT_SMTP_URL: {
    schema: take.mailServer,
    whenUnset: 'required with `ALERT_EMAIL_TO` and `NOTIFY_NEW_EMAIL_TO`',
    meaning:
      'The mail server: `smtps://user:password@host` (TLS, port 465), or `smtp://…` (port 587, STARTTLS required). Never reached through `HTTPS_PROXY`.',
    example: 'smtps://mirror%40example.com:password@smtp.example.com',
    secret: true,
  },
  ALERT_EMAIL_FROM: {
    schema: take.sender,
    whenUnset: 'the user name in `ALERT_SMTP_URL`, if it is an address',
    meaning: 'The sender of e-mails: an address, or `Name <address>`.',
    example: 'Forms mirror <mirror@example.com>',
  },
  NOTIFY_NEW_URL: {
    schema: take.calledAddress,
    meaning:
      'Gets a message when new answers to a form have been copied: their number, never their text. A webhook, as `ALERT_WEBHOOK_URL`.',
    example: 'https://hooks.example.com/services/new-answers',
    secret: true,
  },
  NOTIFY_NEW_EMAIL_TO: {
    schema: take.mailboxes,
    meaning:
      'Addresses, separated by commas, that get the same message as an e-mail. Needs `ALERT_SMTP_URL`.',
    example: 'sales@example.com',
  },
  HEARTBEAT_URL: {
    schema: take.calledAddress,
    meaning:
      'Called (GET) by `start` once a minute while nothing has failed and messages are delivered, so that a monitoring service (healthchecks.io, Uptime Kuma, Cronitor) notices silence.',
    example: 'https://hc-ping.com/your-uuid',
    secret: true,
  },
  LOG_LEVEL: {
    schema: take.oneOf(LOG_LEVELS),
    whenUnset: '`info` for `start` and `worker`, otherwise `warn`',
    meaning: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Logs go to stderr.',
    example: 'debug',
  },
} as const satisfies Record<string, Setting>;

export type Settings = typeof SETTINGS;
export type SettingName = keyof Settings;

/** The names of all settings, in the order of the documentation. */
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** A setting by its name. */
export const settingOf = (name: SettingName): Setting => SETTINGS[name];

/** `TARGET_FIELDS` of the target `sheet-1` is `TARGET_SHEET_1_FIELDS`; for the unnamed target (undefined) it stays unchanged. */
export function variableOf(name: SettingName, target?: string): string {
  if (target === undefined) return name;
  return name.replace('TARGET_', `TARGET_${target.toUpperCase().replaceAll('-', '_')}_`);
}

/** `NAME=value` for `.env` and a shell: quoted if they would otherwise cut or expand it. */
export function exampleLine(name: SettingName, variable: string): string {
  if (variable.endsWith('_FILE')) return `${variable}=/run/secrets/${name.toLowerCase()}`;
  const { example } = settingOf(name);
  return `${variable}=${/[\s#"*]/.test(example) ? `'${example}'` : example}`;
}
