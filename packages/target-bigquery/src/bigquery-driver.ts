import type { Driver } from '../../../src/targets/sql/database.ts';
import { BigQueryApi, type ApiOptions } from './api.ts';
import { bigQueryDialect } from './dialect.ts';
import { BigQueryError } from './errors.ts';
import { Leases } from './lease.ts';
import { BigQuerySession } from './session.ts';

/** How to connect to a dataset, with the account of this address. */
export interface BigQueryOptions extends ApiOptions {
  readonly email: string | undefined;
}

/** A dataset of BigQuery as a database for the mirror's SQL store. The mirror creates it if it is missing and the account may. */
export function bigQueryDriver(options: BigQueryOptions): Driver {
  const { project, dataset, location = 'US' } = options;
  const api = new BigQueryApi(options);
  const dialect = bigQueryDialect(options);
  const leases = new Leases(api);
  return {
    dialect,
    connect: async () => new BigQuerySession(api, leases, dialect),
    place: {
      async isThere() {
        try {
          await api.call('GET', api.datasetPath());
          return true;
        } catch (error) {
          const isMissing =
            error instanceof BigQueryError && error.isAbsent && !error.says(/Not found: Project/i);
          if (isMissing) return false;
          throw error;
        }
      },
      async make() {
        const body = {
          datasetReference: { projectId: project, datasetId: dataset },
          location,
        };
        const path = `/bigquery/v2/projects/${project}/datasets`;
        await api.call('POST', path, { body }).catch((error: unknown) => {
          if (!(error instanceof BigQueryError) || !error.exists) throw error;
        });
      },
    },
  };
}
