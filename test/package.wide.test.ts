import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createSampleWorkspace } from '../src/sandbox/sample-workspace.ts';
import { Child } from './support/child.ts';
import { ChildPlace } from './support/child-place.ts';
import { openSheet } from './support/spreadsheet.ts';
import { lentMariadb, lentPostgres } from './support/lent-server.ts';
import { scratchFolder } from './support/scratch.ts';
import {
  createDatabase,
  createMysqlDatabase,
  mariadbMissing,
  postgresMissing,
  redisMissing,
  startRedis,
} from './support/servers.ts';

const ROOT = resolve(import.meta.dirname, '..');
/** The limit for everything that `npm install` makes. It takes about 31 MB, of which PGlite is 16. */
const MOST_MB = 40;

let folder: string;
let installed: string;
let bin: string;

const npm = (cwd: string, ...args: string[]): void =>
  void execFileSync('npm', [...args, '--no-audit', '--no-fund', '--silent'], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
  });

// Only from the package: npm may not use the registry.
beforeAll(() => {
  folder = scratchFolder('package', 128);
  npm(ROOT, 'pack', '--pack-destination', folder);
  const [tarball = ''] = readdirSync(folder);
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  npm(empty, 'install', '--offline', join(folder, tarball));
  installed = join(empty, 'node_modules');
  bin = join(installed, '.bin/forms-mirror');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Settings over a small source, and commands of the installed program. */
async function openPlace() {
  const store = createSampleWorkspace({ submissions: 60 });
  const place = await ChildPlace.open({ store });
  const start = (args: readonly string[], env = {}): Child =>
    place.startScript(bin, args, { DATA_DIR: join(place.folder, 'data'), ...env });
  /** Its output and its exit code. */
  const run = async (args: readonly string[], env = {}): Promise<string> => {
    const child = start(args, env);
    const { code } = await child.ended;
    return `${child.stdout}${child.stderr}exit ${code}`;
  };
  return { start, run };
}

describe('the installed package', () => {
  it('is one package, small, and without TypeScript: Node strips no types in node_modules', () => {
    expect(readdirSync(installed).filter((name) => !name.startsWith('.'))).toEqual([
      'forms-mirror',
    ]);
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    expect(files.filter((path) => /\.([cm]?ts|map)$/.test(path))).toEqual([]);
    const sizes = files.map((path) => statSync(join(installed, path)));
    const bytes = sizes.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
    expect(bytes / 1_048_576).toBeLessThan(MOST_MB);
  });

  it('has the licenses and a bill of materials of its contents', () => {
    const read = (name: string): string =>
      readFileSync(join(installed, 'forms-mirror/dist', name), 'utf8');
    const { components } = JSON.parse(read('sbom.cdx.json')) as {
      components: { name: string; version: string; hashes: { content: string }[] }[];
    };
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['googleapis', 'zod', '@bull-board/ui']));
    expect(names).not.toContain('google-sheets-emulator');
    for (const { name, version, hashes } of components) {
      expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^\w{128}$/) }]);
      expect(read('THIRD-PARTY.txt')).toContain(`${name} ${version}`);
    }
    expect(read('THIRD-PARTY.txt')).toContain('PostgreSQL Global Development Group');
  });

  it('runs the demo', async () => {
    const demo = new Child(bin, ['demo', '--seconds', '0']);
    await demo.killedAfter(onTestFinished).ended;
    expect(demo.stdout.match(/: the same as of .* submissions compared$/gm)).toHaveLength(3);
  });

  it.each(['demo', 'sandbox'])('says what %s --sheets needs', async (command) => {
    const child = new Child(bin, [command, '--sheets']);
    expect(await child.ended).toEqual({ code: 2, signal: null });
    expect(child.stderr).toContain(
      '--sheets needs a checkout of the repository, where npm ci installs the stand-in for Google Sheets: this package does not include it.',
    );
  });

  it('checks, copies and verifies from its own sandbox', async () => {
    const { start, run } = await openPlace();
    const sandbox = start(['sandbox', '--port', '0', '--submissions', '40']);
    await sandbox.shows(/TARGET_FIELDS=\S+\n/);
    const source = parseEnv(sandbox.stdout);
    expect(await run(['check'], source)).toMatch(/exit 0$/);
    expect(await run(['sync', '--full'], source)).toMatch(/exit 0$/);
    expect(await run(['verify'], source)).toMatch(/the same[^]*exit 0$/);
  });

  it('connects to a sheet', async () => {
    const { run } = await openPlace();
    const { env } = await openSheet();
    // A run would load no other module, and take time: Google allows one request per second.
    expect(await run(['check'], env)).toMatch(/exit 0$/);
  });

  it.skipIf(postgresMissing() || redisMissing())(
    'copies into PostgreSQL, through Redis, and shows the queue',
    async () => {
      const { start } = await openPlace();
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const env = { TARGET_URL: await createDatabase(await lentPostgres()), QUEUE_URL: redis.url };
      const child = start(['start'], env);
      await child.shows(/"outcome":"ok"/, 'stderr');
      const [, url = ''] = await child.shows(/"url":"(http[^"]+)"/, 'stderr');
      const page = await (await fetch(`${url}/queue`)).text();
      const [script] = /static\/js\/[^"]+/.exec(page) ?? [];
      expect((await fetch(`${url}/queue/${script}`)).status).toBe(200);
      const queues = await fetch(`${url}/queue/api/queues?page=1&jobsPerPage=5`);
      expect(((await queues.json()) as { queues: unknown[] }).queues.length).toBeGreaterThan(2);
      await child.end('SIGTERM');
    },
  );

  it.skipIf(mariadbMissing())('copies into MariaDB', async () => {
    const { run } = await openPlace();
    const env = { TARGET_URL: await createMysqlDatabase(await lentMariadb()) };
    expect(await run(['sync', '--full'], env)).toMatch(/exit 0$/);
  });
});
