import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = resolve(import.meta.dirname, '../src');
const PACKAGES = resolve(import.meta.dirname, '../packages');

/** The house, ground floor first. A file imports from its own room or from a lower floor, never from a room beside it. */
const FLOORS: readonly (readonly string[])[] = [
  ['base'],
  ['mirror'],
  ['forms', 'targets'],
  ['sync', 'sandbox'],
  ['health'],
  ['notify', 'web', 'queue'],
  ['bridge'],
  ['settings'],
  ['app.ts'],
  ['cli'],
];

/** Only these may use the sandbox: it is for trying things out, not for the worker. */
const SANDBOX_USERS = new Set(['cli', 'sandbox']);

function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** A room may begin at its door: `cli.ts` belongs to `cli/`, `config.ts` to `settings/`. */
const DOORS: Readonly<Record<string, string>> = { 'cli.ts': 'cli', 'config.ts': 'settings' };

function roomOf(file: string): string {
  const [room = ''] = relative(SRC, file).split('/');
  return DOORS[room] ?? room;
}

const floorOf = (room: string): number => FLOORS.findIndex((rooms) => rooms.includes(room));

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) =>
    resolve(dirname(file), match[1] ?? ''),
  );
}

/** A sentence for a wrong import, undefined for a right one. */
function complaint(file: string, imported: string): string | undefined {
  const [from, to] = [roomOf(file), roomOf(imported)];
  const place = `${relative(SRC, file)} imports ${relative(SRC, imported)}`;
  if (imported.endsWith('/index.ts')) return `${place}: no façades inside the house`;
  if (from === to) return undefined;
  if (to === 'sandbox' && !SANDBOX_USERS.has(from))
    return `${place}: the sandbox is for cli and tests`;
  if (floorOf(to) < floorOf(from)) return undefined;
  return `${place}: ${to} is not below ${from}. Move the shared part down, or pass it in (DECISIONS.md, "Floors")`;
}

describe('the floors of the house', () => {
  const files = filesOf(SRC);

  it('give every file a floor', () => {
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => floorOf(roomOf(file)) < 0)).toEqual([]);
  });

  it('are imported downwards only', () => {
    const complaints = files.flatMap((file) =>
      importsOf(file).map((imported) => complaint(file, imported)),
    );
    expect(complaints.filter((text) => text !== undefined)).toEqual([]);
  });

  it('catch an import that goes up or sideways', () => {
    expect(complaint(join(SRC, 'base/x.ts'), join(SRC, 'mirror/y.ts'))).toContain('not below');
    expect(complaint(join(SRC, 'forms/x.ts'), join(SRC, 'targets/y.ts'))).toContain('not below');
    expect(complaint(join(SRC, 'sync/x.ts'), join(SRC, 'sandbox/y.ts'))).toContain('sandbox');
  });
});

/** What the emulators share with the sandbox: how any service fails. */
const SHARED: ReadonlySet<string> = new Set(
  ['faults.ts'].map((name) => join(SRC, 'sandbox', name)),
);

describe('an emulator', () => {
  it('imports of the program only how the sandbox fails: it knows nothing of the tested code', () => {
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
