import { ALERT_SETTINGS } from './alert-settings-table.ts';
import { ALL, READERS, type Setting, WRITERS, plain } from './setting.ts';

/**
 * Every setting there is. README's tables, `.env.example` and the messages about mistakes are made from it; a test
 * keeps them equal.
 */
export const SETTINGS = {
  FORMS_API_URL: {
    ...plain,
    group: 'Source',
    whenUnset: 'required',
    meaning: 'Base URL of the Forms API including its version: https, or http for a loopback host.',
    example: 'https://forms.example.com/api/v1',
    usedBy: READERS,
  },
  FORMS_API_KEY: {
    ...plain,
    group: 'Source',
    whenUnset: 'required',
    meaning: 'The API key, from the dashboard under Settings, API keys.',
    example: 'prefix_0123456789abcdef',
    secret: true,
    usedBy: READERS,
  },
  FORMS_API_AUTH: {
    ...plain,
    group: 'Source',
    default: 'bearer',
    meaning: 'How the key is sent: `bearer` (`Authorization: Bearer …`) or `x-api-key`.',
    example: 'x-api-key',
    usedBy: READERS,
  },
  FORMS_API_CONCURRENCY: {
    ...plain,
    group: 'Source',
    default: '4',
    meaning: 'Requests to the Forms API that each process has in flight at a time, 1 to 32.',
    example: '2',
    usedBy: READERS,
  },
  FORMS_API_RATE: {
    ...plain,
    group: 'Source',
    whenUnset: 'no limit until the API answers 429',
    meaning:
      "Most requests per minute that each process sends to the Forms API, including retries, 1 to 1,000,000. With N workers, divide your plan's limit by N.",
    example: '600',
    usedBy: READERS,
  },
  TARGET_URL: {
    ...plain,
    group: 'Targets',
    whenUnset: '`sqlite:./data/mirror.sqlite` (inside `DATA_DIR`)',
    meaning:
      'Where the copy lives: `sqlite:<file>`, `postgres://user:password@host/database?schema=forms&sslmode=verify-full`, `mysql://user:password@host/database?ssl-mode=VERIFY_IDENTITY` (or `mariadb://…`), or the URL of a Google Sheet as copied from the browser.',
    example: 'postgres://mirror:password@db.example.com/forms?schema=forms&sslmode=verify-full',
    secret: true,
    perTarget: true,
    usedBy: WRITERS,
  },
  TARGET_FORMS: {
    ...plain,
    group: 'Targets',
    default: '*',
    meaning: 'The forms to mirror: `*`, or form IDs or slugs separated by commas.',
    example: 'contact,job-application',
    perTarget: true,
    usedBy: WRITERS,
  },
  TARGET_FIELDS: {
    ...plain,
    group: 'Targets',
    whenUnset: 'required; `forms <form>` lists the fields',
    meaning:
      'The fields that may leave the source: field IDs, `<form>:<field ID>` for a field of one form, `<form>:*` for every field of a form, or `*` for every field of every form, including fields that only old answers have.',
    example: 'field_1700000000001_name,contact:*',
    perTarget: true,
    usedBy: WRITERS,
  },
  TARGET_HISTORY: {
    ...plain,
    group: 'Targets',
    default: 'status',
    meaning:
      'The history that a SQL target keeps. `status`: every status that a submission had (`mirror_status_history`). `full`: also every version of every row, in `<table>_history`, from the time you turn it on. A spreadsheet keeps no history.',
    example: 'full',
    perTarget: true,
    usedBy: WRITERS,
  },
  TARGET_HASH_FIELDS: {
    ...plain,
    group: 'Targets',
    whenUnset: 'none',
    meaning:
      'The fields whose answers are stored as a keyed hash (needs `HASH_KEY`), written as in `TARGET_FIELDS`. You can still count and join them. It does not select fields.',
    example: 'field_1700000000002_email,job-application:*',
    perTarget: true,
    usedBy: WRITERS,
  },
  HASH_KEY: {
    ...plain,
    group: 'Targets',
    whenUnset: 'required with `TARGET_HASH_FIELDS`',
    meaning:
      'The key of those hashes, at least 32 characters. Create one with `openssl rand -base64 32` and keep it: another key makes other hashes.',
    example: 'from-openssl-rand-base64-32',
    secret: true,
    usedBy: ['start', 'worker', 'sync', 'verify', 'check'],
  },
  TARGETS: {
    ...plain,
    group: 'Targets',
    whenUnset: 'one target, named `default`',
    meaning:
      'Names of several targets. Each reads `TARGET_<NAME>_URL`, `TARGET_<NAME>_FIELDS` and so on; a `TARGET_…` without a name is the default for all of them.',
    example: 'sheet,warehouse',
    usedBy: WRITERS,
  },
  SYNC_EVERY: {
    ...plain,
    group: 'Schedule',
    default: '1m',
    meaning: 'How often to poll for changes: `30s`, `1m`, `6h`, `1d`; at least `10s`.',
    example: '30s',
    usedBy: ['start', 'worker', 'status', 'check'],
  },
  SYNC_CRON: {
    ...plain,
    group: 'Schedule',
    whenUnset: '`SYNC_EVERY` applies',
    meaning: 'A cron expression for polls, instead of `SYNC_EVERY`; at most every 10 seconds.',
    example: '*/5 8-18 * * 1-5',
    usedBy: ['start', 'worker', 'status', 'check'],
  },
  SYNC_TZ: {
    ...plain,
    group: 'Schedule',
    default: 'UTC',
    meaning: 'The time zone of `SYNC_CRON`.',
    example: 'Europe/Prague',
    usedBy: ['start', 'worker', 'status', 'check'],
  },
  RECONCILE_EVERY: {
    ...plain,
    group: 'Schedule',
    default: '6h',
    meaning:
      'Time within which every row is compared, spread evenly over polls. Row comparisons find edited answers and changes that no count shows. At least `1m`.',
    example: '1d',
    usedBy: ['start', 'worker', 'sync', 'status', 'check'],
  },
  MARK_STATUS: {
    ...plain,
    group: 'Marking',
    whenUnset: 'the source is never changed',
    meaning:
      'The status that a submission gets at the source after every target has stored it: `NEW`, `IN_PROGRESS`, `DONE`, `PAID`, `REJECTED` or `ARCHIVED`.',
    example: 'DONE',
    usedBy: ['start', 'worker', 'sync', 'check', 'explain'],
  },
  MARK_FROM: {
    ...plain,
    group: 'Marking',
    default: 'NEW',
    meaning: 'Only submissions in one of these statuses are changed, as read immediately before.',
    example: 'NEW,IN_PROGRESS',
    usedBy: ['start', 'worker', 'sync', 'check', 'explain'],
  },
  MAX_DELETE_FRACTION: {
    ...plain,
    group: 'Safety',
    default: '0.2',
    meaning:
      'If more than this fraction of a form (and more than 20 rows) disappears at once, nothing is marked deleted until a person accepts it: `sync --full --accept-deletes`.',
    example: '0.05',
    usedBy: ['start', 'worker', 'sync'],
  },
  PURGE_DELETED_AFTER: {
    ...plain,
    group: 'Safety',
    whenUnset: 'never',
    meaning:
      'How long a row stays after it was marked deleted, such as `30d`. `start` and `worker` then remove it after a row comparison, as `purge --deleted-before` does.',
    example: '30d',
    usedBy: ['start', 'worker'],
  },
  PURGE_HISTORY_AFTER: {
    ...plain,
    group: 'Safety',
    whenUnset: 'never',
    meaning:
      'How long a SQL target keeps history, such as `365d`. `start` and `worker` remove older history after a row comparison. Current values stay.',
    example: '365d',
    usedBy: ['start', 'worker'],
  },
  ALLOW_PLAINTEXT: {
    ...plain,
    group: 'Safety',
    whenUnset: 'none: another machine is reached only over TLS with a checked certificate',
    meaning:
      'Hosts on a network that only you use, separated by commas. A queue, target, webhook, heartbeat or mail server there may be reached without TLS, with an unchecked certificate, or, for Redis, without a password.',
    example: 'redis,postgres',
    usedBy: ['start', 'worker', 'sync', 'verify', 'check', 'status', 'explain'],
  },
  GOOGLE_APPLICATION_CREDENTIALS: {
    ...plain,
    group: 'Google Sheets',
    whenUnset: "the machine's own Google account",
    meaning: 'The key file of the service account that the sheet is shared with.',
    example: './service-account.json',
    usedBy: WRITERS,
  },
  GOOGLE_CREDENTIALS_JSON: {
    ...plain,
    group: 'Google Sheets',
    whenUnset: '`GOOGLE_APPLICATION_CREDENTIALS` applies',
    meaning: 'The key itself, as JSON or as JSON in base64, instead of a file.',
    example: '{"type":"service_account","client_email":"…","private_key":"…"}',
    secret: true,
    usedBy: WRITERS,
  },
  SHEETS_EMULATOR_URL: {
    ...plain,
    group: 'Google Sheets',
    whenUnset: 'the real service',
    meaning: 'A local emulator of the Sheets API for experiments; a loopback address.',
    example: 'http://127.0.0.1:4020',
    usedBy: WRITERS,
  },
  SHEETS_SUMMARY: {
    ...plain,
    group: 'Google Sheets',
    whenUnset:
      '`true` for a spreadsheet in which the mirror creates its first tab, otherwise `false`',
    meaning:
      'Whether the spreadsheet has a Summary tab: submissions per week, statuses, answers to multiple-choice questions. `false` stops updating an existing one. To get a deleted one back, set `false`, run `sync`, and set `true` again.',
    example: 'false',
    usedBy: ['start', 'worker', 'sync'],
  },
  HTTPS_PROXY: {
    ...plain,
    group: 'Network',
    whenUnset: '`HTTP_PROXY`, otherwise none',
    meaning:
      'The proxy for the Forms API, Google, webhooks and the heartbeat, as `http://user:password@host:port`. It sees only host names. Loopback hosts, Redis, databases and mail servers are reached without it. The lowercase name works, too.',
    example: 'http://proxy.example.com:3128',
    secret: true,
    commonName: true,
    usedBy: ALL,
  },
  HTTP_PROXY: {
    ...plain,
    group: 'Network',
    whenUnset: 'none',
    meaning: 'Used if `HTTPS_PROXY` is not set.',
    example: 'http://proxy.example.com:3128',
    secret: true,
    commonName: true,
    usedBy: ALL,
  },
  NO_PROXY: {
    ...plain,
    group: 'Network',
    whenUnset: 'none',
    meaning:
      'Hosts that are reached without the proxy, separated by commas: `example.com` (including subdomains), `host:port`, or `*`.',
    example: 'forms.example.com',
    commonName: true,
    usedBy: ALL,
  },
  QUEUE_URL: {
    ...plain,
    group: 'Queue',
    whenUnset: 'embedded in `DATA_DIR`: no server, one process',
    meaning:
      'The job queue: `rediss://…` or `redis://…` (for production and several workers), or `postgres://…`. `rediss+sentinel://:password@host:26379/master?sentinel=other:26379` finds the master through Sentinel.',
    example: 'rediss://:password@redis.example.com:6379',
    secret: true,
    usedBy: ['start', 'worker', 'sync', 'status', 'check'],
  },
  DATA_DIR: {
    ...plain,
    group: 'Queue',
    default: './data',
    meaning:
      'The directory of the embedded queue, the default target, and records that processes keep for each other: failures, notifications, running processes. Only its owner can read it.',
    example: '/var/lib/forms-mirror',
    commonName: true,
    usedBy: WRITERS,
  },
  HOST: {
    ...plain,
    group: 'Status page and alerts',
    default: '127.0.0.1',
    meaning:
      'The address that the status page and `WORKER_PORT` listen on. Beyond loopback, it needs an `ADMIN_PASSWORD` of at least 12 characters.',
    example: '0.0.0.0',
    commonName: true,
    usedBy: ['start', 'worker'],
  },
  PORT: {
    ...plain,
    group: 'Status page and alerts',
    default: '8080',
    meaning: 'The port of the status page; 0 takes any free port.',
    example: '8081',
    commonName: true,
    usedBy: ['start'],
  },
  ADMIN_PASSWORD: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'none, on loopback only',
    meaning: 'The password of the status page (user name `admin`) and of `/metrics` of a worker.',
    example: 'your-secret',
    secret: true,
    usedBy: ['start', 'worker'],
  },
  WORKER_PORT: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'a worker opens no port',
    meaning:
      'The port at which a `worker` answers `/live`, `/health`, `/ready` and `/metrics`; 0 takes any free port. `start` answers them at `PORT`.',
    example: '9091',
    usedBy: ['worker'],
  },
  ...ALERT_SETTINGS,
  LOG_LEVEL: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: '`info` for `start` and `worker`, otherwise `warn`',
    meaning: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Logs go to stderr.',
    example: 'debug',
    commonName: true,
    usedBy: ALL,
  },
} as const satisfies Record<string, Setting>;

/** The name of a setting as it stands in the environment, for an unnamed target. */
export type SettingName = keyof typeof SETTINGS;

/** The names of all settings, in the order of the documentation. */
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** A setting by its name, without the narrow type of its own entry. */
export function settingOf(name: SettingName): Setting {
  return SETTINGS[name];
}

/** `TARGET_FIELDS` of the target `sheet-1` is `TARGET_SHEET_1_FIELDS`; of the unnamed one (undefined) it stays itself. */
export function variableOf(name: SettingName, target?: string): string {
  if (target === undefined || !settingOf(name).perTarget) return name;
  const own = `TARGET_${target.toUpperCase().replaceAll('-', '_')}_`;
  return name.startsWith('TARGET_') ? name.replace('TARGET_', own) : `${own}${name}`;
}
