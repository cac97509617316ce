import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../src/settings/config.ts';
import { SettingsError } from '../../src/base/errors.ts';
import { SettingsReader } from '../../src/settings/settings-reader.ts';
import { SETTING_NAMES, settingOf } from '../../src/settings/settings-table.ts';
import { KEY, SOURCE, disk, load, onlyProblem, problemsOf } from '../support/settings.ts';

/** A key that cannot be guessed. */
const HASH_KEY = 'hJ2mQ9xT4bN7vK1wR8cF5yL0pZ3sD6gA';
const HASHED = { TARGET_HASH_FIELDS: 'field_1_a' };

describe('the defaults', () => {
  it('are those of the table', () => {
    const config = load(SOURCE);
    expect(config).toMatchObject({
      source: { baseUrl: SOURCE.FORMS_API_URL, apiKey: KEY, auth: 'bearer', concurrency: 4 },
      schedule: { everyMs: 60_000 },
      compareEveryMs: 6 * 3_600_000,
      maxDeleteFraction: 0.2,
      host: '127.0.0.1',
      port: 8080,
      adminPassword: undefined,
      dataDir: './data',
      logLevel: undefined,
    });
    expect(config.rule).toBeNull();
    expect(config.queueUrl).toBeUndefined();
    expect(config.notify.heartbeatUrl).toBeUndefined();
    expect(config.targets).toHaveLength(1);
    expect(config.targets[0]).toMatchObject({
      name: 'default',
      address: { shown: 'sqlite:data/mirror.sqlite' },
      forms: '*',
    });
    expect(config.targets[0]?.selection).toBeUndefined();
  });

  it('of the table pass their own checks', () => {
    const preset = SETTING_NAMES.filter((name) => settingOf(name).default !== undefined);
    const both = new Set(['SYNC_EVERY']);
    const env = Object.fromEntries(
      preset.filter((name) => !both.has(name)).map((name) => [name, settingOf(name).default ?? '']),
    );
    expect(problemsOf({ ...SOURCE, ...env })).toEqual([]);
  });
});

it('reads every setting of the table', () => {
  const read = vi.spyOn(SettingsReader.prototype, 'read');
  onTestFinished(() => read.mockRestore());
  load(SOURCE);
  const names = new Set(read.mock.calls.map(([name]) => name));
  expect(SETTING_NAMES.filter((name) => !names.has(name))).toEqual([]);
});

describe('what a command needs', () => {
  it('is all that it requires', () => {
    const config = loadConfig({}, disk({}));
    expect(config.source).toBeUndefined();
    expect(config.targets).toHaveLength(1);
  });

  it('is reported with the reason if it is missing', () => {
    expect(problemsOf({}).map(({ variable }) => variable)).toEqual([
      'FORMS_API_URL',
      'FORMS_API_KEY',
    ]);
    expect(problemsOf({})[0]?.message).toMatch(/^is missing: /);
  });

  it('a wrong value is reported also for a command that would not use it', () => {
    expect(() => loadConfig({ FORMS_API_URL: 'ftp://x' }, disk({}))).toThrow(SettingsError);
  });
});

