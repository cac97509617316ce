import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LEAST_BILLED_BYTES } from '../../src/targets/sql/bigquery/bigquery-spending.ts';
import type { Environment } from '../../src/settings/variables.ts';
import { type CliResult, runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { type FaultyBigQuery, startFaultyBigQuery } from '../support/bigquery-faults.ts';

const DAY_MS = 86_400_000;
/** Longer than any pause between jobs, shorter than any time limit. */
const LONGEST_PAUSE_MS = 12_000;

/** The real time, but that pauses take none, and that it may go on to a later time. */
class PausingClock implements Clock {
  #lateMs = 0;

  now(): number {
    return Date.now() + this.#lateMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms > LONGEST_PAUSE_MS) return systemClock.sleep(ms, signal);
    this.goOn(ms);
  }

  goOn(ms: number): void {
    this.#lateMs += ms;
  }
}

interface Passes {
  readonly passes: readonly {
    readonly outcome: string;
    readonly code: string | null;
    readonly error: string | null;
    readonly inserted: number;
    readonly updated: number;
    readonly billedBytes?: number;
    readonly statements?: number;
  }[];
}

describe('a BigQuery target, by the commands', () => {
  let emulator: FaultyBigQuery;
  let datasets = 0;
  beforeAll(async () => {
    emulator = await startFaultyBigQuery();
  });
  afterAll(() => emulator.close());

  /** An account that mirrors one form into a dataset of its own, and a way to run commands there at a time that a test moves. */
  async function open(more: Environment = {}) {
    const { env, sandbox } = await openPlace({ submissions: 60 });
    // Pauses take no time; the stand-in has the real one.
    const clock = new PausingClock();
    const settings = {
      ...env,
      BIGQUERY_EMULATOR_URL: emulator.url.replace(/\/$/, ''),
      TARGET_URL: `bigquery://my-project/forms_${++datasets}?location=EU`,
      TARGET_FORMS: 'customer-feedback',
      ...more,
    };
    const run = (...args: string[]): Promise<CliResult> => runCli(args, settings, false, clock);
    const sync = async (...args: string[]) => {
      const result = await run('sync', '--json', ...args);
      return { ...result, ...(JSON.parse(result.stdout) as Passes) };
    };
    const dataset = `forms_${datasets}`;
    /** What somebody else does there: the first column of what it gives. */
    const query = async (sql: string): Promise<readonly string[]> => {
      const defaultDataset = { projectId: 'my-project', datasetId: dataset };
      const body = JSON.stringify({ query: sql, useLegacySql: false, defaultDataset });
      const headers = { 'content-type': 'application/json', authorization: 'Bearer somebody' };
      const url = `${emulator.url}bigquery/v2/projects/my-project/queries`;
      const answer = await fetch(url, { method: 'POST', headers, body });
      const { rows = [] } = (await answer.json()) as { rows?: { f: { v: string }[] }[] };
      expect(answer.status).toBe(200);
      return rows.map(({ f }) => f[0]?.v ?? '');
    };
    return { run, sync, clock, sandbox, query };
  }

  it('is checked before it is there, filled, and checked again', async () => {
    const { run, sync } = await open();
    const before = await run('check');
    expect(before.stdout).toMatch(
      /There is no dataset my-project\.forms_\d+ yet: the first pass makes it, in EU/,
    );
    expect(before.stdout).toContain('1,440 looks a day');
    expect(before.code).toBe(0);
    const { code, passes } = await sync('--full');
    expect([code, passes[0]?.outcome]).toEqual([0, 'ok']);
    expect(passes[0]?.inserted).toBeGreaterThan(0);
    const { billedBytes = 0, statements = 0 } = passes[0] ?? {};
    expect(billedBytes % LEAST_BILLED_BYTES).toBe(0);
    expect(billedBytes).toBeGreaterThan(0);
    expect(statements).toBeGreaterThanOrEqual(billedBytes / LEAST_BILLED_BYTES);
    const billed = emulator.statements.totals().bytesBilled;
    const after = await run('check');
    expect(after.stdout).toContain('Its tables can be changed.');
    expect(after.code).toBe(0);
    expect(emulator.statements.totals().bytesBilled - billed).toBe(LEAST_BILLED_BYTES);
  });

  it('tells what passes were billed by status, as they are recorded in the dataset', async () => {
    const { run, sync } = await open({ BIGQUERY_MAX_BYTES_PER_DAY: '1TB' });
    await sync('--full');
    const shown = await run('status');
    expect(shown.stdout).toMatch(
      /· default: \d+ MB billed today \(UTC\) in \d+ statements, of 1 TB a day at most/,
    );
    expect(shown.stdout).toMatch(/last pass billed/);
    expect(shown.stdout).toMatch(/\d+ MB, \d+ statements/);
  });

  it('tells by sync what it was billed in all, also where nothing has changed', async () => {
    const { run, sync } = await open();
    const billedBy = async (work: () => Promise<unknown>): Promise<number> => {
      const before = emulator.statements.totals().bytesBilled;
      await work();
      return emulator.statements.totals().bytesBilled - before;
    };
    await sync('--full');
    let [text, json] = ['', ''];
    const first = await billedBy(async () => (text = (await run('sync')).stdout));
    expect(first).toBeGreaterThan(0);
    expect(text).toContain(`· default: ${first / 2 ** 20} MB billed in `);
    const second = await billedBy(async () => (json = (await run('sync', '--json')).stdout));
    expect(JSON.parse(json)).toMatchObject({
      billed: [{ target: 'default', billedBytes: second }],
    });
  });

  it('L17: counts what commands that only read were billed, each a process of its own', async () => {
    const { run, sync } = await open({ BIGQUERY_MAX_BYTES_PER_DAY: '1TB' });
    await sync('--full');
    const before = emulator.statements.totals().bytesBilled;
    const billedToday = async (): Promise<number> => {
      const { stdout } = await run('status', '--json');
      const { targets } = JSON.parse(stdout) as {
        targets: { costs: { today: { billedBytes: number } } }[];
      };
      return targets[0]?.costs.today.billedBytes ?? 0;
    };
    const first = await billedToday();
    for (const command of ['verify', 'export']) await run(command, '--form', 'customer-feedback');
    const between = emulator.statements.totals().bytesBilled - before;
    const last = await billedToday();
    const own = emulator.statements.totals().bytesBilled - before - between;
    expect(between).toBeGreaterThan(2 * LEAST_BILLED_BYTES);
    expect(own).toBe(LEAST_BILLED_BYTES);
    // Since the first status told, after it was billed: two commands, and the second status.
    expect(last - first).toBe(between);
  });

  it('L1, L17: an answer that people changed is named by verify, and put right as it advises', async () => {
    const { run, sync, query } = await open();
    await sync('--full');
    const columns = await query(
      `SELECT column_name FROM INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'customer_feedback' AND data_type = 'STRING' ORDER BY ordinal_position`,
    );
    const answer = columns.find((name) => !/^(_.*|id|status)$/.test(name));
    await query(`UPDATE customer_feedback SET ${answer} = 'by hand' WHERE TRUE`);
    const different = await run('verify', '--wait', '0');
    expect(different.code).toBe(1);
    expect(different.stdout).toMatch(/in .*: \d+ rows\n/);
    expect(different.stdout).toContain('forms-mirror sync --full');
    const { code, passes } = await sync('--full');
    expect(code).toBe(0);
    expect(passes[0]).toMatchObject({ outcome: 'ok', inserted: 0, deleted: 0 });
    expect(passes[0]?.updated).toBeGreaterThan(0);
    const after = await run('verify', '--wait', '0');
    expect(after.stdout).toMatch(/the same as of/);
    expect(after.code).toBe(0);
    expect((await sync('--full')).passes[0]).toMatchObject({ outcome: 'ok', updated: 0 });
  });

  it('rests once what may be billed a day is used up, loses nothing, and goes on the next day', async () => {
    const { run, sync, clock, sandbox } = await open({ BIGQUERY_MAX_BYTES_PER_DAY: '1GB' });
    const first = await sync('--full');
    expect(first.code).toBe(0);
    // Each command is a process of its own: that the day's sum reaches the limit shows that the dataset keeps it.
    let last = first;
    for (let tries = 0; tries < 30 && last.code === 0; tries++) last = await sync('--full');
    const [failed] = last.passes;
    expect(failed).toMatchObject({ outcome: 'failed', code: 'TARGET_BUDGET' });
    expect(failed?.error).toMatch(
      /BIGQUERY_MAX_BYTES_PER_DAY is reached: .* It goes on at \d{4}-\d\d-\d\d 00:00 UTC, with nothing lost/,
    );
    const id = sandbox.store.formBySlug('customer-feedback')?.id ?? '';
    const added = sandbox.store.insert({ formId: id, data: {} });
    const statements = emulator.statements.totals().statements;
    const checked = await run('check');
    expect(checked.stdout).toMatch(
      /Its tables can be changed\.\n.*✗ target default: .*BIGQUERY_MAX_BYTES_PER_DAY is reached/,
    );
    expect(checked.code).toBe(1);
    const shown = await run('status');
    expect(shown.stdout).toContain('· default: what it holds could not be read, so the table');
    const forgotten = await run('forget', added.id, '--yes');
    expect(forgotten.stdout.match(/is reached/g)).toHaveLength(1);
    expect(forgotten.code).toBe(1);
    expect((await run('sync')).code).toBe(1);
    // A process that begins reads what there is before it learns of it; nothing is written.
    expect(emulator.statements.totals().statements - statements).toBeLessThan(20);
    clock.goOn(DAY_MS);
    const next = await sync();
    expect(next.code).toBe(0);
    expect(next.passes[0]).toMatchObject({ outcome: 'ok', inserted: 1 });
  });
});
