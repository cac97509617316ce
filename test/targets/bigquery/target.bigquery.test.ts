import { afterAll, beforeAll } from 'vitest';
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
