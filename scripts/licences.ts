// Lists the licenses of all packages in package-lock.json, including development tools, and fails on a license that is
// not on the list: `npm run -s licences`. Those of the published package are in dist/THIRD-PARTY.txt.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** Licenses that only require attribution, or that cover only the changed files of a package (MPL-2.0). */
const ALLOWED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
]);

/** Packages that do not name their license by its SPDX identifier, with the license that they contain. */
const LOOKED_AT: Readonly<Record<string, string>> = {
  'url-template@2.0.8': 'BSD-3-Clause',
};

/** A package of the lock file. */
export interface Licensed {
  /** Where npm installs it, such as `node_modules/zod`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** Its name for the license; empty if it names none. */
  readonly licence: string;
  /** The checksum that npm verifies; empty if the lock file has none. */
  readonly integrity: string;
  readonly isAllowed: boolean;
}

interface LockEntry {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly link?: boolean;
}

/** Every package from a registry in the lock file, by name. */
export function licences(lockFile: string): Licensed[] {
  const { packages } = JSON.parse(lockFile) as { packages: Record<string, LockEntry> };
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
    .map(([path, { version = '', license = '', integrity = '' }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 13);
      const licence = LOOKED_AT[`${name}@${version}`] ?? license;
      return { path, name, version, licence, integrity, isAllowed: ALLOWED.has(licence) };
    })
    .sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

if (import.meta.main) {
  const all = licences(readFileSync(resolve(import.meta.dirname, '../package-lock.json'), 'utf8'));
  for (const { name, version, licence } of all) {
    process.stdout.write(`${name}@${version}  ${licence}\n`);
  }
  const unknown = all.filter(({ isAllowed }) => !isAllowed);
  for (const { name, version, licence } of unknown) {
    process.stderr.write(
      `${name}@${version} has the license "${licence}", which no one has reviewed yet: read it, then add it to scripts/licences.ts or leave the package out.\n`,
    );
  }
  process.exitCode = unknown.length === 0 ? 0 : 1;
}
