import { measurePasses, type PassCost, type PassCostOptions } from '../support/pass-memory.ts';
import { createDatabase, startPostgres } from '../support/servers.ts';

// Peak memory of full passes over a small and a large form: L14 allows 1.3 times as much for the large one.
// Run with: npm run bench memory [small] [large]

const small = Number(process.argv[2] ?? 50_000);
const large = Number(process.argv[3] ?? 500_000);

function show(cost: PassCost): void {
  const { submissions, firstMB, againMB, firstMs, againMs } = cost;
  const rate = (ms: number): number => Math.round((submissions / ms) * 1_000);
  console.log(
    `  ${String(submissions).padStart(8)}: first pass ${firstMB} MB, ${firstMs} ms (${rate(firstMs)} rows/s); ` +
      `unchanged ${againMB} MB, ${againMs} ms (${rate(againMs)} rows/s)`,
  );
}

async function compare(
  name: string,
  options: (submissions: number) => Promise<PassCostOptions>,
): Promise<void> {
  console.log(`${name}:`);
  const few = await measurePasses(small, await options(small));
  show(few);
  const many = await measurePasses(large, await options(large));
  show(many);
  const ratio = (a: number, b: number): string => (b / a).toFixed(2);
  console.log(
    `  ratio: first pass ${ratio(few.firstMB, many.firstMB)}, unchanged ${ratio(few.againMB, many.againMB)}`,
  );
}

await compare('SQLite', async () => ({}));
await compare('SQLite, in a heap of 64 MB', async () => ({
  flags: '--max-semi-space-size=2 --max-old-space-size=64',
}));
const server = await startPostgres();
await compare('PostgreSQL', async () => ({ targetUrl: await createDatabase(server) }));
await server.stop();
