import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startSheetsEmulator } from 'google-sheets-emulator';
import { EMULATOR_EMAIL, EMULATOR_TOKEN } from '../../src/targets/google/credentials.ts';
import type { Row } from '../../src/mirror/types.ts';
import { openSheetStore } from '../../src/targets/google-sheets/store.ts';
import { field, row } from '../support/rows.ts';
import { SleepersClock } from '../support/sleepers-clock.ts';
import { BATCH_ROWS } from './stages/row-target.ts';

const FORM = { id: 'frm_1', slug: 'contact-form', name: 'Contact form' };

// What runs over a large sheet cost: calls, bytes, seconds at Google's pace, and the memory of this process. The
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
else if (role === 'run') await oneRun(args);
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

/** One run in a process of its own, as after a restart: it knows nothing of the sheet. */
async function oneRun([
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
  await using store = await openSheetStore(spreadsheetId, {
    name: 'bench',
    clock,
    emulatorUrl: url,
  });
  await using form = await store.open(FORM, 'write');
  await form.prepare({ ...FORM, fields }, fields);
  for (let first = start; first < end; first += BATCH_ROWS) {
    const size = Math.min(BATCH_ROWS, end - first);
    await form.commit({
      rows: Array.from({ length: size }, (_, offset) => submission(first + offset)),
    });
  }
  await form.finish();
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
    const child = fork(import.meta.filename, ['run', ...place], {
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
  await run('a run that adds 10', rowCount - 90, rowCount + 10);
  await run('the same with nothing new', rowCount - 90, rowCount + 10);
  await run('a full run with nothing new', 0, rowCount + 10);
  server.kill();
}
