import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { licences } from '../scripts/licences.ts';
import { SETTING_NAMES } from '../src/settings/settings-table.ts';
import { scratchFolder } from './support/scratch.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(resolve(ROOT, file), 'utf8');

/** Whether instructions copy files only from stages of the file: neither from images nor from an address. */
function takesOnlyFromStages(dockerfile: string): boolean {
  const sources = [...dockerfile.matchAll(/\bfrom=([^\s,]*)/gi)].map(([, name]) => name ?? '');
  const stages = new Set(
    [...dockerfile.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name ?? ''),
  );
  return sources.every((name) => stages.has(name)) && !/^ADD\b/im.test(dockerfile);
}

const BY_DIGEST = /^[a-z0-9./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/;

describe('the Dockerfile', () => {
  const dockerfile = read('Dockerfile');

  it('builds from an image with a digest, so that a moved tag changes nothing', () => {
    const [, image] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile) ?? [];
    expect(image).toMatch(BY_DIGEST);
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map((match) => match[1]);
    expect(new Set(bases)).toEqual(new Set(['${NODE_IMAGE}']));
    // A frontend of BuildKit is an image, too.
    expect(dockerfile).not.toMatch(/^# *syntax *=/m);
    expect(takesOnlyFromStages(dockerfile)).toBe(true);
  });

  it('ends with a user who is not root', () => {
    const users = [...dockerfile.matchAll(/^USER (\S+)$/gm)].map((match) => match[1]);
    expect(users.at(-1)).toBe('node');
  });

  it('installs the packages of the lock file and runs no script of a package', () => {
    const installs = dockerfile.match(/npm (?:ci|i|install)\b.*$/gm) ?? [];
    expect(installs).not.toEqual([]);
    for (const install of installs) expect(install).toMatch(/^npm ci .*--ignore-scripts/);
  });
});

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly privileged?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly env_file?: unknown;
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly secrets?: readonly string[];
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly secrets: Readonly<Record<string, { readonly file?: string }>>;
}