describe('where settings come from', () => {
  it('.env is read if it exists, and the environment takes precedence', () => {
    const file = `FORMS_API_URL=https://file.example.com/v1\nFORMS_API_KEY='${KEY}'\nPORT=9000 # taken\n`;
    const config = load({ PORT: '9001' }, { '.env': `\uFEFF${file}` });
    expect(config.source?.baseUrl).toBe('https://file.example.com/v1');
    expect(config.port).toBe(9001);
  });

  it('an .env that cannot be read is reported as a mistake', () => {
    const denied = Object.assign(new Error('no'), { code: 'EACCES' });
    expect(onlyProblem({}, { '.env': denied })).toMatch(
      /^\.env is there but cannot be read \(EACCES\)/,
    );
  });

  it('L15: a line of .env without = is reported by its number, also if it may be a key', () => {
    const lines = ['# a', 'TARGET_FORMS: contact', '', 'REDIS_X="a', KEY, 'b"', '', '#', ' ', KEY];
    for (const end of ['\n', '\r\n'])
      expect(onlyProblem({}, { '.env': lines.join(end) })).toMatch(
        /^\.env has no = in line 2 and 10: write NAME=value there, or begin a comment with #$/,
      );
  });

  it('says that a .env file in UTF-16 is not UTF-8', () => {
    const text = Buffer.from('FORMS_API_KEY=k\r\n', 'utf16le').toString('utf8');
    expect(onlyProblem({}, { '.env': text })).toMatch(/^\.env is not UTF-8 text: save it/);
  });

  it('blank values count as unset, and white space around a value is not part of it', () => {
    const key = { FORMS_API_KEY: ` ${KEY}\n` };
    const config = load({ ...SOURCE, ...key, TARGET_URL: '', MARK_STATUS: '  ', QUEUE_URL: '' });
    expect(config.source?.apiKey).toBe(KEY);
    expect(config.queueUrl).toBeUndefined();
    expect(config.rule).toBeNull();
  });

  it('a blank value in the environment cancels the value in .env', () => {
    const files = { '.env': 'MARK_STATUS=DONE' };
    expect(load({ ...SOURCE, MARK_STATUS: '' }, files).rule).toBeNull();
    expect(load(SOURCE, files).rule?.to).toBe('DONE');
  });

  it.each([
    ['FORMS_API_KEY', 'from_file'],
    ['TARGET_URL', 'sqlite:file.sqlite'],
    ['HASH_KEY', HASH_KEY],
  ] as const)('a secret, such as %s, may come from a file', (name, value) => {
    const { [name]: _, ...rest } = { ...SOURCE, ...HASHED, HASH_KEY, TARGET_URL: '' };
    const config = load({ ...rest, [`${name}_FILE`]: '/run/s' }, { '/run/s': `${value}\n` });
    expect(JSON.stringify(config)).toContain(JSON.stringify(value));
  });

  it('a file that does not exist, is empty, or competes with a value is reported', () => {
    expect(onlyProblem({ ...HASHED, HASH_KEY_FILE: '/none' })).toMatch(
      /^HASH_KEY_FILE names a file that cannot be read \(ENOENT\)/,
    );
    expect(onlyProblem({ ...HASHED, HASH_KEY_FILE: '/blank' }, { '/blank': ' \n' })).toMatch(
      /^HASH_KEY_FILE names an empty file/,
    );
    expect(
      onlyProblem(
        { QUEUE_URL: 'redis://localhost:1', QUEUE_URL_FILE: '/x' },
        { '/x': 'redis://localhost:2' },
      ),
    ).toMatch(/^QUEUE_URL and QUEUE_URL_FILE are both set/);
  });
});

