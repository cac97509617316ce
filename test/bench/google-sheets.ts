import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startSheetsEmulator } from 'google-sheets-emulator';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../../src/targets/google/credentials.ts';
import { GOOGLE_QUOTA } from '../../src/targets/google-sheets/api/request-quota.ts';
import { SpreadsheetRegistry } from '../../src/targets/google-sheets/registry.ts';
import { openSheets } from '../../src/targets/google-sheets/target.ts';
import type { Row } from '../../src/mirror/types.ts';
import { field, FORM, pass, row } from '../contract/target-harness.ts';
import { SleepersClock } from '../targets/google-sheets/sheets-place.ts';

// What passes over a large sheet cost: calls, bytes, seconds at Google's pace, and the memory of this process. The
// stand-in runs in a process of its own.
// Run with: npm run bench -- google-sheets [rows] [fields]

interface Told {
  readonly url: string;
  readonly spreadsheetId: string;
}

interface Cost {
  readonly seconds: number;
  readonly ownMs: number;
  readonly idleMB: number;
  readonly peakMB: number;
}

interface Counted {
  readonly reads: number;
  readonly writes: number;
  readonly sent: number;
  readonly received: number;
}

const [role, ...args] = process.argv.slice(2);
if (role === 'stand-in') await standIn();
else if (role === 'pass') await onePass(args);
else await measure(Number(role ?? 200_000), Number(args[0] ?? 20));

function tell(message: Told | Counted | Cost): void {
  process.send?.(message);
}

async function standIn(): Promise<void> {
  const sandbox = await startSheetsEmulator();
  sandbox.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  const spreadsheetId = sandbox.createSpreadsheet({ shares: { [EMULATOR_EMAIL]: 'writer' } });
  process.on('message', () => {
    const all = sandbox.requests.all();
    const sum = (bytes: (one: (typeof all)[number]) => number): number =>
      all.reduce((total, one) => total + bytes(one), 0);
    tell({
      ...sandbox.requests.counts(),
      sent: sum((one) => one.requestBytes),
      received: sum((one) => one.responseBytes),
    });
    sandbox.requests.clear();
  });
  tell({ url: sandbox.url, spreadsheetId });
}

/** One pass in a process of its own, as after a restart: it knows nothing of the sheet. */
async function onePass([
  url = '',
  spreadsheetId = '',
  fieldCount,
  from,
  to,
]: string[]): Promise<void> {
  const fields = Array.from({ length: Number(fieldCount) }, (_, position) =>
    field(`field_${1_700_000_000 + position}_abc`, `Question ${position}`, { position }),
  );
  const submission = (index: number): Row => {
    const cells = fields.map(({ id }, place) => [
      id,
      place % 4 === 3 ? index : `answer ${index} to ${place}`,
    ]);
    const createdAt = new Date(Date.UTC(2020, 0, 1) + index * 61_000).toISOString();
    const id = `c1f0e2d4-5a6b-4c7d-8e9f-${String(index).padStart(12, '0')}`;
    return row(id, Object.fromEntries(cells), { createdAt });
  };
  const clock = new SleepersClock();
  const [start, end, began, started] = [Number(from), Number(to), clock.now(), performance.now()];
  const idleKB = process.resourceUsage().maxRSS;
  const options = {
    clock,
    registry: new SpreadsheetRegistry(clock, GOOGLE_QUOTA),
    emulatorUrl: url,
  };
  const target = await openSheets('bench', spreadsheetId, options);
  await using writer = await target.openWriter(FORM, { waitMs: 300_000 });
  await writer.prepare(fields);
  for (let first = start; first < end; first += target.batchRows) {
    const size = Math.min(target.batchRows, end - first);
    const rows = Array.from({ length: size }, (_, offset) => submission(first + offset));
    await writer.apply(rows, []);
  }
  const at = new Date(clock.now()).toISOString();
  const checkpoint = {
    watermark: null,
    total: end,
    provenAt: at,
    fullProvenAt: at,
    absent: 0,
    withheld: 0,
    hidden: 0,
    provenFor: '',
    statuses: null,
    unstored: new Map(),
    countsAt: null,
  };
  await writer.finish(pass({ endedAt: at, inserted: 0 }), { checkpoint });
  tell({
    seconds: Math.round((clock.now() - began) / 1_000),
    ownMs: Math.round(performance.now() - started),
    idleMB: idleKB / 1_024,
    peakMB: process.resourceUsage().maxRSS / 1_024,
  });
}

async function measure(rowCount: number, fieldCount: number): Promise<void> {
  const server = fork(import.meta.filename, ['stand-in']);
  const [{ url, spreadsheetId }] = (await once(server, 'message')) as [Told];
  async function run(name: string, from: number, to: number): Promise<void> {
    const place = [url, spreadsheetId, fieldCount, from, to].map(String);
    const child = fork(import.meta.filename, ['pass', ...place], {
      execArgv: ['--max-old-space-size=256'],
    });
    const [cost] = (await once(child, 'message')) as [Cost];
    await once(child, 'exit');
    server.send('count');
    const [count] = (await once(server, 'message')) as [Counted];
    const mb = (bytes: number): string => (bytes / 1_048_576).toFixed(1);
    console.log(
      `${name}: ${count.reads} reads, ${count.writes} writes, ${mb(count.sent)} MB sent, ${mb(count.received)} MB received, ` +
        `${cost.seconds} s at Google's pace, ${cost.ownMs} ms of work; ` +
        `memory ${cost.peakMB.toFixed(0)} MB at most, ${cost.idleMB.toFixed(0)} of them before it began`,
    );
  }
  await run(`${rowCount} new rows of ${fieldCount} answers`, 0, rowCount);
  await run('an incremental pass that adds 10', rowCount - 90, rowCount + 10);
  await run('the same with nothing new', rowCount - 90, rowCount + 10);
  await run('a full pass with nothing new', 0, rowCount + 10);
  server.kill();
}
