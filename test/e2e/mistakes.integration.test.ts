import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import type { ChildEnv } from '../support/child.ts';
import { ChildPlace, type ChildResult } from '../support/child-place.ts';
import { filesBelow, leaksIn, type Places } from '../support/leaks.ts';
import { MirrorView } from '../support/mirror-view.ts';
import { freePort, postgresMissing, startPostgres, type TestServer } from '../support/servers.ts';

const KEY = 'fk_PLANTED_key_4711';
const SECRETS = {
  'the key': KEY,
  'the wrong key': 'fk_PLANTED_wrong_key',
  'a password in a target URL': 'PLANTED-pg-password',
  'a password in the queue URL': 'PLANTED-redis-password',
  'the password of the page': 'PLANTED-admin-password',
  'the key of the hashes': 'PLANTED-hash-key-0123456789abcdef',
};
/** Set in every run, though only some look at them. */
const OTHER_SECRETS = {
  ADMIN_PASSWORD: SECRETS['the password of the page'],
  HASH_KEY: SECRETS['the key of the hashes'],
  TARGET_HASH_FIELDS: '*',
};

interface Mistake {
  readonly name: string;
  /** Changed settings; functions where they depend on the place. */
  readonly env: ChildEnv | ((place: ChildPlace) => ChildEnv | Promise<ChildEnv>);
  readonly args?: readonly string[];
  readonly exit: 1 | 2;
  /** What happened, and what to do now: both in one line. */
  readonly says: RegExp;
  /** Makes the source answer so. */
  readonly fault?: { readonly status: number; readonly body: string };
}

const MISTAKES: readonly Mistake[] = [
  {
    name: 'a wrong key',
    env: { FORMS_API_KEY: SECRETS['the wrong key'] },
    exit: 1,
    says: /the key was refused \(401\).*Check FORMS_API_KEY against the dashboard/,
  },
  {
    name: 'an unreachable port',
    env: async () => ({ FORMS_API_URL: `http://127.0.0.1:${await freePort()}/v1` }),
    exit: 1,
    says: /nothing listens at 127\.0\.0\.1:\d+.*Check FORMS_API_URL/,
  },
  {
    name: 'an unknown host',
    env: { FORMS_API_URL: 'https://nowhere.invalid/v1' },
    exit: 1,
    says: /nowhere\.invalid.*Check FORMS_API_URL/,
  },
  {
    name: 'HTML instead of JSON',
    env: {},
    fault: { status: 200, body: '<!doctype html><title>Welcome</title>' },
    exit: 1,
    says: /answered with HTML, not JSON\. Is FORMS_API_URL the API's base address/,
  },
  {
    name: 'another path',
    env: ({ sandbox }) => ({ FORMS_API_URL: sandbox.url.replace('/v1', '/v2') }),
    exit: 1,
    says: /not found \(404\)\. Is FORMS_API_URL the API's base address with its version prefix/,
  },
  {
    name: 'an unknown form in TARGET_FORMS',
    env: { TARGET_FORMS: 'custmer-feedback' },
    exit: 2,
    says: /TARGET_FORMS names custmer-feedback, .*Example: TARGET_FORMS=customer-feedback/,
  },
  {
    name: 'TARGET_FIELDS missing',
    env: { TARGET_FIELDS: '' },
    exit: 2,
    says: /TARGET_FIELDS is missing: .*Example: TARGET_FIELDS='/,
  },
  {
    name: 'a file that cannot be written',
    env: { TARGET_URL: 'sqlite:/proc/copy.sqlite' },
    exit: 1,
    says: /the folder cannot be written\. Give this user the right to write there/,
  },
  {
    name: 'a folder for a file',
    env: ({ folder }) => {
      mkdirSync(join(folder, 'a-folder'), { recursive: true });
      return { TARGET_URL: `sqlite:${join(folder, 'a-folder')}` };
    },
    exit: 1,
    says: /the file cannot be opened\. Check that the path is right and not a folder/,
  },
  {
    name: 'a file that is something else',
    env: ({ folder }) => {
      writeFileSync(join(folder, 'letter.txt'), 'Dear Žofie, this is not a database at all.');
      return { TARGET_URL: `sqlite:${join(folder, 'letter.txt')}` };
    },
    exit: 1,
    says: /the file is not a SQLite database, so it was not changed\. Choose another file/,
  },
  {
    name: 'a database that does not answer',
    env: async () => ({
      TARGET_URL: `postgres://mirror:PLANTED-pg-password@127.0.0.1:${await freePort()}/forms`,
    }),
    exit: 1,
    says: /the server does not answer\. Check host and port/,
  },
  {
    name: 'a misspelt variable',
    env: { TARGET_FEILDS: '*' },
    exit: 2,
    says: /TARGET_FEILDS is not a setting: did you mean TARGET_FIELDS\?/,
  },
  {
    name: 'a secret pasted into the wrong variable',
    env: { TARGET_URL: SECRETS['the wrong key'], FORMS_API_URL: KEY },
    exit: 2,
    says: /FORMS_API_URL contains the value of FORMS_API_KEY.*Example: FORMS_API_URL=https:/,
  },
  {
    name: 'an address without TLS',
    env: { FORMS_API_URL: 'http://forms.example.com/v1' },
    exit: 2,
    says: /FORMS_API_URL is plain http.*write https:/,
  },
  {
    name: 'a queue that does not answer',
    args: ['worker'],
    env: async () => ({
      QUEUE_URL: `redis://default:PLANTED-redis-password@127.0.0.1:${await freePort()}`,
    }),
    exit: 1,
    says: /Redis at redis:\/\/127\.0\.0\.1:\d+ does not answer.*is QUEUE_URL right/,
  },
  {
    name: 'a worker of the embedded queue',
    args: ['worker'],
    env: {},
    exit: 2,
    says: /set QUEUE_URL \(redis:\/\/… or postgres:\/\/…\)/,
  },
];

