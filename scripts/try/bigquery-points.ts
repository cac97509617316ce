import { BigQueryError } from '../../src/targets/sql/bigquery/bigquery-errors.ts';
import { costPoints } from './bigquery-cost-points.ts';
import { queryPoints } from './bigquery-query-points.ts';
import { rightPoints } from './bigquery-right-points.ts';
import { fingerprintPoint } from './bigquery-row-points.ts';
import { tablePoints } from './bigquery-table-points.ts';
import { transactionPoints } from './bigquery-transaction-points.ts';
import { type Point, Refuted } from './points.ts';
import type { TriedDataset } from './tried-dataset.ts';

/** Points in the order in which they are tried: later ones use what earlier ones made. */
export function bigQueryPoints(tried: TriedDataset): Point[] {
  return [
    ...queryPoints(tried),
    ...tablePoints(tried),
    fingerprintPoint(tried),
    ...transactionPoints(tried),
    ...costPoints(tried),
    ...rightPoints(tried),
  ].map((point) => told(point, tried));
}

/** The point with what was refused meanwhile: a statement as such, or what was tried again without a word. */
const told = ({ says, look }: Point, { waitedOut }: TriedDataset): Point => ({
  says,
  look: async () => {
    waitedOut.length = 0;
    try {
      const note = await look();
      const notes = [note, waitedOutText(waitedOut)].filter((one) => one !== undefined);
      return notes.length === 0 ? undefined : notes.join(' ');
    } catch (error) {
      throw isRefusal(error) ? new Refuted(error.message) : error;
    }
  },
});

/** Whether BigQuery has answered that it does not do what it was sent. */
const isRefusal = (error: unknown): error is BigQueryError =>
  error instanceof BigQueryError &&
  error.code !== 'TARGET_UNREACHABLE' &&
  ['refused', 'conflict', 'changed'].includes(error.fault);

/** `Refused and tried again: 4 × absent (404).` */
function waitedOutText(errors: readonly BigQueryError[]): string | undefined {
  if (errors.length === 0) return undefined;
  const kinds = Object.entries(
    Object.groupBy(errors, ({ fault, status }) => (status === 0 ? fault : `${fault} (${status})`)),
  );
  return `Refused and tried again: ${kinds.map(([kind, of]) => `${of?.length ?? 0} × ${kind}`).join(', ')}.`;
}
