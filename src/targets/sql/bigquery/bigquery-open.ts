import type { Clock } from '../../../base/clock.ts';
import type { HistoryKind } from '../../../mirror/histories.ts';
import type { Target } from '../../../mirror/target.ts';
import { type CredentialsSource, openAccount } from '../../google/credentials.ts';
import type { BigQueryAddress } from './bigquery-address.ts';
import { checkBigQuery } from './bigquery-check.ts';
import { BIGQUERY_SCOPE } from './bigquery-errors.ts';
import { openJobs } from './bigquery-jobs.ts';
import { DaySpending } from './bigquery-spending.ts';
import { openBigQueryTarget } from './bigquery-target.ts';

export interface BigQueryOptions extends CredentialsSource {
  readonly clock: Clock;
  /** What it tells of before; statuses when absent. */
  readonly history?: HistoryKind | undefined;
  /** Most bytes that it may bill a day; any when absent. */
  readonly maxBytesPerDay?: number | undefined;
  /** Called when it has not answered for so long; it goes on waiting. */
  readonly onSilence?: ((silentMs: number) => void) | undefined;
}

/**
 * Opens a dataset as a target. Reads the credentials and makes no call yet. Throws SETTINGS and TARGET_DENIED with the remedy
 * when the credentials cannot be used.
 */
export async function openBigQuery(
  name: string,
  address: BigQueryAddress,
  { clock, history, maxBytesPerDay, onSilence, ...source }: BigQueryOptions,
): Promise<Target> {
  const account = await openAccount(source, BIGQUERY_SCOPE);
  const { project, dataset, location, shown } = address;
  const rootUrl = source.emulatorUrl?.replace(/\/*$/, '/');
  const spending = new DaySpending(clock, maxBytesPerDay);
  const calls = { project, dataset, location, account, clock, rootUrl, onSilence };
  const jobs = openJobs({ ...calls, spending });
  const { email } = account;
  return openBigQueryTarget(name, jobs, {
    clock,
    history,
    address: shown,
    check: (signal) => checkBigQuery({ jobs, address, email }, signal),
  });
}
