import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scratchFolder } from './support/scratch.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

interface Packed {
  readonly bundled: readonly string[];
  readonly files: readonly { readonly path: string }[];
}

/** The files that `npm pack` would put into the published package, without a build: `dist/` may be missing. */
function packed(): Packed {
  const json = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [only] = Object.values(JSON.parse(json) as Record<string, Packed>);
  if (only === undefined) throw new Error('npm pack reported nothing');
  return only;
}

/** The targets of a page's links and pictures, as paths in the repository. */
const linksOf = (page: string): string[] =>
  [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) =>
    normalize(join(dirname(page), link)),
  );

/** Pages that only a checkout has. */
const OF_CHECKOUT = ['CONTRIBUTING.md', 'docker-compose.yml'];

describe('the published package', () => {
  const { bundled, files } = packed();
  const paths = files.map(({ path }) => path);

  it('has the program, its documents and the deployment files, and nothing else from the checkout', () => {
    expect(bundled).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining([
        'bin/forms-mirror.js',
        'SECURITY.md',
        // The comment in the unit, and docs/operating.md, refer to them.
        'deploy/systemd/forms-mirror.service',
        'deploy/prometheus/alerts.yaml',
        'docs/operating.md',
      ]),
    );
    const tops = new Set(paths.map((path) => path.split('/')[0] ?? ''));
    tops.delete('dist');
    expect([...tops].toSorted()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'bin', 'deploy', 'docs'].concat(
        'package.json',
      ),
    );
  });

  it('has the pictures and the pages that its documents show and link to', () => {
    const pages = paths.filter((path) => path.endsWith('.md') && !path.startsWith('dist/'));
    const links = [...new Set(pages.flatMap(linksOf))];
    expect(links).toContain('docs/pictures/sheet.png');
    const isThere = (link: string): boolean =>
      paths.some((path) => path === link || path.startsWith(`${link}/`));
    expect(links.filter((link) => !isThere(link)).toSorted()).toEqual(OF_CHECKOUT);
  });

  it('needs no other package: dist/ contains what the program imports', () => {
    const manifest = JSON.parse(read('package.json')) as Readonly<Record<string, unknown>>;
    const fields = [
      'dependencies',
      'optionalDependencies',
      'peerDependencies',
      'bundleDependencies',
    ];
    expect(fields.filter((field) => field in manifest)).toEqual([]);
    // npm would warn about scripts that a package runs on installation.
    const scripts = Object.keys(manifest['scripts'] as object);
    expect(scripts.filter((name) => /^(pre|post)?(install|prepare)$/.test(name))).toEqual([]);
  });
});

describe('./forms-mirror', () => {
  it('runs the program on the Node of this checkout, with any PATH', () => {
    const options = { cwd: '/', env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' } as const;
    const { stdout, status } = spawnSync(join(ROOT, 'forms-mirror'), ['--version'], options);
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect([stdout, status]).toEqual([`${version}\n`, 0]);
  });

  it('says in one sentence that npm ci was not run', () => {
    const folder = scratchFolder('checkout');
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    cpSync(join(ROOT, 'forms-mirror'), join(folder, 'forms-mirror'));
    expect(existsSync(join(folder, 'node_modules'))).toBe(false);
    const { stderr, status } = spawnSync(join(folder, 'forms-mirror'), [], { encoding: 'utf8' });
    expect(stderr).toBe(
      `forms-mirror is not installed in this checkout yet: run \`npm ci\` in ${folder}, then this command again.\n`,
    );
    expect(status).toBe(2);
  });
});
