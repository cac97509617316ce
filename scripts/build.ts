// Makes dist/: the program with everything that it imports, as JavaScript that needs no other package, and the licenses
// of the packages that it contains: `npm run build`.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type OutputChunk, rolldown } from 'rolldown';
import { billOfMaterials, licenceNotice } from './third-party.ts';

const ROOT = resolve(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

/** Modules that the program and its libraries can do without: the emulator outside a checkout, and native code. */
const LEFT_OUT = ['google-sheets-emulator', 'msgpackr-extract'];
/** The pages of Bull Board, which its server reads from a folder; see `src/queue/board.ts`. */
const BOARD_PAGES = '@bull-board/ui';

rmSync(DIST, { recursive: true, force: true });
const bundle = await rolldown({
  cwd: ROOT,
  input: { cli: 'src/cli.ts' },
  platform: 'node',
  external: LEFT_OUT,
  // PGlite reads its WebAssembly from the folder of its code.
  experimental: { resolveNewUrlToAsset: true },
  onLog(level, log) {
    // Libraries use eval for code that Emscripten generates, and to hide a path from bundlers.
    if (log.code !== 'EVAL') throw new Error(`rolldown, ${level}: ${log.message}`);
  },
});
const { output } = await bundle.write({
  dir: DIST,
  chunkFileNames: '[name].js',
  assetFileNames: '[name][extname]',
  // Licenses have a file of their own.
  comments: false,
});
cpSync(join(ROOT, 'node_modules', BOARD_PAGES, 'dist'), join(DIST, 'board/dist'), {
  recursive: true,
});

const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk');
const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
const folders = modules.flatMap(
  (path) => /^.*(node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
);
const contained = [...new Set([...folders, `node_modules/${BOARD_PAGES}`])].toSorted();
const lockFile = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
writeFileSync(join(DIST, 'THIRD-PARTY.txt'), licenceNotice(ROOT, contained));
writeFileSync(join(DIST, 'sbom.cdx.json'), billOfMaterials(lockFile, contained));