describe('values', () => {
  it.each([
    ['30s', 30_000],
    ['1d', 86_400_000],
    ['2h', 7_200_000],
  ])('SYNC_EVERY=%s is %d ms', (text, ms) => {
    const local = { ...SOURCE, FORMS_API_URL: 'http://127.0.0.1:4010/v1' };
    expect(load({ ...local, SYNC_EVERY: text }).schedule).toEqual({ everyMs: ms });
  });

  it.each([
    ['SYNC_EVERY', '90', 'takes a number with a unit'],
    ['SYNC_EVERY', '0s', 'is too short'],
    ['RECONCILE_EVERY', '999d', 'is longer than a year'],
    ['SYNC_CRON', '61 * * * *', 'is not a cron expression'],
    ['SYNC_CRON', 'hourly', 'is not a cron expression'],
    ['SYNC_CRON', '0 0 31 2 *', 'or its time never comes'],
    ['SYNC_CRON', '* * * * * *', 'is not a cron expression'],
    ['SYNC_CRON', '@secondly', 'is not a cron expression'],
    ['FORMS_API_AUTH', 'basic', 'takes bearer or x-api-key'],
    ['FORMS_API_CONCURRENCY', '0', 'takes a whole number from 1 to 32'],
    ['FORMS_API_CONCURRENCY', '2.5', 'takes a whole number'],
    ['FORMS_API_URL', 'forms.example.com', 'is not the address of an API'],
    ['FORMS_API_URL', 'http://forms.example.com/v1', 'is not the address of an API'],
    ['FORMS_API_URL', 'https://u:p@forms.example.com/v1', 'is not the address of an API'],
    ['FORMS_API_URL', 'https://forms.example.com/v1?', 'is not the address of an API'],
    ['FORMS_API_KEY', 'two words', 'holds spaces'],
    ['FORMS_API_KEY', 'klíč', 'holds spaces or characters'],
    ['TARGET_URL', 'mssql://u:p@h/d', 'is of an unknown kind'],
    ['TARGET_URL', 'sqlite:', 'names no file'],
    ['TARGET_URL', 'postgres://u:p@ss/w#rd@host/db', 'percent-encoded'],
    ['TARGET_URL', 'postgres://host', 'names no database'],
    [
      'TARGET_URL',
      'https://docs.google.com/document/d/1234567890abc/edit',
      'is not the address of a Google Sheet that can be edited. Open the spreadsheet in the browser',
    ],
    ['TARGET_FIELDS', ':field_1', 'takes field IDs'],
    ['TARGETS', '1st', 'takes names of letters'],
    ['TARGETS', 'a-hash', 'without "hash" at its end'],
    ['MARK_STATUS', 'FINISHED', 'takes NEW, IN_PROGRESS, DONE, PAID, REJECTED or ARCHIVED'],
    ['MAX_DELETE_FRACTION', '2', 'takes a number from 0 to 1'],
    ['SHEETS_EMULATOR_URL', 'https://sheets.example.com', 'is not on this machine'],
    ['SHEETS_SUMMARY', 'yes', 'takes true or false'],
    ['GOOGLE_CREDENTIALS_JSON', 'the-key', 'does not hold JSON'],
    ['QUEUE_URL', 'localhost:6379', 'is of an unknown kind'],
    ['QUEUE_URL', 'redis://:p#ss@[host', 'is not an address'],
    ['HOST', 'http://0.0.0.0', 'is not a host name or address'],
    ['ALERT_WEBHOOK_URL', 'http://hooks.example.com/x', 'is plain http: write https://, or list'],
    ['LOG_LEVEL', 'verbose', 'takes trace,'],
    ['HTTPS_PROXY', 'socks5://ann:s3cret@proxy.test', 'is not the address of an http proxy'],
  ])('%s=%s is refused', (name, value, message) => {
    expect(onlyProblem({ [name]: value })).toContain(message);
    expect(problemsOf({ ...SOURCE, [name]: value })).toMatchObject([{ variable: name }]);
  });

  it.each([
    ['FORMS_API_URL', 'http://[::1]:4010/v1'],
    [
      'GOOGLE_CREDENTIALS_JSON',
      Buffer.from('{"client_email":"a@b","private_key":"xxx"}').toString('base64'),
    ],
    ['SYNC_CRON', '@hourly'],
  ])('%s=%s is accepted', (name, value) => {
    expect(problemsOf({ ...SOURCE, [name]: value })).toEqual([]);
  });

  it('has a Summary tab in a sheet unless it is switched off', () => {
    const summary = (text: string) => load({ ...SOURCE, SHEETS_SUMMARY: text }).google.summary;
    expect([summary('true'), summary('false'), summary('')]).toEqual([true, false, true]);
  });

  it('statuses are those of the API', () => {
    const config = load({ ...SOURCE, MARK_STATUS: 'DONE', MARK_FROM: 'NEW, IN_PROGRESS' });
    expect(config.rule).toEqual({ to: 'DONE', from: ['NEW', 'IN_PROGRESS'] });
  });
});

