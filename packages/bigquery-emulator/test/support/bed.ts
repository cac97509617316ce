import { OAuth2Client } from 'google-auth-library';
import { bigquery_v2 } from 'googleapis/build/src/apis/bigquery/index.js';
import { startBigQueryEmulator, type BigQueryEmulator } from '../../src/emulator.ts';

const PROJECT = 'emulated';
const DATASET = 'mirror';

/** A value of a parameter, which determines its type. */
export type Value = string | number | null | readonly string[];

/** The result of a query, with rows by position. */
export interface Answer {
  readonly rows: readonly (readonly unknown[])[];
  readonly data: bigquery_v2.Schema$QueryResponse;
}

/** An emulator with a dataset, which Google's own client asks. */
export interface Bed extends AsyncDisposable {
  readonly emulator: BigQueryEmulator;
  /** Runs a statement or a script; rejects with the message of the service. */
  query(
    sql: string,
    values?: Readonly<Record<string, Value>>,
    more?: bigquery_v2.Schema$QueryRequest,
  ): Promise<Answer>;
  /** The message of the service about a refused statement: `reason: message`. */
  refusal(sql: string, values?: Readonly<Record<string, Value>>): Promise<string>;
}

/** Starts an emulator with one empty dataset. */
export async function startBed(): Promise<Bed> {
  const emulator = await startBigQueryEmulator();
  emulator.createDataset(PROJECT, DATASET);
  const auth = new OAuth2Client();
  auth.setCredentials({ access_token: 'for-tests' });
  const api = new bigquery_v2.Bigquery({ rootUrl: emulator.url, auth, retry: false });
  const query: Bed['query'] = async (sql, values = {}, more = {}) => {
    const { data } = await api.jobs.query({
      projectId: PROJECT,
      requestBody: {
        query: sql,
        useLegacySql: false,
        defaultDataset: { projectId: PROJECT, datasetId: DATASET },
        formatOptions: { useInt64Timestamp: true },
        queryParameters: Object.entries(values).map(([name, value]) => parameter(name, value)),
        ...more,
      },
    });
    return { rows: (data.rows ?? []).map(({ f }) => (f ?? []).map(({ v }) => v)), data };
  };
  return {
    emulator,
    query,
    refusal: (sql, values) =>
      query(sql, values).then(
        () => 'nothing: it was taken',
        (error: unknown) => refusalOf(error),
      ),
    [Symbol.asyncDispose]: () => emulator.close(),
  };
}

/** `reason: message` of an error of the client. */
export function refusalOf(error: unknown): string {
  if (!(error instanceof Error) || !('response' in error)) return String(error);
  const { response } = error as { response?: { data?: { error?: GoogleError } } };
  const said = response?.data?.error;
  return `${said?.errors?.[0]?.reason}: ${said?.message}`;
}

interface GoogleError {
  readonly message?: string;
  readonly errors?: readonly { readonly reason?: string }[];
}

function parameter(name: string, value: Value): bigquery_v2.Schema$QueryParameter {
  if (Array.isArray(value)) {
    return {
      name,
      parameterType: { type: 'ARRAY', arrayType: { type: 'STRING' } },
      parameterValue: { arrayValues: value.map((item: string) => ({ value: item })) },
    };
  }
  const type = typeof value === 'number' ? 'INT64' : 'STRING';
  return {
    name,
    parameterType: { type },
    parameterValue: { value: value === null ? null : String(value) },
  };
}
