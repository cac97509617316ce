import type { MessagePort } from 'node:worker_threads';
import { workerData } from 'node:worker_threads';
import { canonicalTime } from '../../src/mirror/canonical-time.ts';
import { startBigQuery } from '../support/bigquery-place.ts';

// A stand-in for BigQuery in a thread of its own, which asks it for a thread that stands still meanwhile: see law-places.ts.

interface Data {
  readonly port: MessagePort;
  readonly turn: Int32Array;
}

interface Question {
  readonly dataset: string;
  /** Left out: which tables there are. */
  readonly sql?: string;
  readonly params: readonly string[];
}

interface Answer {
  readonly schema?: { readonly fields?: { readonly name: string; readonly type: string }[] };
  readonly rows?: { readonly f: { readonly v: string | null }[] }[];
  readonly error?: { readonly message: string };
}

interface Listed {
  readonly tables?: { readonly tableReference: { readonly tableId: string } }[];
}

const { port, turn } = workerData as Data;
const standIn = await startBigQuery();

const BASE = `${standIn.url}bigquery/v2/projects/test-project`;
const headers = { authorization: 'Bearer of-the-test', 'content-type': 'application/json' };

async function answer({ dataset, sql, params }: Question): Promise<unknown> {
  if (sql === undefined) {
    const all = await fetch(`${BASE}/datasets/${dataset}/tables?maxResults=1000`, { headers });
    const { tables = [] } = (await all.json()) as Listed;
    return { rows: tables.map(({ tableReference }) => ({ name: tableReference.tableId })) };
  }
  const response = await fetch(`${BASE}/queries`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      query: sql,
      useLegacySql: false,
      defaultDataset: { projectId: 'test-project', datasetId: dataset },
      parameterMode: 'POSITIONAL',
      queryParameters: params.map((value) => {
        return { parameterType: { type: 'STRING' }, parameterValue: { value } };
      }),
      formatOptions: { useInt64Timestamp: true },
    }),
  });
  const { schema, rows = [], error } = (await response.json()) as Answer;
  if (error !== undefined) return { error: error.message };
  const fields = schema?.fields ?? [];
  return {
    rows: rows.map(({ f }) =>
      Object.fromEntries(
        fields.map(({ name, type }, at) => [name, valueOf(type, f[at]?.v ?? null)]),
      ),
    ),
  };
}

function valueOf(type: string, text: string | null): unknown {
  if (text === null) return null;
  if (type === 'INTEGER') return Number(text);
  return type === 'TIMESTAMP' ? canonicalTime(new Date(Number(text) / 1_000).toISOString()) : text;
}

async function reply(question: Question): Promise<void> {
  const answered = await answer(question).catch((error: unknown) => ({ error: String(error) }));
  port.postMessage(answered, []);
  Atomics.store(turn, 0, 1);
  Atomics.notify(turn, 0);
}

port.on('message', (question: Question) => void reply(question));
port.postMessage({ url: standIn.url });
