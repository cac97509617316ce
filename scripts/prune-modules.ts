import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Packages of `node_modules` that the program needs a part of: which folder holds the parts. */
const APIS = 'googleapis/build/src/apis';
/** A compiler that a library takes along for its types (an optional peer of valibot), some 26 MB. */
const COMPILER = ['typescript', '@typescript'];
/** What compilers and debuggers read, and a running program does not. Licences and whatever else there is stay. */
const FOR_DEVELOPMENT = /\.(?:d\.[cm]?ts|[cm]?js\.map|d\.[cm]?ts\.map)$/;

/**
 * Takes out of a production `node_modules` what the program never loads: the APIs of Google but those named, some 230 MB,
 * TypeScript, type declarations and source maps. Throws for an API that is not there: a misspelt name would leave none.
 */
export function pruneModules(modules: string, apis: readonly string[]): void {
  const folder = join(modules, APIS);
  const there = readdirSync(folder).filter((name) => statSync(join(folder, name)).isDirectory());
  const unknown = apis.filter((api) => !there.includes(api));
  if (apis.length === 0 || unknown.length > 0) {
    throw new Error(`googleapis has no API called ${unknown.join(', ') || '(none was named)'}`);
  }
  const unused = there.filter((name) => !apis.includes(name));
  for (const name of unused) rmSync(join(folder, name), { recursive: true });
  for (const name of COMPILER) rmSync(join(modules, name), { recursive: true, force: true });
  removeFiles(modules);
}

/** Follows no link: what a link leads to is not of this folder. */
function removeFiles(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeFiles(path);
    else if (entry.isFile() && FOR_DEVELOPMENT.test(entry.name)) rmSync(path);
  }
}

// node scripts/prune-modules.ts <node_modules> <api>…
if (import.meta.main) {
  const [modules = 'node_modules', ...apis] = process.argv.slice(2);
  pruneModules(modules, apis);
}
