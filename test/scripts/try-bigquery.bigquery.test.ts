import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openAccount } from '../../src/targets/google/credentials.ts';
import { BigQueryError } from '../../src/targets/sql/bigquery/bigquery-errors.ts';
import { type BigQueryJobs, openJobs } from '../../src/targets/sql/bigquery/bigquery-jobs.ts';
import { DaySpending } from '../../src/targets/sql/bigquery/bigquery-spending.ts';
import { openDataset } from '../../scripts/try/bigquery-dataset.ts';
import { bigQueryPoints } from '../../scripts/try/bigquery-points.ts';
import { type Finding, lookAt, summary } from '../../scripts/try/points.ts';
import type { TriedDataset } from '../../scripts/try/tried-dataset.ts';
import {
  type FaultyBigQuery,
  googleFault,
  startFaultyBigQuery,
} from '../support/bigquery-faults.ts';
import { TestClock } from '../support/test-clock.ts';

/** The same with other methods of its jobs. */
const withJobs = (
  same: TriedDataset,
  other: (jobs: BigQueryJobs) => Partial<BigQueryJobs>,
): TriedDataset => {
  const own = other(same.jobs);
  const jobs = new Proxy(same.jobs, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name) as unknown;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { ...same, jobs };
};

/** What came of the only point whose sentence begins so. */
function foundOf(findings: readonly Finding[], says: string): Pick<Finding, 'result' | 'note'> {
  const found = findings.filter((finding) => finding.says.startsWith(says));
  expect(found).toHaveLength(1);
  const [{ result, note } = { result: 'open', note: 'none' } as const] = found;
  return { result, note };
}

