import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { type Break, BREAKS, broken, type Catch, caughtIn, tableOf } from './breaks.ts';

const USAGE = `npm run breaks -- [options]
Makes each deliberate fault in a copy of the program, and runs the simulation against it until a history is broken, or its time is over. The
seed that caught a fault is kept in the README.md beside, and is tried first the next time.

  --only EXPRESSION  faults whose law and name this regular expression matches (default all)
  --seconds N        of one core, for each fault (default 60)
  --check            only makes each fault and checks the types of the program that has it
  --help             prints this`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    check: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}
const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** What last detected each fault. */
const README = join(import.meta.dirname, 'README.md');
const seeds = caughtIn(readFileSync(README, 'utf8'));

/** Another run may be in progress, for other faults. */
function keep(name: string, found: Catch): void {
  const text = readFileSync(README, 'utf8');
  const table = tableOf(caughtIn(text).set(name, found));
  writeFileSync(README, `${text.slice(0, text.indexOf('| law'))}${table}\n`);
}

/** Real time, including the check of other seeds. */
const MOST_MS = 4 * 60_000;

interface Found extends Catch {
  readonly text: string;
}

/** The first history that breaks a law; undefined if none does. Throws if the simulation itself does not run. */
async function simulate(cwd: string, args: readonly string[]): Promise<Found | undefined> {
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

/** Whether the program without faults passes a seed. A seed that it fails shows nothing about a fault. */
async function isSound(seed: string, drawn: readonly string[]): Promise<boolean> {
  const found = await simulate(ROOT, [...drawn, '--from', seed, '--seconds', '0.01']);
  if (found !== undefined)
    console.error(`seed ${seed} fails without any fault: ${found.law}: ${found.text}`);
  return found === undefined;
}

/** The result of `work` in a copy of the program that has the fault. */
async function inCopy<T>(fault: Break, work: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'forms-mirror-break-'));
  try {
    for (const part of [
      'src',
      'package.json',
      'tsconfig.json',
      'packages',
      'test/core',
      'test/simulation',
      'test/support',
    ]) {
      cpSync(join(ROOT, part), join(dir, part), {
        recursive: true,
        filter: (path) => !path.includes('node_modules'),
      });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
    for (const patch of [fault, ...(fault.and === undefined ? [] : [fault.and])]) {
      const file = join(dir, patch.file);
      writeFileSync(file, broken(readFileSync(file, 'utf8'), patch));
    }
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The first type error; null if there is none. */
const typeError = (fault: Break): Promise<string | null> =>
  inCopy(fault, async (dir) => {
    const project = join(dir, 'tsconfig.check.json');
    writeFileSync(project, '{ "extends": "./tsconfig.json", "include": ["src"] }');
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    // A fault may leave something unused.
    const args = ['--noEmit', '--noUnusedLocals', 'false', '--noUnusedParameters', 'false'];
    return run(tsc, ['-p', project, ...args], { cwd: dir }).then(
      () => null,
      (error: { stdout?: string }) => (error.stdout ?? 'tsc does not run').split('\n')[0] ?? '',
    );
  });

/** What detected it; undefined if nothing did. */
const hunt = (fault: Break): Promise<Found | undefined> =>
  inCopy(fault, async (dir) => {
    const drawn = [
      '--brief',
      ...(fault.isOfSheets === true ? ['--store', 'sheets', '--with', 'people=4'] : []),
      ...(fault.with ?? []).flatMap((what) => ['--with', what]),
    ];
    const known = seeds.get(fault.name)?.seed;
    if (known !== undefined) {
      const found = await simulate(dir, [...drawn, '--from', known, '--seconds', '0.01']);
      if (found !== undefined && (await isSound(found.seed, drawn))) return found;
    }
    const end = performance.now() + MOST_MS;
    for (let from = 1; performance.now() < end;) {
      const args = [...drawn, '--seconds', values.seconds, '--from', String(from)];
      const found = await simulate(dir, args);
      if (found === undefined || (await isSound(found.seed, drawn))) return found;
      from = Number(found.seed) + 1;
    }
    return undefined;
  });

const only = new RegExp(values.only ?? '');
const chosen = BREAKS.filter(({ law, name }) => only.test(`${law} ${name}`));
if (values.check) {
  let sound = 0;
  for (const fault of chosen) {
    const error = await typeError(fault);
    if (error === null) sound++;
    else console.log(`${fault.law} ${fault.name}: ${error}`);
  }
  console.log(`${sound} of ${chosen.length} can be made, and have no error of types`);
  process.exit(sound === chosen.length ? 0 : 1);
}
let caught = 0;
console.log('| law | break | caught by | seed | seconds |\n| --- | --- | --- | --- | --- |');
for (const fault of chosen) {
  const before = performance.now();
  const found = await hunt(fault);
  const seconds = Math.round((performance.now() - before) / 1_000);
  if (found !== undefined) {
    caught++;
    keep(fault.name, found);
  }
  const what =
    found === undefined
      ? `**not caught**${fault.why === undefined ? '' : `: ${fault.why}`}`
      : `${found.law}: ${found.text.slice(0, 90)}`;
  console.log(`| ${fault.law} | ${fault.name} | ${what} | ${found?.seed ?? ''} | ${seconds} |`);
}
console.log(`\n${caught} of ${chosen.length} caught`);
process.exit(caught >= chosen.length * 0.9 ? 0 : 1);
