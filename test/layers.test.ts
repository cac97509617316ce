import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = resolve(import.meta.dirname, '../src');
const PACKAGES = resolve(import.meta.dirname, '../packages');

/**
 * The layers, lowest first. A file imports from its own folder or from a lower layer, never from a folder of the same
 * layer.
 */
const LAYERS: readonly (readonly string[])[] = [
  ['base'],
  ['mirror'],
  ['forms', 'targets'],
  ['sync', 'sandbox'],
  ['health'],
  ['notify', 'web', 'queue'],
  ['settings'],
  ['app.ts'],
  ['cli'],
];

/** Only these may use the sandbox: it is for trials, not for the worker. */
const SANDBOX_USERS = new Set(['cli', 'sandbox']);

function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The entry of the program belongs to its commands. */
const ENTRIES: Readonly<Record<string, string>> = { 'cli.ts': 'cli' };

function folderOf(file: string): string {
  const [name = ''] = relative(SRC, file).split('/');
  return ENTRIES[name] ?? name;
}

const layerOf = (folder: string): number => LAYERS.findIndex((folders) => folders.includes(folder));

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) =>
    resolve(dirname(file), match[1] ?? ''),
  );
}

/** A sentence for a wrong import; undefined for a correct one. */
function complaint(file: string, imported: string): string | undefined {
  const [from, to] = [folderOf(file), folderOf(imported)];
  const place = `${relative(SRC, file)} imports ${relative(SRC, imported)}`;
  if (imported.endsWith('/index.ts')) return `${place}: import the file itself`;
  if (from === to) return undefined;
  if (to === 'sandbox' && !SANDBOX_USERS.has(from))
    return `${place}: the sandbox is for cli and tests`;
  if (layerOf(to) < layerOf(from)) return undefined;
  return `${place}: ${to} is not below ${from}. Move the shared part down, or pass it in`;
}

describe('the layers', () => {
  const files = filesOf(SRC);

  it('give every file a layer', () => {
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => layerOf(folderOf(file)) < 0)).toEqual([]);
  });

  it('are imported only downward', () => {
    const complaints = files.flatMap((file) =>
      importsOf(file).map((imported) => complaint(file, imported)),
    );
    expect(complaints.filter((text) => text !== undefined)).toEqual([]);
  });

  it('find an import that goes up or sideways', () => {
    expect(complaint(join(SRC, 'base/x.ts'), join(SRC, 'mirror/y.ts'))).toContain('not below');
    expect(complaint(join(SRC, 'forms/x.ts'), join(SRC, 'targets/y.ts'))).toContain('not below');
    expect(complaint(join(SRC, 'sync/x.ts'), join(SRC, 'sandbox/y.ts'))).toContain('sandbox');
  });
});

/** The parts that emulators share with the sandbox: the replies and failures of any service. */
const SHARED: ReadonlySet<string> = new Set([
  join(SRC, 'sandbox/reply.ts'),
  join(import.meta.dirname, 'support/faults.ts'),
]);

describe('an emulator', () => {
  it("imports only the sandbox's reply code from the program: it does not depend on the tested code", () => {
    const emulators = readdirSync(PACKAGES).filter((name) => name.endsWith('-emulator'));
    const strays = emulators.flatMap((name) => {
      const home = join(PACKAGES, name);
      return [...filesOf(join(home, 'src')), ...filesOf(join(home, 'test'))].flatMap((file) =>
        importsOf(file)
          .filter((imported) => !imported.startsWith(`${home}/`) && !SHARED.has(imported))
          .map((imported) => `${relative(PACKAGES, file)} imports ${imported}`),
      );
    });
    expect(strays).toEqual([]);
  });
});
