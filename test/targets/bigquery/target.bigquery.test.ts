import { afterAll, beforeAll, describe } from 'vitest';
import { describeHistoryDue } from '../../contract/sql-history-due.ts';
import { describeRelations } from '../../contract/sql-relations.ts';
import { describeSqlModel } from '../../contract/sql-target-model.ts';
import { stageTargets } from '../../contract/target-harness.ts';
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
describeTarget('BigQuery, several processes', () => bigQueryPlace(standIn, 'several processes'));

// Of what SQL targets promise besides, the parts that are written without the SQL of one of them.
describe('the SQL contract over BigQuery', () => {
  const stage = stageTargets(() => bigQueryPlace(standIn));
  describeSqlModel(stage);
  describeRelations(stage);
  describeHistoryDue(stage);
});
