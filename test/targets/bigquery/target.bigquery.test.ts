import { afterAll, beforeAll, describe } from 'vitest';
import { stageTargets } from '../../contract/target-harness.ts';
import { describePasses } from '../../contract/target-passes.ts';
import { describeRows } from '../../contract/target-rows.ts';
import { describeSideBySide } from '../../contract/target-side-by-side.ts';
import { describeValues } from '../../contract/target-values.ts';
import {
  bigQueryPlace,
  type BigQueryStandIn,
  startBigQuery,
} from '../../support/bigquery-place.ts';

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());

// Several processes: what one stores, another reads.
describe('the target contract over BigQuery, in what its statements differ', () => {
  const stage = stageTargets(() => bigQueryPlace(standIn, 'several processes'));
  describeRows(stage);
  describeValues(stage);
  describePasses(stage);
  describeSideBySide(stage);
});
