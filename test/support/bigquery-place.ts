import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { openAccount } from '../../src/targets/google/credentials.ts';
import { BIGQUERY_SCOPE } from '../../src/targets/sql/bigquery/bigquery-errors.ts';
import { type BigQueryJobs, openJobs } from '../../src/targets/sql/bigquery/bigquery-jobs.ts';
import { DaySpending } from '../../src/targets/sql/bigquery/bigquery-spending.ts';
import { openBigQueryTarget } from '../../src/targets/sql/bigquery/bigquery-target.ts';
import type { QueriedPlace } from '../contract/sql-target.ts';
import type { Damage } from '../contract/target-harness.ts';

const PACKAGE = join(import.meta.dirname, '../../packages/bigquery-emulator');

/** A fault of the stand-in. */
export interface BigQueryFaultRule {
  readonly method?: string | RegExp;
  readonly query?: RegExp;
  readonly after?: number;
  readonly times?: number;
  readonly delayMs?: number;
  readonly status?: number;
  readonly body?: string;
  readonly applied?: boolean;
  readonly dropConnection?: boolean;
}

/** What these tests use of the stand-in. Its own types need its own dependencies, which `npm ci` here does not install. */
export interface BigQueryStandIn {
  readonly url: string;
  readonly statements: {
    all(): { readonly statementType: string; readonly sql: string; readonly bytesBilled: number }[];
    clear(): void;
    totals(): { statements: number; bytesBilled: number };
  };
  readonly requests: { counts(): Readonly<Record<string, number>> };
  readonly faults: {
    add(rule: BigQueryFaultRule): () => void;
    clear(): void;
    tally(): { readonly hit: number; readonly matched: number }[];
  };
  readonly jobs: {
    conflictOn(table: string, times?: number): void;
    runLong(polls: number, times?: number): void;
    clear(): void;
  };
  close(): Promise<void>;
}

/** Starts a stand-in. */
export async function startBigQuery(): Promise<BigQueryStandIn> {
  const module: unknown = await import(pathToFileURL(join(PACKAGE, 'src/index.ts')).href);
  return (module as { startBigQueryEmulator(): Promise<BigQueryStandIn> }).startBigQueryEmulator();
}

/** Enough for tests that write more in a second than BigQuery takes in ten. */
const QUICK = { atOnce: 1_000, perWindow: 100_000 };

/** Jobs in a dataset of a stand-in, for each clock that is given. */
export async function standInJobsBy(
  url: string,
  dataset: string,
  maxBytesPerDay?: number,
): Promise<(clock: Clock, attempts?: number) => BigQueryJobs> {
  const account = await openAccount({ emulatorUrl: url }, BIGQUERY_SCOPE);
  return (clock, attempts = 30) =>
    openJobs({
      project: 'test-project',
      dataset,
      location: undefined,
      account,
      clock,
      rootUrl: url.replace(/\/*$/, '/'),
      pace: QUICK,
      // What people drop is waited for as what was made a moment ago: each such test pays for all of these waits.
      retry: { attempts, baseDelayMs: 5, maxDelayMs: 20, maxServerDelayMs: 1_000 },
      spending: new DaySpending(clock, maxBytesPerDay),
    });
}

/** Jobs in a dataset of a stand-in. */
export async function standInJobs(
  url: string,
  dataset: string,
  clock: Clock = systemClock,
  attempts?: number,
  maxBytesPerDay?: number,
): Promise<BigQueryJobs> {
  return (await standInJobsBy(url, dataset, maxBytesPerDay))(clock, attempts);
}

/** A dataset of a stand-in as a place to mirror into. */
export interface BigQueryPlace extends QueriedPlace {
  readonly dataset: string;
}

let places = 0;

/** A fresh, empty dataset, which is not there yet. */
export async function bigQueryPlace(
  { url }: { readonly url: string },
  processes: 'one process' | 'several processes' = 'one process',
): Promise<BigQueryPlace> {
  places += 1;
  const dataset = `forms_${process.pid}_${places}`;
  const people = await standInJobs(url, dataset);
  let stalledMs = 0;
  const clockOfPlace: Clock = {
    now: () => Date.now() + stalledMs,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  };
  const shared = standInJobs(url, dataset, clockOfPlace);
  const query: BigQueryPlace['query'] = async (sql) => {
    const { rows } = await people.run(asGoogleSql(sql), {}, { mutates: [] });
    return rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          value === 'true' || value === 'false' ? value === 'true' : value,
        ]),
      ),
    );
  };
  const relation = (name: string): string => `\`test-project.${dataset}.${name}\``;
  const usurp = async (key: string): Promise<void> => {
    await query(
      `UPDATE ${relation('mirror_state')} SET epoch = epoch + 1, holder = 'elsewhere/1/1' WHERE form_id = '${key}'`,
    );
  };
  return {
    async columnsOf(table) {
      const rows = await query(
        `SELECT column_name AS name FROM INFORMATION_SCHEMA.COLUMNS WHERE table_name = '${table}' ORDER BY ordinal_position`,
      );
      return rows.map((row) => String(row['name']));
    },
    product: 'BigQuery',
    hasLateColumns: true,
    url: `bigquery://test-project/${dataset}`,
    dataset,
    query,
    relation,
    usurp,
    async usurpMarking(formId) {
      stalledMs += 90_000;
      await usurp(`#marking ${formId}`);
    },
    damage: damageOf({ query, relation }),
    async open(name = 'default', clock = clockOfPlace, history) {
      const jobs =
        processes === 'one process' && clock === clockOfPlace
          ? await shared
          : await standInJobs(url, dataset, clock);
      return openBigQueryTarget(name, jobs, {
        clock,
        history,
        address: `bigquery://test-project/${dataset}`,
        check: async () => [{ ok: true, message: 'The stand-in answers.' }],
      });
    },
    dispose: async () => {},
  };
}

/** SQL as the suites write it, which the other products have, as BigQuery has it. */
export const asGoogleSql = (sql: string): string =>
  sql
    // Labels are names there without what names may not hold.
    .replaceAll(
      /"([^"]+)"/g,
      (_, name: string) => `\`${name.replaceAll(/\W+/g, '_').replace(/_$/, '')}\``,
    )
    .replaceAll(/ AS (?:text|char)\)/gi, ' AS STRING)')
    .replace(/^(?:CREATE|ALTER) TABLE .*$/is, (statement) =>
      statement
        .replaceAll(/ (?:text|(?:var)?char\(\d+\))(?=[,)]|$)/gi, ' STRING')
        .replaceAll(/ integer(?=[,)])/gi, ' INT64'),
    )
    // Whoever means all rows has to say so.
    .replace(/^((?:DELETE FROM|UPDATE) (?:(?! WHERE ).)*)$/is, '$1 WHERE TRUE');

function damageOf({ query, relation }: Pick<BigQueryPlace, 'query' | 'relation'>): Damage {
  const table = relation('contact_form');
  return {
    rowsAreCountedAtOnce: false,
    async dropPlace() {
      await query(`DROP TABLE ${table}`);
    },
    async empty() {
      await query(`DELETE FROM ${table} WHERE TRUE`);
    },
    async deleteRows(ids) {
      await query(`DELETE FROM ${table} WHERE id IN (${ids.map((id) => `'${id}'`).join(', ')})`);
    },
    async dropAge() {
      await query(`ALTER TABLE ${table} DROP COLUMN age`);
    },
  };
}
