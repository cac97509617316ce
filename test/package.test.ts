import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Packed {
  readonly bundled: readonly string[];
  readonly files: readonly { readonly path: string }[];
}

/** What `npm pack` would put into the published package, without building it first. */
function packed(): Packed {
  const json = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: resolve(import.meta.dirname, '..'),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [only] = Object.values(JSON.parse(json) as Record<string, Packed>);
  if (only === undefined) throw new Error('npm pack reported nothing');
  return only;
}

describe('the published package', () => {
  it('carries the Sheets emulator inside, and no TypeScript: Node strips no types in node_modules', () => {
    const { bundled, files } = packed();
    const paths = files.map(({ path }) => path);
    expect(bundled).toEqual(['google-sheets-emulator']);
    expect(paths).toEqual(
      expect.arrayContaining([
        'bin/forms-mirror.js',
        'SECURITY.md',
        // What the unit's own head, and docs/operating.md, send people to.
        'deploy/systemd/forms-mirror.service',
        'deploy/prometheus/alerts.yaml',
        'deploy/otel/tracing.mjs',
        'docs/operating.md',
        'node_modules/google-sheets-emulator/index.js',
        'node_modules/google-sheets-emulator/package.json',
      ]),
    );
    const sources = paths.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'));
    expect(sources).toEqual([]);
    expect(paths.filter((path) => /(^|\/)test\//.test(path))).toEqual([]);
  });
});