describe('settings that depend on each other', () => {
  it('an interval and a cron expression exclude each other', () => {
    expect(onlyProblem({ SYNC_EVERY: '1m', SYNC_CRON: '* * * * *' })).toBe(
      'SYNC_CRON and SYNC_EVERY are both set: keep one of them',
    );
  });

  it.each([
    ['SYNC_EVERY', '9s', '10s'],
    ['RECONCILE_EVERY', '59s', '1m'],
  ])('%s=%s is refused if the source is another machine', (name, value, least) => {
    expect(onlyProblem({ [name]: value })).toBe(`${name} is too short: at least ${least}`);
    expect(problemsOf({ ...SOURCE, [name]: least })).toEqual([]);
    expect(
      problemsOf({ ...SOURCE, FORMS_API_URL: 'http://localhost:1/v1', [name]: value }),
    ).toEqual([]);
  });

  it('a proxy without which every host is reached is none', () => {
    const proxied = { ...SOURCE, HTTPS_PROXY: 'http://proxy.test:3128' };
    expect(load({ ...proxied, NO_PROXY: 'a.test' }).proxy?.url.host).toBe('proxy.test:3128');
    expect(load({ ...proxied, NO_PROXY: '*' }).proxy).toBeUndefined();
  });

  it('a cron expression has its time zone', () => {
    const env = { ...SOURCE, SYNC_CRON: '0 8 * * *', SYNC_TZ: 'europe/prague' };
    expect(load(env).schedule).toEqual({
      cron: '0 8 * * *',
      timeZone: 'Europe/Prague',
    });
  });

  it('a page beyond loopback needs a password, but only if there is a page', () => {
    expect(onlyProblem({ HOST: '0.0.0.0' })).toMatch(/^ADMIN_PASSWORD is missing/);
    expect(problemsOf({ ...SOURCE, HOST: '0.0.0.0', ADMIN_PASSWORD: 'a long sentence' })).toEqual(
      [],
    );
    expect(problemsOf({ ...SOURCE, HOST: '::1' })).toEqual([]);
    expect(loadConfig({ ...SOURCE, HOST: '0.0.0.0' }, disk({}), { source: true }).host).toBe(
      '0.0.0.0',
    );
  });

  it('a worker that listens beyond loopback needs a password, and no other worker does', () => {
    const needs = { source: true, serves: 'WORKER_PORT' } as const;
    const beyond = { ...SOURCE, HOST: '0.0.0.0' };
    const load = (env: Record<string, string>) => loadConfig(env, disk({}), needs);
    expect(load(beyond).workerPort).toBeUndefined();
    expect(load({ ...SOURCE, WORKER_PORT: '9091' }).workerPort).toBe(9_091);
    expect(() => load({ ...beyond, WORKER_PORT: '9091' })).toThrow(
      'it is required because HOST lets other machines reach WORKER_PORT',
    );
    const guarded = { ...beyond, WORKER_PORT: '9091', ADMIN_PASSWORD: 'a long sentence' };
    expect(load(guarded).adminPassword).toBe('a long sentence');
    expect(load({ ...SOURCE, WORKER_PORT: '0' }).workerPort).toBe(0);
    expect(onlyProblem({ WORKER_PORT: '70000' })).toMatch(/^WORKER_PORT/);
  });

  it('a write-back that would change no status is refused', () => {
    expect(onlyProblem({ MARK_STATUS: 'DONE', MARK_FROM: 'NEW, OLD' })).toContain('takes NEW,');
    expect(onlyProblem({ MARK_STATUS: 'DONE', MARK_FROM: 'NEW,DONE' })).toMatch(
      /^MARK_FROM holds DONE/,
    );
  });
});

