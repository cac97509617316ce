import type { RetryNotice } from '../../src/base/retry.ts';
import { BigQueryCalls, type CallsOptions } from '../../src/targets/sql/bigquery/bigquery-calls.ts';
import { BigQueryError } from '../../src/targets/sql/bigquery/bigquery-errors.ts';
import { openJobs } from '../../src/targets/sql/bigquery/bigquery-jobs.ts';
import { DaySpending } from '../../src/targets/sql/bigquery/bigquery-spending.ts';
import type { TriedDataset } from './tried-dataset.ts';

/** Where the points are tried. */
export interface TryOptions extends Omit<CallsOptions, 'dataset'> {
  /** One that is there already, in which tables of ours are made and removed; absent: a new one, which is removed. */
  readonly dataset: string | undefined;
  readonly location: string | undefined;
  /** Letters that nothing else has. */
  readonly nonce: string;
}

/** A dataset for the points, and the end of all that was made for them. */
export interface OpenDataset {
  readonly tried: TriedDataset;
  readonly spent: () => number;
  remove(): Promise<void>;
}

/** The name of a dataset that is made for the points. */
export const newDataset = (nonce: string): string => `forms_mirror_try_${nonce}`;

/** Opens it; makes one where none is named. */
export async function openDataset({
  dataset: given,
  nonce,
  ...rest
}: TryOptions): Promise<OpenDataset> {
  const dataset = given ?? newDataset(nonce);
  const waitedOut: BigQueryError[] = [];
  const onRetry = ({ error }: RetryNotice): void => {
    if (error instanceof BigQueryError) waitedOut.push(error);
  };
  const options = { ...rest, dataset, onRetry };
  const spending = new DaySpending(rest.clock);
  const calls = new BigQueryCalls(options);
  const jobs = openJobs({ ...options, spending });
  await jobs.ensureDataset();
  const withId = (id: string) =>
    openJobs({ ...options, spending, newId: () => `try-${nonce}-${id}` });
  const prefix = `forms_mirror_try_${nonce}_`;
  return {
    tried: { jobs, withId, calls, prefix, waitedOut },
    spent: () => spending.total.bytesBilled,
    async remove() {
      const ours = (await jobs.tables()).filter((name) => name.startsWith(prefix));
      for (const name of ours) await jobs.dropTable(name);
      if (given !== undefined) return;
      await calls.repeated(
        (client, call) =>
          client.datasets.delete({ projectId: options.project, datasetId: dataset }, call),
        { writes: true },
      );
    },
  };
}
