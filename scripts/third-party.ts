import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { licences } from './licences.ts';

const TEXTS = join(import.meta.dirname, 'licence-texts');

/** Parts of a package that its own license file does not cover. */
const FURTHER: Readonly<Record<string, string>> = {
  '@electric-sql/pglite': readFileSync(join(TEXTS, 'PostgreSQL.txt'), 'utf8'),
};

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
}

/**
 * The licenses of the published package's contents, each text once, with its packages. `folders` are those of the
 * packages, relative to `root`. Throws if a package has no license text and its license is not MIT.
 */
export function licenceNotice(root: string, folders: readonly string[]): string {
  const packagesOf = new Map<string, string[]>();
  for (const folder of folders) {
    const path = join(root, folder);
    const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest;
    const text = licenceText(path, manifest);
    const packages = packagesOf.get(text) ?? [];
    packages.push(`${manifest.name} ${manifest.version}`);
    packagesOf.set(text, packages);
  }
  const parts = [...packagesOf].map(([text, packages]) => `${packages.join(', ')}\n\n${text}`);
  const head = 'forms-mirror contains the packages below, under these licenses.';
  return `${[head, ...parts].join(`\n\n${'-'.repeat(100)}\n\n`)}\n`;
}

function licenceText(path: string, { name, license, author }: Manifest): string {
  const files = readdirSync(path).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(path, file), 'utf8'));
  if (texts.length === 0) {
    if (license !== 'MIT') throw new Error(`${name} has no text of its license, ${license}`);
    const owner = typeof author === 'object' ? author.name : author;
    const permission = readFileSync(join(TEXTS, 'MIT.txt'), 'utf8');
    texts.push(
      `MIT License\n\nCopyright (c) ${owner ?? `the authors of ${name}`}\n\n${permission}`,
    );
  }
  const all = [...texts, FURTHER[name] ?? ''];
  return all
    .map((text) => text.replaceAll('\r\n', '\n').trim())
    .filter(Boolean)
    .join('\n\n');
}

/**
 * The contents of the published package, as CycloneDX: names, versions, licenses and checksums from the lock file.
 * Throws for a package that the lock file does not name, or whose license is not allowed.
 */
export function billOfMaterials(lockFile: string, folders: readonly string[]): string {
  const known = new Map(licences(lockFile).map((each) => [each.path, each]));
  const components = folders.map((folder) => {
    const { name, version, licence, integrity, isAllowed } = known.get(folder) ?? {};
    if (name === undefined || isAllowed !== true) {
      throw new Error(`${folder}, ${licence}, may not be contained in the package`);
    }
    return {
      type: 'library',
      'bom-ref': `${name}@${version}`,
      name,
      version,
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      licenses: [{ license: { id: licence } }],
      hashes: [{ alg: 'SHA-512', content: hexOf(integrity) }],
    };
  });
  const bill = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, components };
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}

/** npm writes checksums as `sha512-` and Base64. */
const hexOf = (integrity = ''): string =>
  Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