/** Lines of the log are for machines, unless they are all there is. */
const spokenLines = ({ stderr, stdout }: ChildResult): string[] =>
  `${stderr}\n${stdout}`.split('\n').filter((line) => line !== '' && !line.startsWith('{'));

const openPlace = async (
  onFinished: (work: () => Promise<void> | void) => void,
): Promise<ChildPlace> => {
  const store = createSampleWorkspace({ submissions: 90 });
  const place = await ChildPlace.open(onFinished, { store, apiKey: KEY });
  place.env = { ...place.env, ...OTHER_SECRETS };
  return place;
};

/** One clear line with the remedy, the right exit code, no secret anywhere, and nothing lost. */
async function expectClear(place: ChildPlace, mistake: Mistake): Promise<void> {
  const view = new MirrorView(place.targetUrl);
  expect((await place.run(['sync'])).code).toBe(0);
  const before = await contentOf(place, view);
  const { fault } = mistake;
  if (fault !== undefined) place.sandbox.faults.add({ ...fault, times: Number.POSITIVE_INFINITY });
  const env = typeof mistake.env === 'function' ? await mistake.env(place) : mistake.env;
  const result = await place.run(mistake.args ?? ['sync'], env);
  expect([result.code, result.signal]).toEqual([mistake.exit, null]);
  expect(spokenLines(result).filter((line) => mistake.says.test(line))).toHaveLength(1);
  expect(result.stdout + result.stderr).not.toMatch(/\n\s+at |Error:|INTERNAL|undefined|\[object/);
  const places: Places = filesBelow(place.folder);
  places.set('stdout', result.stdout).set('stderr', result.stderr);
  expect(leaksIn(places, SECRETS)).toEqual([]);
  expect(await contentOf(place, view)).toEqual(before);
}

async function contentOf({ store }: ChildPlace, view: MirrorView): Promise<unknown[]> {
  const rows = await Promise.all(store.forms().map(({ id }) => view.rows(id)));
  expect(rows.reduce((sum, { size }) => sum + size, 0)).toBe(90);
  return rows.map((each) => Array.from(each));
}

describe.concurrent('a mistake', { timeout: 240_000 }, () => {
  it.for(MISTAKES)(
    '$name: one clear line, exit $exit',
    async (mistake, { onTestFinished, expect }) => {
      const place = await openPlace(onTestFinished);
      await expectClear(place, mistake);
      expect(place.children).toHaveLength(2);
    },
  );
});

/** A server that a person lends us is not set up again. */
const isLent = 'TEST_POSTGRES_URL' in process.env;

describe.skipIf(postgresMissing() || isLent)('a wrong database password', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`CREATE ROLE mirror LOGIN PASSWORD 'another one'`);
    const { rows } = await client.query<{ hba_file: string }>('SHOW hba_file');
    const file = rows[0]?.hba_file ?? '';
    const trusting = readFileSync(file, 'utf8');
    writeFileSync(file, 'host all mirror 127.0.0.1/32 scram-sha-256\n');
    appendFileSync(file, trusting);
    await client.query('SELECT pg_reload_conf()');
    await client.end();
  });
  afterAll(() => server.stop());

  it('one clear line, exit 1', async ({ onTestFinished }) => {
    const url = new URL(server.url);
    [url.username, url.password] = ['mirror', SECRETS['a password in a target URL']];
    await expectClear(await openPlace(onTestFinished), {
      name: 'a wrong password',
      env: { TARGET_URL: url.href },
      exit: 1,
      says: /the server refuses the user or the password\. Check both in the target URL/,
    });
    expect(url.password).not.toBe('');
  });
});
