import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Target } from '../../src/mirror/target.ts';
import type { Row } from '../../src/mirror/types.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { field, row } from '../contract/target-harness.ts';
import { createDatabase, startPostgres } from '../support/servers.ts';

// How long SQL targets take for a first pass, an unchanged one, and one with a hundredth of the rows changed.
// Run with: node test/bench/sql-targets.ts [rows] [fields]

const rowCount = Number(process.argv[2] ?? 10_000);
const fieldCount = Number(process.argv[3] ?? 20);

const fields = Array.from({ length: fieldCount }, (_, index) =>
  field(`field_${index}_x`, `Question number ${index}`, { position: index }),
);

/** Every fourth answer is a number, the others are texts of some thirty characters. */
function makeRows(version: (index: number) => number): Row[] {
  return Array.from({ length: rowCount }, (_, index) =>
    row(
      `sub_${String(index).padStart(9, '0')}`,
      Object.fromEntries(
        fields.map(({ id }, nth) => [
          id,
          nth % 4 === 3
            ? index * nth + version(index) / 4
            : `answer ${nth} of person ${index}, ${version(index)} ěšč`,
        ]),
      ),
    ),
  );
}

async function time(name: string, work: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  await work();
  const ms = performance.now() - start;
  const perSecond = Math.round((rowCount / ms) * 1000);
  console.log(`  ${name.padEnd(28)} ${ms.toFixed(0).padStart(7)} ms  ${perSecond} rows/s`);
}

async function measure(name: string, target: Target): Promise<void> {
  console.log(`${name}: ${rowCount} rows of ${fieldCount} fields`);
  const form = { id: 'bench', slug: 'bench', name: 'Bench' };
  const write = async (rows: Row[]): Promise<void> => {
    await using writer = await target.openWriter(form, { waitMs: 0 });
    await writer.prepare(fields);
    for (let start = 0; start < rows.length; start += target.batchRows) {
      await writer.apply(rows.slice(start, start + target.batchRows), []);
    }
  };
  const first = makeRows(() => 0);
  const second = makeRows((index) => (index % 100 === 0 ? 1 : 0));
  await time('first pass', () => write(first));
  await time('unchanged pass', () => write(first));
  await time('one row in a hundred changed', () => write(second));
  await time('reading all IDs', async () => {
    const reader = await target.reader(form.id);
    for await (const ids of reader?.liveIds() ?? []) await reader?.confirm(ids);
  });
  await target[Symbol.asyncDispose]();
}

const folder = mkdtempSync(join(tmpdir(), 'forms-mirror-bench-'));
await measure('SQLite', openSqlite('bench', join(folder, 'bench.sqlite')));
rmSync(folder, { recursive: true });

const server = await startPostgres();
await measure('PostgreSQL', await parseTargetUrl(await createDatabase(server)).open('bench'));
await server.stop();
