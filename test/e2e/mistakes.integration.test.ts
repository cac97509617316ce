import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Environment } from '../../src/settings/settings-reader.ts';
import type { Finally } from '../support/child.ts';
import { type CliResult, runCli } from '../support/cli-host.ts';
import { type CliPlace, openPlace } from '../support/cli-sandbox.ts';
import { filesBelow, leaksIn, type Places } from '../support/leaks.ts';
import { freePort } from '../support/servers.ts';

const KEY = 'fk_PLANTED_key_4711';
const SECRETS = {
  'the key': KEY,
  'the wrong key': 'fk_PLANTED_wrong_key',
  'a password in a target URL': 'PLANTED-pg-password',
  'a password in the queue URL': 'PLANTED-redis-password',
  'the password of the page': 'PLANTED-admin-password',
  'the key of the hashes': 'PLANTED-hash-key-0123456789abcdef',
};
/** Set in every run, although only some commands read them. */
const OTHER_SECRETS = {
  ADMIN_PASSWORD: SECRETS['the password of the page'],
  HASH_KEY: SECRETS['the key of the hashes'],
  TARGET_HASH_FIELDS: '*',
};

interface Mistake {
  readonly name: string;
  /** Changed settings; `folder`: a folder that the test may write to. */
  readonly env: (folder: string) => Environment | Promise<Environment>;
  readonly args?: readonly string[];
  /** What happened, and what to do now: both in one line. */
  readonly says: RegExp;
}

const MISTAKES: readonly Mistake[] = [
  {
    name: 'a wrong key',
    env: () => ({ FORMS_API_KEY: SECRETS['the wrong key'] }),
    says: /the key was refused \(401\).*Check FORMS_API_KEY against the dashboard/,
  },
  {
    name: 'an unknown host',
    env: () => ({ FORMS_API_URL: 'https://nowhere.invalid/v1' }),
    says: /nowhere\.invalid.*Check FORMS_API_URL/,
  },
  {
    name: 'a file that cannot be written',
    env: () => ({ TARGET_URL: 'sqlite:/proc/copy.sqlite' }),
    says: /the file cannot be opened or written\. Check that the path names a file, not a folder/,
  },
  {
    name: 'a file that is something else',
    env(folder) {
      writeFileSync(join(folder, 'letter.txt'), 'Dear Žofie, this is not a database at all.');
      return { TARGET_URL: `sqlite:${join(folder, 'letter.txt')}` };
    },
    says: /not a SQLite database; it was not changed\. Choose another file/,
  },
  {
    name: 'a database that does not answer',
    env: async () => ({
      TARGET_URL: `postgres://mirror:PLANTED-pg-password@127.0.0.1:${await freePort()}/forms`,
    }),
    says: /the server does not answer\. Check host and port/,
  },
  {
    name: 'a queue that does not answer',
    args: ['worker'],
    env: async () => ({
      QUEUE_URL: `redis://default:PLANTED-redis-password@127.0.0.1:${await freePort()}`,
    }),
    says: /Redis at redis:\/\/127\.0\.0\.1:\d+ does not answer.*is QUEUE_URL right/,
  },
];

/** Log lines are for machines, unless there is nothing else. */
const spokenLines = ({ stderr, stdout }: CliResult): string[] =>
  `${stderr}\n${stdout}`.split('\n').filter((line) => line !== '' && !line.startsWith('{'));

const contentOf = ({ rows }: CliPlace): unknown[] =>
  rows('SELECT table_name AS name FROM mirror_forms').map(({ name }) =>
    rows(`SELECT * FROM "${String(name)}"`),
  );

/** One line with the remedy, the right exit code, no secret anywhere, and nothing lost. */
const CLEAR = { code: 1, lines: 1, odd: null, leaks: [], isKept: true };

/** The result of a mistake after a good run. */
async function outcomeOf(onFinished: Finally, { env, args, says }: Omit<Mistake, 'name'>) {
  const place = await openPlace({ submissions: 90, apiKey: KEY }, onFinished);
  const good: Environment = { ...place.env, ...OTHER_SECRETS };
  const folder = good['DATA_DIR'] ?? '';
  expect((await runCli(['sync'], good)).code).toBe(0);
  const before = contentOf(place);
  const result = await runCli(args ?? ['sync'], { ...good, ...(await env(folder)) });
  const { code, stdout, stderr } = result;
  const places: Places = filesBelow(folder);
  places.set('stdout', stdout).set('stderr', stderr);
  return {
    code,
    lines: spokenLines(result).filter((line) => says.test(line)).length,
    odd: /\n\s+at |Error:|INTERNAL|undefined|\[object/.exec(stdout + stderr)?.[0] ?? null,
    leaks: leaksIn(places, SECRETS),
    isKept: isDeepStrictEqual(contentOf(place), before),
  };
}

describe.concurrent('a mistake', { timeout: 240_000 }, () => {
  it.for(MISTAKES)('$name: one clear line, exit 1', async (mistake, { onTestFinished }) => {
    expect(await outcomeOf(onTestFinished, mistake)).toEqual(CLEAR);
  });
});
