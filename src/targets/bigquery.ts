import type { BigQueryOptions } from '../../packages/target-bigquery/src/bigquery-driver.ts';
import type { Clock } from '../base/clock.ts';
import { errorCode, MirrorError } from '../base/errors.ts';
import { AddressError } from '../base/transport.ts';
import type { CredentialsSource } from './google/credentials.ts';
import { sqlOpener } from './sql/address.ts';
import type { Address } from './target-address.ts';

/* A dataset of BigQuery. Its driver is in `packages/target-bigquery`, beside its emulator, and is loaded when an address needs it. */

/** The address of a dataset. */
export interface BigQueryAddress extends Address {
  /** Finds the account, as `open` does. Throws SETTINGS and TARGET_DENIED. */
  connection(google: CredentialsSource, clock: Clock): Promise<BigQueryOptions>;
}

/** The only right that the target requests from Google. */
const SCOPE = 'https://www.googleapis.com/auth/bigquery';
const HOST = 'bigquery.googleapis.com';

const ADDRESS = /^bigquery:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i;
const PROJECT = /^(?:[a-z][a-z0-9.-]{0,61}[a-z0-9]:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/;
const DATASET = /^\w{1,1024}$/;
const LOCATION = /^[a-z]{2}(?:-?[a-z]+)*(?:-?[a-z]+\d{1,2})?$/i;
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+$/;
const OPTIONS = ['location', 'max-gb-per-job', 'endpoint'];
const DEFAULT_GB_PER_JOB = 100;
const GB = 1_000_000_000;

/** Reads `bigquery://<project>/<dataset>?location=EU`. Throws {@link AddressError}. */
export function parseBigQueryUrl(url: string): BigQueryAddress {
  const [, project = '', path = '', query = ''] = ADDRESS.exec(url.trim()) ?? [];
  const wrong = (what: string): never => {
    throw new AddressError(what);
  };
  if (project.includes('@'))
    wrong(
      'holds a user or a password: the account comes from GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_CREDENTIALS_JSON',
    );
  if (!PROJECT.test(project))
    wrong('names no project by its ID: 6 to 30 small letters, digits and hyphens');
  const dataset = path.replace(/\/$/, '');
  if (!DATASET.test(dataset)) wrong('names no dataset: letters, digits and underscores');
  const parameters = new URLSearchParams(query);
  if ([...parameters.keys()].some((name) => !OPTIONS.includes(name)))
    wrong(`has an option other than ${OPTIONS.join(', ')}`);
  const location = parameters.get('location') ?? undefined;
  if (location !== undefined && !LOCATION.test(location))
    wrong('has a ?location= that is not one: EU, US, or a region such as europe-west3');
  const endpoint = parameters.get('endpoint') ?? undefined;
  if (endpoint !== undefined && !LOOPBACK.test(endpoint))
    wrong('has an ?endpoint= that is not an emulator on this machine (http://127.0.0.1:<port>)');
  const gb = Number(parameters.get('max-gb-per-job') ?? DEFAULT_GB_PER_JOB);
  if (!(gb >= 1 && gb <= 1_000_000)) wrong('has a max-gb-per-job that is not 1 to 1000000');
  const place = `bigquery://${project}/${dataset}`;
  const connection = async (google: CredentialsSource, clock: Clock): Promise<BigQueryOptions> => {
    const { openAccount } = await import('./google/credentials.ts');
    const account = await openAccount({ ...google, emulatorUrl: endpoint }, SCOPE);
    return {
      project,
      dataset,
      location: location?.length === 2 ? location.toUpperCase() : location?.toLowerCase(),
      endpoint: endpoint ?? `https://${HOST}`,
      maxBytes: gb * GB,
      email: account.email,
      clock,
      async send({ method, url: to, headers, body, timeoutMs }) {
        const answer = await account.auth.request<string>({
          url: to,
          headers,
          ...(body !== undefined && { body }),
          method,
          responseType: 'text',
          timeout: timeoutMs,
          validateStatus: () => true,
          retry: false,
        });
        const retryAfter = answer.headers.get('retry-after') ?? undefined;
        return { status: answer.status, text: answer.data, retryAfter };
      },
    };
  };
  return {
    shown: place,
    place,
    transport: { hosts: [HOST], weaknesses: [] },
    connection,
    open: sqlOpener(place, async (clock, { google = {}, onBilled }) => {
      const { bigQueryDriver } = await loadDriver();
      return bigQueryDriver({ ...(await connection(google, clock)), onBilled });
    }),
  };
}

/** The BigQuery driver, if this installation has it. */
async function loadDriver() {
  try {
    return await import('../../packages/target-bigquery/src/bigquery-driver.ts');
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new MirrorError(
      'SETTINGS',
      'This installation lacks the BigQuery target: install forms-mirror again with npm install forms-mirror, or restore packages/target-bigquery in the checkout.',
      { cause: error },
    );
  }
}
