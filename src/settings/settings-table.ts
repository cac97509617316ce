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
    meaning:
      'Base address of the Forms API with its version prefix: https, or http for a loopback host.',
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
    meaning: 'Requests to the Forms API that each process has in flight at once, 1 to 32.',
    example: '2',
    usedBy: READERS,
  },
  FORMS_API_RATE: {
    ...plain,
    group: 'Source',
    whenUnset: 'no limit, until the API answers 429',
    meaning:
      'Most requests to the Forms API that each process sends in any minute, 1 to 1,000,000, repeated ones included. With N processes (`start`, each `worker`, each command), divide what the API allows by N. A 429 slows down the process that gets it.',
    example: '600',
    usedBy: READERS,
  },
  TARGET_URL: {
    ...plain,
    group: 'Targets',
    whenUnset: '`sqlite:./data/mirror.sqlite` (inside `DATA_DIR`)',
    meaning:
      'Where the copy lives: `sqlite:<file>`, `postgres://user:password@host/database?schema=forms&sslmode=verify-full`, `mysql://user:password@host/database?ssl-mode=VERIFY_IDENTITY` (or `mariadb://…`), `bigquery://<project>/<dataset>?location=EU`, or the address of a Google Sheet as copied from the browser.',
    example: 'postgres://mirror:password@db.example.com/forms?schema=forms&sslmode=verify-full',
    secret: true,
    perTarget: true,
    usedBy: WRITERS,
  },
  TARGET_FORMS: {
    ...plain,
    group: 'Targets',
    default: '*',
    meaning:
      'The forms to mirror: `*`, or form IDs or slugs with commas between them. A slug, here and below, means the form that it first named, also once that has another one: where it comes to belong to another form, nothing of that is copied, and `SLUG_REUSED` says which ID to write.',
    example: 'contact,job-application',
    perTarget: true,
    usedBy: WRITERS,
  },
  TARGET_FIELDS: {
    ...plain,
    group: 'Targets',
    whenUnset: 'required; `fields` lists what there is',
    meaning:
      'The fields that may leave the source: field IDs, `<form>:<field ID>` for one of one form, `<form>:*` for every field of a form, or `*` for every field of every form, those included that only old answers still carry.',
    example: 'field_1700000000001_name,contact:*',
    perTarget: true,
    usedBy: WRITERS,
  },
  TARGET_HISTORY: {
    ...plain,
    group: 'Targets',
    default: 'status',
    meaning:
      'What a SQL target tells of before. `status`: every status that a submission was seen in (`mirror_status_history`). `full`: every version of every row as well, in `<table>_history`, from the first look or pass after it is turned on. A spreadsheet keeps neither.',
    example: 'full',
    perTarget: true,
    usedBy: WRITERS,
  },
  TARGET_HASH_FIELDS: {
    ...plain,
    group: 'Targets',
    whenUnset: 'none',
    meaning:
      'The fields whose answers are stored as a keyed hash (needs `HASH_KEY`), written as in `TARGET_FIELDS`: still countable and joinable, no longer readable. It picks none of them.',
    example: 'field_1700000000002_email,job-application:*',
    perTarget: true,
    usedBy: WRITERS,
  },
  TARGET_CONCURRENCY: {
    ...plain,
    group: 'Targets',
    default: '2',
    meaning:
      'How many forms of the target a process looks after at once, 1 to 32, and half as many that it reads whole. Several processes read one large form together where the target is PostgreSQL, MySQL or MariaDB, a part each.',
    example: '4',
    perTarget: true,
    usedBy: ['start', 'worker'],
  },
  HASH_KEY: {
    ...plain,
    group: 'Targets',
    whenUnset: 'required with `TARGET_HASH_FIELDS`',
    meaning:
      'The key of those hashes, 32 characters at least. Make one with `openssl rand -base64 32` and keep it: another key makes other hashes.',
    example: 'the-output-of-openssl-rand-base64-32',
    secret: true,
    usedBy: ['start', 'worker', 'sync', 'verify', 'check'],
  },
  TARGETS: {
    ...plain,
    group: 'Targets',
    whenUnset: 'one target, named `default`',
    meaning:
      'Names of several targets. Each then reads `TARGET_<NAME>_URL`, `TARGET_<NAME>_FIELDS` and so on; an unnamed `TARGET_…` is the default for all of them.',
    example: 'sheet,warehouse',
    usedBy: WRITERS,
  },
  SYNC_EVERY: {
    ...plain,
    group: 'Schedule',
    default: '1m',
    meaning:
      'How often to look for what is new: `30s`, `1m`, `6h`, `1d`; `10s` at least. With BigQuery, which bills each look, `15m` is a good choice.',
    example: '30s',
    usedBy: ['start', 'worker', 'status', 'check'],
  },
  SYNC_CRON: {
    ...plain,
    group: 'Schedule',
    whenUnset: '`SYNC_EVERY` counts',
    meaning:
      'A cron expression to look for what is new by, instead of `SYNC_EVERY`; every 10 seconds at most.',
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
      'Within what time everything is compared row by row, evenly spread over the ticks of `SYNC_EVERY`: finds edited answers, and whatever counts alone cannot tell; `1m` at least.',
    example: '1d',
    usedBy: ['start', 'worker', 'status', 'check'],
  },
  MARK_STATUS: {
    ...plain,
    group: 'Marking',
    whenUnset: 'the source is never changed',
    meaning:
      'The status that a submission gets at the source once it is safely stored in every target: `NEW`, `IN_PROGRESS`, `DONE`, `PAID`, `REJECTED` or `ARCHIVED`.',
    example: 'DONE',
    usedBy: ['start', 'worker', 'sync', 'check', 'explain'],
  },
  MARK_FROM: {
    ...plain,
    group: 'Marking',
    default: 'NEW',
    meaning: 'Only submissions in one of these statuses are marked, as read just before.',
    example: 'NEW,IN_PROGRESS',
    usedBy: ['start', 'worker', 'sync', 'check', 'explain'],
  },
  MAX_DELETE_FRACTION: {
    ...plain,
    group: 'Safety',
    default: '0.2',
    meaning:
      'When more than this part of a form (and more than 20 rows) vanishes at once, nothing is marked deleted until a person says so: `sync --full --accept-deletes`.',
    example: '0.05',
    usedBy: ['start', 'worker', 'sync'],
  },
  PURGE_DELETED_AFTER: {
    ...plain,
    group: 'Safety',
    whenUnset: 'never: rows marked deleted stay',
    meaning:
      'How long a row stays after it was marked deleted, `30d` for one: `start` and `worker` remove it after a comparison of its form, as `purge --deleted-before` does.',
    example: '30d',
    usedBy: ['start', 'worker'],
  },
  PURGE_HISTORY_AFTER: {
    ...plain,
    group: 'Safety',
    whenUnset: 'never: histories stay whole',
    meaning:
      'How long a SQL target tells what a submission was before, `365d` for one: after a comparison of a form `start` and `worker` remove statuses that another one had followed before then. What is true now stays.',
    example: '365d',
    usedBy: ['start', 'worker'],
  },
  ALLOW_PLAINTEXT: {
    ...plain,
    group: 'Safety',
    whenUnset:
      'none: another machine is reached over TLS, with its certificate checked, or not at all',
    meaning:
      'Hosts of a network that is yours alone, with commas between them: a queue, a target, a webhook, a heartbeat and a mail server there may go without TLS, a certificate unchecked, a Redis without a password.',
    example: 'redis,postgres',
    usedBy: ['start', 'worker', 'sync', 'verify', 'check', 'status', 'explain', 'alert'],
  },
  GOOGLE_APPLICATION_CREDENTIALS: {
    ...plain,
    group: 'Google Sheets and BigQuery',
    whenUnset: "the machine's own Google account",
    meaning:
      'The key file of the service account that the sheet is shared with, or that has the rights to the dataset.',
    example: './service-account.json',
    usedBy: WRITERS,
  },
  GOOGLE_CREDENTIALS_JSON: {
    ...plain,
    group: 'Google Sheets and BigQuery',
    whenUnset: 'see above',
    meaning: 'That key itself, as JSON or as JSON in base64, instead of a file.',
    example: '{"type":"service_account","client_email":"…","private_key":"…"}',
    secret: true,
    usedBy: WRITERS,
  },
  SHEETS_EMULATOR_URL: {
    ...plain,
    group: 'Google Sheets and BigQuery',
    whenUnset: 'the real service',
    meaning: 'A local stand-in for the Sheets API, for trying things out; a loopback address.',
    example: 'http://127.0.0.1:4020',
    usedBy: WRITERS,
  },
  BIGQUERY_EMULATOR_URL: {
    ...plain,
    group: 'Google Sheets and BigQuery',
    whenUnset: 'the real service',
    meaning: 'A local stand-in for the BigQuery API, for trying things out; a loopback address.',
    example: 'http://127.0.0.1:4030',
    usedBy: WRITERS,
  },
  BIGQUERY_MAX_BYTES_PER_DAY: {
    ...plain,
    group: 'Google Sheets and BigQuery',
    whenUnset: 'no limit',
    meaning:
      'Most bytes that BigQuery may bill this program for a target in a day (UTC), all workers and commands that have the setting together: `200GB`, `1TB`; `1GB` at least. Once they are used up the target rests until midnight UTC, with nothing lost.',
    example: '200GB',
    perTarget: true,
    usedBy: WRITERS,
  },
  SHEETS_SUMMARY: {
    ...plain,
    group: 'Google Sheets and BigQuery',
    whenUnset: '`true` for a spreadsheet in which the mirror makes its first tab, else `false`',
    meaning:
      'Whether the spreadsheet has a tab that counts: submissions a week, statuses, the answers to questions of choice. `false` leaves a tab that is there as it is, without new forms and questions. One that people delete comes back only after `false` and `true` again, with a pass between.',
    example: 'false',
    usedBy: ['start', 'worker', 'sync'],
  },
  HTTPS_PROXY: {
    ...plain,
    group: 'Network',
    whenUnset: '`HTTP_PROXY`, else everything is reached directly',
    meaning:
      'The proxy that leads to the Forms API, Google, the alert webhook and the heartbeat, as `http://user:password@host:port`; it is told the host and no more. Loopback hosts, Redis, PostgreSQL, MySQL and mail servers are reached without it. As everywhere, the name may be in lower case.',
    example: 'http://proxy.example.com:3128',
    secret: true,
    commonName: true,
    usedBy: ALL,
  },
  HTTP_PROXY: {
    ...plain,
    group: 'Network',
    whenUnset: 'none',
    meaning: 'Taken where `HTTPS_PROXY` is not set.',
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
      'Hosts that are reached without the proxy, with commas between them: `example.com` (and all below it), `host:port`, `10.0.0.0/8`, or `*`.',
    example: 'forms.example.com,10.0.0.0/8',
    commonName: true,
    usedBy: ALL,
  },
  QUEUE_URL: {
    ...plain,
    group: 'Queue',
    whenUnset: 'embedded, inside `DATA_DIR`: no server needed, one process',
    meaning:
      'The job queue: `rediss://…` or `redis://…` (for production and for several workers), or `postgres://…`. `rediss+sentinel://:password@host:26379/master?sentinel=other:26379` finds the master by Sentinel. A Redis Cluster cannot hold the queue.',
    example: 'rediss://:password@redis.example.com:6379',
    secret: true,
    usedBy: ['start', 'worker', 'sync', 'status', 'check'],
  },
  DATA_DIR: {
    ...plain,
    group: 'Queue',
    default: './data',
    meaning:
      'The directory of the embedded queue and of the default target, and of what processes record for each other: failures that no target holds, alerts, who runs. It is for its owner alone.',
    example: '/var/lib/forms-mirror',
    commonName: true,
    usedBy: WRITERS,
  },
  HOST: {
    ...plain,
    group: 'Status page and alerts',
    default: '127.0.0.1',
    meaning:
      'The address that the status page listens on, and `WORKER_PORT`; beyond loopback it needs an `ADMIN_PASSWORD` of 12 characters or more.',
    example: '0.0.0.0',
    commonName: true,
    usedBy: ['start', 'worker'],
  },
  PORT: {
    ...plain,
    group: 'Status page and alerts',
    default: '8080',
    meaning: 'Its port; 0 takes any free one.',
    example: '8081',
    commonName: true,
    usedBy: ['start'],
  },
  ADMIN_PASSWORD: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'no password, on loopback only',
    meaning:
      'The password of the status page (user name `admin`), and of the `/metrics` of a worker: 12 characters or more. Set it where a proxy shows the page.',
    example: 'a-long-sentence-of-your-own',
    secret: true,
    usedBy: ['start', 'worker'],
  },
  WORKER_PORT: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: 'a worker opens no port',
    meaning:
      'The port at which a `worker` answers `/live`, `/health`, `/ready` and `/metrics`; 0 takes any free one. `start` has them at `PORT`.',
    example: '9091',
    usedBy: ['worker'],
  },
  ...ALERT_SETTINGS,
  LOG_LEVEL: {
    ...plain,
    group: 'Status page and alerts',
    whenUnset: '`info` for `start` and `worker`, `warn` for the others',
    meaning: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`; logs go to stderr.',
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
