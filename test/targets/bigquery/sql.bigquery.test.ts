import { afterAll, beforeAll, describe } from 'vitest';
import { describeChangedHistory } from '../../contract/sql-changed-history.ts';
import { describeSqlErasure } from '../../contract/sql-erasure.ts';
import { describeHistoryDue } from '../../contract/sql-history-due.ts';
import { describeRelations } from '../../contract/sql-relations.ts';
import { describeRowHistory } from '../../contract/sql-row-history.ts';
import { describeStatusHistory } from '../../contract/sql-status-history.ts';
import { describeSqlModel } from '../../contract/sql-target-model.ts';
import { describeSqlPeople } from '../../contract/sql-target-people.ts';
import { describeSqlTables } from '../../contract/sql-target-tables.ts';
import { describeSqlTypes } from '../../contract/sql-target-types.ts';
import { stageTargets } from '../../contract/target-harness.ts';
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

// Left out, as BigQuery has none of it: constraints, triggers and unique indexes (describeSqlConstraints, describeSqlSwallowed), indexes
// (describeSqlLiveViews), readers that are in the way of a view (describeSqlViewsBehind), a column for what overflows a table of 2,000
// fields (describeSqlLimits). Its views have names, types and texts of their own: views.bigquery.test.ts.
describe('the SQL contract over BigQuery', () => {
  const stage = stageTargets(() => bigQueryPlace(standIn));
  describeSqlTables(stage);
  describeSqlTypes(stage);
  describeSqlPeople(stage);
  describeSqlModel(stage);
  describeSqlErasure(stage);
  describeStatusHistory(stage);
  describeRowHistory(stage);
  describeChangedHistory(stage);
  describeHistoryDue(stage);
  describeRelations(stage);
});