describe('several targets', () => {
  it('use their own value, otherwise the unnamed one, otherwise the default', () => {
    const config = load({
      ...SOURCE,
      TARGETS: 'Sheet, ware-house',
      TARGET_SHEET_URL: 'sheets:1AbC_d-EfGhIjKlMnOp',
      TARGET_SHEET_FIELDS: 'contact:*',
      TARGET_FIELDS: '*',
      TARGET_WARE_HOUSE_FORMS: 'contact\norder',
      TARGET_WARE_HOUSE_HASH_FIELDS: 'field_1_mail',
      TARGET_WARE_HOUSE_HISTORY: 'full',
      HASH_KEY,
    });
    expect(config.targets.map(({ name, address, forms }) => [name, address.shown, forms])).toEqual([
      ['sheet', 'https://docs.google.com/spreadsheets/d/1AbC_d-EfGhIjKlMnOp/edit', '*'],
      ['ware-house', 'sqlite:data/mirror.sqlite', ['contact', 'order']],
    ]);
    const ofContact = { form: 'contact', field: null };
    const hashed = [{ form: null, field: 'field_1_mail' }];
    expect(config.targets.map(({ selection }) => selection)).toEqual([
      { fields: [ofContact], hashed: [] },
      { fields: [{ form: null, field: null }], hashed },
    ]);
    expect(config.targets[0]?.variables.fields).toBe('TARGET_SHEET_FIELDS');
    expect(config.targets.map(({ history }) => history)).toEqual(['status', 'full']);
  });

  it('do not share a place', () => {
    expect(onlyProblem({ TARGETS: 'a,b' })).toMatch(
      /^TARGET_B_URL is the same place as that of target a/,
    );
    const twins = {
      TARGETS: 'a,b',
      TARGET_A_URL: 'postgres://x:p@DB.example.com/d?schema=s&sslmode=verify-full',
      TARGET_B_URL: 'postgresql://y:q@db.example.com:5432/d?sslmode=require&schema=s',
    };
    expect(onlyProblem(twins)).toMatch(/^TARGET_B_URL is the same place/);
    const apart = {
      ...twins,
      TARGET_B_URL: 'postgres://y:q@db.example.com/d?schema=t&sslmode=require',
    };
    expect(problemsOf({ ...SOURCE, ...apart })).toEqual([]);
  });

  it('report an unnamed mistake once', () => {
    expect(onlyProblem({ TARGETS: 'a,b', TARGET_FIELDS: ':y', TARGET_A_URL: 'sqlite:a' })).toMatch(
      /^TARGET_FIELDS takes/,
    );
  });

  it('have names that lead to different variables', () => {
    expect(onlyProblem({ TARGETS: 'a-b,a_b' })).toMatch(/^TARGETS names a target twice/);
  });
});

describe('the key of the hashes', () => {
  it('hashing needs a key, in any target', () => {
    expect(onlyProblem({ TARGET_HASH_FIELDS: 'field_1_a' })).toMatch(
      /^HASH_KEY is missing: TARGET_HASH_FIELDS/,
    );
    expect(onlyProblem({ TARGETS: 'a', TARGET_A_HASH_FIELDS: 'field_1_a' })).toMatch(
      /^HASH_KEY is missing: TARGET_A_HASH_FIELDS/,
    );
  });

  it.each([
    ['alone', {}],
    ['beside a name that is not read', { HASH_FIELDS: '*' }],
    ['beside no field', { TARGET_HASH_FIELDS: '' }],
    ['of several targets', { TARGETS: 'a,b', TARGET_A_URL: 'sqlite:a', TARGET_B_URL: 'sqlite:b' }],
  ])('is never ignored: a key %s, without a field that it hashes, is a mistake', (_what, env) => {
    expect(onlyProblem({ ...env, HASH_KEY })).toMatch(
      /^HASH_KEY is set, and no target hashes: name the fields in TARGET_HASH_FIELDS/,
    );
    expect(problemsOf({ ...SOURCE, ...env, ...HASHED, HASH_KEY })).toEqual([]);
  });

  it.each([
    ['a short one', 'kZ4vQ1mW8xT2bN6yR0cH5jL9pF3sD7g', 'is shorter than 32 characters'],
    ['the example', settingOf('HASH_KEY').example, 'is shorter than 32 characters'],
  ])(
    'a key of the hashes that can be guessed is refused, and not quoted: %s',
    (_which, key, why) => {
      const message = onlyProblem({ ...HASHED, HASH_KEY: key });
      expect(message).toContain(`HASH_KEY ${why}`);
      expect(message).toContain('openssl rand -base64 32');
      expect(message).not.toContain(key);
      const fromFile = { ...SOURCE, ...HASHED, HASH_KEY_FILE: '/run/key' };
      expect(problemsOf(fromFile, { '/run/key': `${key}\n` })).toHaveLength(1);
    },
  );

  it('a key that openssl makes is accepted', () => {
    const keys = [randomBytes(32).toString('base64'), randomBytes(16).toString('hex')];
    expect(keys.flatMap((key) => problemsOf({ ...SOURCE, ...HASHED, HASH_KEY: key }))).toEqual([]);
  });
});
