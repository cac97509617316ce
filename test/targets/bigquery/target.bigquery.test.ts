import { afterAll, beforeAll, describe } from 'vitest';
import { stageTargets } from '../../contract/target-harness.ts';
import { describePasses } from '../../contract/target-passes.ts';
import { describePauses } from '../../contract/target-pauses.ts';
import { describeSideBySide } from '../../contract/target-side-by-side.ts';
import { describeStates } from '../../contract/target-states.ts';
import { describeWindows } from '../../contract/target-windows.ts';
import { describeTarget } from '../../contract/target.ts';
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

describeTarget('BigQuery', () => bigQueryPlace(standIn));

// Where processes meet: what one stores and another reads of rows and values is the same whoever stored it.
describe('the target contract over BigQuery, several processes', () => {
  const stage = stageTargets(() => bigQueryPlace(standIn, 'several processes'));
  describeStates(stage);
  describePasses(stage);
  describePauses(stage);
  describeSideBySide(stage);
  describeWindows(stage);
});
