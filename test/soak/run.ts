import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Runs the property tests with many cases, in batches with a seed of their own each, and tells what was tried.
// Run with: npm run soak; SOAK_CASES sets how many cases of the laws are tried, SOAK_SEED where the seeds begin.

const cases = Number(process.env['SOAK_CASES'] ?? 10_000);
const firstSeed = Number(process.env['SOAK_SEED'] ?? Math.floor(Math.random() * 1_000_000_000));
const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs');

const share = (of: number): number => Math.round(cases * of);

/** A file of property tests and how it is soaked: a case of the laws takes as long as many of the scan alone. */
const SUITES = [
  // The laws: over passes, marking and looks; over looks alone, and how fresh they keep a copy; over windows.
  { file: 'test/laws/laws.property.test.ts', project: 'long', cases: share(0.4), batch: 150 },
  { file: 'test/laws/fresh.property.test.ts', project: 'long', cases: share(0.4), batch: 150 },
  { file: 'test/sync/windows.property.test.ts', project: 'long', cases: share(0.2), batch: 150 },
  // Each `ok` is judged when it is claimed; some on PostgreSQL.
  { file: 'test/soak/claims.property.test.ts', project: 'long', cases, batch: 400 },
  {
    file: 'test/soak/claims.wide.test.ts',
    project: 'wide',
    cases: share(0.04),
    batch: 100,
  },
  { file: 'test/sync/scan.property.test.ts', project: 'long', cases: share(3), batch: 3_000 },
];

/** What the properties themselves say that they tried; added up over all batches. */
const tried = new Map<string, number>();
const violations: string[] = [];

interface TestReport {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Runs one batch; returns its violations, each with the command that repeats it. */
async function runBatch(
  { file, project }: (typeof SUITES)[number],
  runs: number,
  seed: number,
): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'forms-mirror-soak-'));
  const report = join(folder, 'report.json');
  const args = ['run', '--project', project, file, '--testTimeout=3600000'];
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const env = { ...process.env, FC_RUNS: String(runs), FC_SEED: String(seed), NO_COLOR: '1' };
  const child = spawn(process.execPath, [vitest, ...args, ...reporters], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child, 'close');
  countTried(output);
  try {
    const again = `FC_SEED=${seed} FC_RUNS=${runs} npx vitest run --project ${project} ${file}`;
    return failuresIn(report).map((failure) => `${failure}\n  again: ${again}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Lines such as `laws: {"cases":60,"faults":18}`. */
function countTried(output: string): void {
  for (const [, text = '{}'] of output.matchAll(/^\w+: (\{"[^\n]*\})$/gm)) {
    for (const [name, count] of Object.entries(JSON.parse(text) as Record<string, number>)) {
      tried.set(name, (tried.get(name) ?? 0) + count);
    }
  }
}

function failuresIn(report: string): string[] {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as TestReport;
  return testResults.flatMap(({ message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    if (assertionResults.length === 0) return [`the file did not run: ${message}`];
    return failed.map(
      ({ fullName, failureMessages }) => `${fullName}\n${failureMessages.join('\n')}`,
    );
  });
}

const began = performance.now();
console.log(`soak: SOAK_CASES=${cases} SOAK_SEED=${firstSeed}`);
let scans = 0;
for (const suite of SUITES) {
  for (let done = 0; done < suite.cases; done += suite.batch) {
    const runs = Math.min(suite.batch, suite.cases - done);
    const found = await runBatch(suite, runs, firstSeed + done);
    violations.push(...found);
    for (const violation of found) console.log(violation);
    if (suite === SUITES.at(-1)) scans += runs;
    console.log(
      `${suite.file}: ${done + runs} of ${suite.cases}, violations: ${violations.length}`,
    );
  }
}
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
const counts = [...tried].map(([name, count]) => `${name} ${count}`).join(', ');
console.log(
  `soak: ${counts}; scans of a moving list ${scans}, and as many of a quiet one; ` +
    `violations ${violations.length}; SOAK_SEED=${firstSeed}; ${minutes} minutes`,
);
process.exitCode = violations.length === 0 ? 0 : 1;