describe('try:bigquery', () => {
  let standIn: FaultyBigQuery;
  beforeAll(async () => {
    standIn = await startFaultyBigQuery();
  });
  afterAll(() => standIn.close());
  afterEach(() => standIn.faults.clear());

  const jobsIn = async (dataset: string): Promise<BigQueryJobs> => {
    const clock = new TestClock();
    return openJobs({
      project: 'test-project',
      dataset,
      location: 'EU',
      account: await openAccount({ emulatorUrl: standIn.url }, 'scope'),
      clock,
      rootUrl: standIn.url,
      spending: new DaySpending(clock),
    });
  };

  /** Tries all points in a dataset, by calls that `distort` changes, and cleans up. */
  async function tried(
    nonce: string,
    dataset?: string,
    distort: (tried: TriedDataset) => TriedDataset = (same) => same,
    url = standIn.url,
  ): Promise<Finding[]> {
    const open = await openDataset({
      project: 'test-project',
      dataset,
      location: 'EU',
      account: await openAccount({ emulatorUrl: url }, 'scope'),
      clock: new TestClock(),
      rootUrl: url,
      nonce,
    });
    const findings = await lookAt(bigQueryPoints(distort(open.tried)), () => {});
    await open.remove();
    return findings;
  }

  it('sees each point hold against the stand-in, and removes its dataset', async () => {
    const findings = await tried('one');
    expect(findings.filter(({ result }) => result !== 'holds')).toEqual([]);
    expect(summary(findings).code).toBe(0);
    const jobs = await jobsIn('forms_mirror_try_one');
    expect(await jobs.heldDataset()).toBeUndefined();
  });

  it('leaves a dataset that is named, and all in it that is not its own', async () => {
    const jobs = await jobsIn('theirs');
    await jobs.ensureDataset();
    await jobs.createTable({
      name: 'people',
      kind: 'table',
      description: '',
      columns: [{ name: 'id', type: 'STRING' }],
    });
    const findings = await tried('two', 'theirs');
    expect(summary(findings).code).toBe(0);
    expect(await jobs.tables()).toEqual(['people']);
  });

  it('reports what does not hold, and goes on', async () => {
    // A service that forgets request IDs, and bills nothing.
    const findings = await tried('three', undefined, (same) => ({
      ...withJobs(same, (jobs) => ({
        run: async (...call) => Object.assign(await jobs.run(...call), { bytesBilled: 0 }),
      })),
      withId: () => same.jobs,
    }));
    const refuted = findings.filter(({ result }) => result === 'refuted');
    expect(refuted.map(({ note }) => note)).toEqual([
      'It took effect 2 times.',
      'It took effect 2 times.',
      'It is billed 0 bytes.',
      'It says 0 bytes of 20971520.',
    ]);
    expect(summary(findings).code).toBe(1);
    expect(findings.at(-1)?.result).toBe('holds');
  });

  describe('a table that was just made', () => {
    const NEW = 'A table that REST has just made can be written within two minutes';

    it('is told with the refusals that were waited out', async () => {
      const notThere = await googleFault('notFoundYet');
      standIn.faults.add({ method: 'jobs.query', query: /^MERGE/, times: 4, ...notThere });
      expect(foundOf(await tried('new'), NEW)).toEqual({
        result: 'holds',
        note: 'Refused and tried again: 4 × absent (404).',
      });
    });

    it('is refuted where it is not there in the end', async () => {
      const notThere = await googleFault('notFoundYet');
      standIn.faults.add({ method: 'jobs.query', query: /^MERGE/, times: 8, ...notThere });
      const { result, note } = foundOf(await tried('never'), NEW);
      expect(result).toBe('refuted');
      expect(note).toMatch(/^It is still not there: /);
    });
  });

  describe('transactions that change one row at the same time', () => {
    const MEET = 'Transactions that change one row at the same time';

    it('are told with the conflicts that were seen', async () => {
      const { result, note } = foundOf(await tried('meet'), MEET);
      expect(result).toBe('holds');
      expect(note).toMatch(/× conflict \(400\)/);
    });

    it('say nothing where none met', async () => {
      let last: Promise<unknown> = Promise.resolve();
      const findings = await tried('apart', undefined, (same) =>
        withJobs(same, (jobs) => ({
          run(...call) {
            const running = last.then(() => jobs.run(...call));
            last = running.catch(() => undefined);
            return running;
          },
        })),
      );
      expect(foundOf(findings, MEET)).toEqual({
        result: 'open',
        note: 'All took effect, and none was refused: none met in 3 rounds.',
      });
    });
  });

  it('refutes a service that ignores If-Match, and looks at the next point without it', async () => {
    const forgetful = createServer((asked, answer) => {
      const { 'if-match': _, ...headers } = asked.headers;
      const url = new URL(asked.url ?? '/', standIn.url);
      const sent = request(url, { method: asked.method, headers }, (got) => {
        answer.writeHead(got.statusCode ?? 500, got.headers);
        got.pipe(answer);
      });
      asked.pipe(sent);
    });
    await once(forgetful.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void forgetful.close());
    const address = forgetful.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const findings = await tried('lost', undefined, undefined, `http://127.0.0.1:${port}/`);
    const { result, note } = foundOf(findings, 'Columns that two processes add');
    expect(result).toBe('refuted');
    expect(note).toMatch(/^Who was overtaken is not told so \(If-Match\)/);
    expect(foundOf(findings, 'What REST says of the last change').result).toBe('holds');
  });

  it('refutes what BigQuery refuses as such', async () => {
    const error = { code: 400, message: 'no', errors: [{ reason: 'invalidQuery', message: 'no' }] };
    const body = JSON.stringify({ error });
    standIn.faults.add({ method: 'jobs.query', query: /PARSE_JSON/, status: 400, body });
    const { result, note } = foundOf(await tried('no'), 'PARSE_JSON that rounds');
    expect(result).toBe('refuted');
    expect(note).toMatch(/^BigQuery refused a query/);
  });

  it('counts rows by a column, as metadata tell how many there are for nothing', async () => {
    const statements: string[] = [];
    await tried('column', undefined, (same) =>
      withJobs(same, (jobs) => ({
        run(sql, ...rest) {
          statements.push(sql);
          return jobs.run(sql, ...rest);
        },
      })),
    );
    expect(statements.some((sql) => sql.includes('half-way'))).toBe(true);
    expect(statements.filter((sql) => /COUNT\(\*\)/.test(sql))).toEqual([]);
  });

  it('takes nothing for seen of which the service says nothing', async () => {
    const findings = await tried('silent', undefined, (same) => ({
      ...withJobs(same, (jobs) => ({
        async heldDataset(...call) {
          const held = await jobs.heldDataset(...call);
          return held && { location: held.location ?? null };
        },
        async table(name) {
          const held = await jobs.table(name);
          return held && { ...held, changedAt: '' };
        },
        dryRun: async (sql) => (sql.includes('AND TRUE') ? 1_000 : 0),
        run: async (sql, ...rest) => {
          const result = await jobs.run(sql, ...rest);
          return sql.startsWith('SELECT COUNT(answer)') ? { ...result, rows: [] } : result;
        },
      })),
      calls: {
        once: (...call) => same.calls.once(...call),
        async repeated(...call) {
          const answer = await same.calls.repeated(...call);
          const isJob = typeof answer === 'object' && answer !== null && 'configuration' in answer;
          if (isJob) Reflect.deleteProperty(answer, 'configuration');
          return answer;
        },
      },
    }));
    const refuted = findings.filter(({ result }) => result === 'refuted');
    expect(refuted.map(({ note }) => note)).toEqual([
      'There are no rows of 800.',
      'It says nothing.',
      'It says 0 and 0 bytes.',
      'The service shows nothing of what a job was asked.',
      'The service does not tell; its documentation says 168 hours.',
    ]);
  });

  it('sees what is late, and what takes effect though it is refused', async () => {
    const findings = await tried('late', undefined, (same) => ({
      ...withJobs(same, (jobs) => ({
        async changeView(...call) {
          same.waitedOut.push(new BigQueryError('absent', 'TARGET_FAILED', ['Not there.', '']));
          await jobs.changeView(...call);
        },
        async run(sql, ...rest) {
          const result = await jobs.run(sql, ...rest);
          return sql.startsWith('SELECT second') ? { ...result, rows: [] } : result;
        },
      })),
      calls: {
        repeated: (...call) => same.calls.repeated(...call),
        once: (...call) =>
          same.calls.once(...call).catch(async (error: unknown) => {
            if (error instanceof BigQueryError && error.fault === 'budget') {
              const mutates = [`${same.prefix}state`];
              await same.jobs.run(`UPDATE ${mutates[0]} SET n = -1 WHERE TRUE`, {}, { mutates });
            }
            throw error;
          }),
      },
    }));
    const refuted = findings.filter(({ result }) => result === 'refuted');
    expect(refuted.map(({ note }) => note)).toEqual([
      'It was not there at once.',
      'It tells something else.',
      'It took effect all the same.',
    ]);
  });

  it('removes its dataset when it is stopped meanwhile', async () => {
    const script = fileURLToPath(new URL('../../scripts/try-bigquery.ts', import.meta.url));
    const env = {
      PATH: process.env['PATH'],
      BIGQUERY_EMULATOR_URL: standIn.url.replace(/\/$/, ''),
    };
    const child = spawn(process.execPath, [script, 'test-project', '--location', 'EU'], { env });
    const ended = once(child, 'exit');
    let said = '';
    for await (const part of child.stdout.setEncoding('utf8')) {
      if (said === '') child.kill('SIGINT');
      said += String(part);
    }
    expect((await ended)[0]).toBe(130);
    const dataset = /forms_mirror_try_[0-9a-f]{8}(?=,)/.exec(said)?.[0] ?? '';
    expect(said).toMatch(/Stopped: \d+ were not looked at\./);
    expect(await (await jobsIn(dataset)).heldDataset()).toBeUndefined();
  });
});