describe('docker-compose.yml', () => {
  const text = read('docker-compose.yml');
  const compose = parse(text, { merge: true }) as Compose;
  const { services, networks, secrets } = compose;

  it.each(Object.entries(services))('restricts %s', (_name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(service.cap_add).toBeUndefined();
    expect(service.privileged).toBeUndefined();
    expect(service.user).toMatch(/^(?!root|0)\w+$/);
  });

  it('takes images from elsewhere only by digest', () => {
    const taken = Object.values(services).filter(({ build }) => build === undefined);
    expect(taken.filter(({ image = '' }) => !BY_DIGEST.test(image))).toEqual([]);
  });

  it('shows a secret only as a file, and only to the services that name it', () => {
    const expected = Object.keys(secrets).map((name) => [name, { file: `./secrets/${name}` }]);
    expect(secrets).toEqual(Object.fromEntries(expected));
    for (const service of Object.values(services)) {
      const used = JSON.stringify(service).matchAll(/\/run\/secrets\/(\w+)/g);
      expect(new Set([...used].map((match) => match[1]))).toEqual(new Set(service.secrets));
    }
    expect(services['worker']?.secrets).not.toContain('admin_password');
    expect(services['redis']?.secrets).toEqual(['redis_password']);
    expect(services['postgres']?.secrets).toEqual(['postgres_password']);
    const ignored = read('.gitignore').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.env', 'secrets/']));
  });

  it('passes .env to start and worker, and every variable of its own is a setting', () => {
    const known = new Set(SETTING_NAMES.flatMap((name) => [name, `${name}_FILE`]));
    for (const [name, service] of Object.entries(services)) {
      const isOurs = name === 'start' || name === 'worker';
      expect([name, service.env_file]).toEqual([name, isOurs ? '.env' : undefined]);
      const given = isOurs ? Object.keys(service.environment ?? {}) : [];
      expect(given.filter((variable) => !known.has(variable))).toEqual([]);
    }
  });

  it('protects Redis by a password that no command line shows, and keeps its jobs', () => {
    const command = services['redis']?.command?.join(' ') ?? '';
    expect(command).toContain('requirepass');
    expect(command).not.toContain('--requirepass');
    expect(command).toContain('--maxmemory-policy noeviction --appendonly yes -');
  });

  it('lets Redis itself receive the stop signal, and takes its password from the secret', () => {
    const folder = scratchFolder('compose-redis');
    try {
      writeFileSync(join(folder, 'secret'), 'kZ4vQ1mW\n');
      const stand = join(folder, 'redis-server');
      writeFileSync(stand, '#!/bin/sh\necho "$$ $*"\ncat\n', { mode: 0o700 });
      const [shell = '', ...args] = (services['redis']?.command ?? []).map((part) =>
        part.replaceAll('$$', '$').replace('/run/secrets/redis_password', join(folder, 'secret')),
      );
      const env = { PATH: `${folder}:${process.env['PATH']}` };
      const { pid, stdout } = spawnSync(shell, args, { env, encoding: 'utf8' });
      // Only the first process would receive a signal.
      const options = '--maxmemory-policy noeviction --appendonly yes -';
      expect(stdout).toBe(`${pid} ${options}\nrequirepass kZ4vQ1mW\n`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('keeps Redis and PostgreSQL on a network without a way out, and the page on this machine', () => {
    expect(networks['stores']).toEqual({ internal: true });
    for (const name of ['redis', 'postgres']) {
      expect(services[name]?.networks).toEqual(['stores']);
      expect(services[name]?.ports).toBeUndefined();
    }
    expect(services['start']?.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  });

  it('keeps the records of failures and notifications in a volume, and does not start wrong settings again and again', () => {
    for (const name of ['start', 'worker']) {
      const { environment = {}, volumes: own = [], entrypoint } = services[name] ?? {};
      expect(environment['DATA_DIR']).toBe('/data');
      expect(own.map((volume) => volume.split(':').at(-1))).toEqual(['/data']);
      expect(entrypoint).toEqual(['/app/bin/hold-on-exit-2.sh']);
    }
  });
});

interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/**
 * Builds for machines other than those of the image, CI and the lock file's author, in versions that the registry at
 * that time did not offer for them, so that npm wrote no checksum. Check a new version of one again.
 */
const WITHOUT_CHECKSUM: readonly RegExp[] = [
  /^@msgpackr-extract\/msgpackr-extract-[\w-]+@3\.0\.7$/,
  /^@oxc-parser\/binding-[\w-]+@0\.156\.0$/,
  /^@oxfmt\/binding-[\w-]+@0\.78\.0$/,
  /^@oxlint-tsgolint\/[\w-]+@7\.0\.2007$/,
  /^@oxlint\/binding-[\w-]+@1\.94\.0$/,
];

describe('package-lock.json', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, LockEntry>;
  };
  const entries = Object.entries(packages).filter(
    ([path, { link }]) => path.startsWith('node_modules/') && link !== true,
  );

  it('has a checksum for every package except for reviewed builds for other machines', () => {
    const bare = entries.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
    const names = bare.map(([path, entry]) => `${path.slice(13)}@${entry.version ?? ''}`);
    const unknown = names.filter((name) => !WITHOUT_CHECKSUM.some((known) => known.test(name)));
    expect(unknown).toEqual([]);
    const ofImage = bare.filter(
      ([, { optional, os = [], cpu = [], libc = ['glibc'] }]) =>
        optional !== true ||
        (os.includes('linux') &&
          libc.includes('glibc') &&
          ['x64', 'arm64'].some((each) => cpu.includes(each))),
    );
    expect(ofImage.map(([path]) => path)).toEqual([]);
    // An unused line would let a later package pass.
    for (const known of WITHOUT_CHECKSUM) expect(names.some((name) => known.test(name))).toBe(true);
  });

  it('takes no package from outside the registry', () => {
    const elsewhere = entries.filter(
      ([, { resolved }]) =>
        !/^(?:undefined$|https:\/\/registry\.npmjs\.org\/)/.test(String(resolved)),
    );
    expect(elsewhere.map(([path]) => path)).toEqual([]);
  });

  it('contains no package with a license that was not reviewed', () => {
    const all = licences(read('package-lock.json'));
    expect(all.filter(({ isAllowed }) => !isAllowed)).toEqual([]);
    expect(all.length).toBe(entries.length);
    const odd = JSON.stringify({
      packages: { '': {}, 'node_modules/x': { version: '1.0.0', license: 'SSPL-1.0' } },
    });
    expect(licences(odd)).toMatchObject([
      { name: 'x', version: '1.0.0', licence: 'SSPL-1.0', isAllowed: false },
    ]);
  });
});
