import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { type Break, BREAKS } from './breaks.ts';

/*
 * Makes each deliberate fault in a copy of the program, and runs the simulation alone against it until a history is broken, or a minute
 * of one core has passed. `node run.ts [--only part-of-a-name] [--seconds 60]`
 */

const { values } = parseArgs({
  options: { only: { type: 'string' }, seconds: { type: 'string', default: '60' } },
});
const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** The text with the fault in it. White space is of no account; a passage that is not there exactly once is an error. */
function broken(text: string, { name, find, replace }: Break): string {
  const words = find
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const found = [...text.matchAll(new RegExp(words.join('\\s+'), 'g'))];
  const [only] = found;
  if (only === undefined || found.length > 1) {
    throw new Error(
      `The break "${name}" no longer applies: its passage is there ${found.length} times.`,
    );
  }
  return text.slice(0, only.index) + replace + text.slice(only.index + only[0].length);
}

/** By the clock on the wall, other seeds that have to be checked included. */
const MOST_MS = 4 * 60_000;

interface Catch {
  readonly law: string;
  readonly seed: string;
  readonly text: string;
}

/** The first history that is broken; undefined where none is. Throws where the simulation itself does not run. */
async function simulate(cwd: string, args: readonly string[]): Promise<Catch | undefined> {
  const all = ['test/simulation/run.ts', ...args];
  const { stdout, stderr } = await run(process.execPath, all, { cwd, maxBuffer: 1e8 }).catch(
    (error: { stdout?: string; stderr?: string }) => error,
  );
  const match = /^seed (\d+) \(\w+\): (L\d+): (.*)$/m.exec(stdout ?? '');
  if (match !== null) return { seed: match[1] ?? '', law: match[2] ?? '', text: match[3] ?? '' };
  if (!/ histories /.test(stdout ?? ''))
    throw new Error(`The simulation does not run: ${(stderr ?? '').slice(0, 500)}`);
  return undefined;
}

/** What caught it; undefined where nothing did. */
async function hunt(fault: Break): Promise<Catch | undefined> {
  const dir = mkdtempSync(join(tmpdir(), 'forms-mirror-break-'));
  try {
    for (const part of ['src', 'package.json', 'tsconfig.json', 'packages', 'test/simulation']) {
      cpSync(join(ROOT, part), join(dir, part), {
        recursive: true,
        filter: (path) => !path.includes('node_modules'),
      });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
    const file = join(dir, fault.file);
    writeFileSync(file, broken(readFileSync(file, 'utf8'), fault));
    // A seed that the sound program fails, too, says nothing of the fault.
    const end = performance.now() + MOST_MS;
    for (let from = fault.from ?? 1; performance.now() < end;) {
      const found = await simulate(dir, [
        '--brief',
        '--seconds',
        values.seconds,
        '--from',
        String(from),
      ]);
      if (found === undefined) return undefined;
      const isSound =
        (await simulate(ROOT, ['--brief', '--from', found.seed, '--seconds', '0.01'])) ===
        undefined;
      if (isSound) return found;
      console.error(`seed ${found.seed} fails without any fault: ${found.law}: ${found.text}`);
      from = Number(found.seed) + 1;
    }
    return undefined;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const chosen = BREAKS.filter(({ name }) => values.only === undefined || name.includes(values.only));
let caught = 0;
console.log('| law | break | caught by | seed | seconds |\n| --- | --- | --- | --- | --- |');
for (const fault of chosen) {
  const before = performance.now();
  const found = await hunt(fault);
  const seconds = Math.round((performance.now() - before) / 1_000);
  if (found !== undefined) caught++;
  const what =
    found === undefined
      ? `**not caught**${fault.why === undefined ? '' : `: ${fault.why}`}`
      : `${found.law}: ${found.text.slice(0, 90)}`;
  console.log(`| ${fault.law} | ${fault.name} | ${what} | ${found?.seed ?? ''} | ${seconds} |`);
}
console.log(`\n${caught} of ${chosen.length} caught`);
process.exit(caught >= chosen.length * 0.9 ? 0 : 1);
