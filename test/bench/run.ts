import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Line, linesOf, PARTS } from './lines.ts';
import { machine, memoryLines, queueLines, table, withTable } from './report.ts';
import { measureRounds } from './rounds.ts';
import { runCosts } from './stages/memory.ts';
import { queueCosts } from './stages/queue.ts';
import { WARM_UP_ROWS } from './source/canned-source.ts';

// Measures how fast the program is and how much memory it takes, as ratios within one run, with its own servers.
// --against names another checkout that is measured alternately with this one, for a comparison of before and after.
// Run with: npm run bench -- [--only fetch,write-sqlite,…] [--rows 50000] [--rounds 3] [--against ../other] [--docs]
// or: npm run bench requests … (see there)

// As in bin/forms-mirror.js, so that threads that start in the meantime, such as SQLite's, start as they do there.
process.env['NODE_COMPILE_CACHE'] ??= join(
  import.meta.dirname,
  '../../node_modules/.cache/compile',
);

const MEMORY = ['memory', 'queue'];
const ALL = [...Object.keys(PARTS), ...MEMORY];
if (process.argv[2] === 'requests') {
  const args = [join(import.meta.dirname, 'requests.ts'), ...process.argv.slice(3)];
  process.exit(spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1);
}

const OPTIONS = {
  only: { type: 'string', default: ALL.join(',') },
  rows: { type: 'string', default: '50000' },
  rounds: { type: 'string', default: '3' },
  'memory-rows': { type: 'string', default: '50000,1000000' },
  against: { type: 'string' },
  docs: { type: 'boolean', default: false },
} as const;

function optionsOf(): ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'] {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(why: string): never {
  const options = Object.keys(OPTIONS).map((name) => `--${name}`);
  console.error(`${why}\nOptions: ${options.join(', ')}.\nParts for --only: ${ALL.join(', ')}.`);
  return process.exit(2);
}

const values = optionsOf();
const parts = values.only.split(',');
const unknown = parts.filter((part) => !ALL.includes(part));
if (unknown.length > 0) refuse(`There is no ${unknown.join(', ')}.`);

/** An option's whole number, at least `least`. */
function wholeOf(name: 'rows' | 'rounds', least: number): number {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < least)
    refuse(`--${name} has to be a whole number from ${least} on; it is ${values[name]}.`);
  return number;
}

const isWhole = ALL.every((part) => parts.includes(part));
if (values.docs && !isWhole) refuse('--docs writes the whole table: leave out --only.');

const DOCS = join(import.meta.dirname, '../../docs/performance.md');
const here = resolve(import.meta.dirname, '../..');
const other = values.against;
if (other !== undefined && !existsSync(join(other, 'src')))
  refuse(`--against takes another checkout: there is no ${join(other, 'src')}.`);
const programs: Record<string, string> = {
  ...(other !== undefined && { before: resolve(other) }),
  now: here,
};
const [rows, rounds] = [wholeOf('rows', WARM_UP_ROWS), wholeOf('rounds', 1)];
const [few = 0, many = 0] = values['memory-rows'].split(',').map(Number);
const say = (line: string): void => console.error(line);

const chosen = Object.entries(PARTS).filter(([part]) => parts.includes(part));
const stages = [...new Set(chosen.flatMap(([, names]) => names))];
const samples = await measureRounds({ stages, programs, rounds, rows, onStage: say });
const programLines: Record<string, readonly Line[]> = {};
for (const [name, checkout] of Object.entries(programs)) {
  const lines = linesOf(samples[name] ?? {}, rows);
  for (const part of MEMORY.filter((one) => parts.includes(one))) {
    say(`${name}: ${part}`);
    lines.push(
      ...(part === 'queue'
        ? queueLines(await queueCosts(checkout))
        : memoryLines(
            [await runCosts(checkout, few), await runCosts(checkout, many)],
            [few, many],
          )),
    );
  }
  programLines[name] = lines;
}

const ran = { ...machine(here), rounds, rows };
console.log(`${ran.machine}; ${ran.versions}; ${rows} rows, medians of ${rounds} rounds\n`);
console.log(table(programLines));
if (values.docs) writeFileSync(DOCS, withTable(readFileSync(DOCS, 'utf8'), ran, programLines));
