import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

// Runs the measurements of this folder, all of them or one by name, with its own arguments.
// Run with: npm run bench, or npm run bench -- memory 50000 500000

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -'.ts'.length));
const [wanted, ...args] = process.argv.slice(2);
if (wanted !== undefined && !names.includes(wanted)) {
  console.error(`There is no bench ${wanted}: there is ${names.join(', ')}.`);
  process.exit(2);
}
for (const name of wanted === undefined ? names : [wanted]) {
  const script = join(import.meta.dirname, `${name}.ts`);
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
