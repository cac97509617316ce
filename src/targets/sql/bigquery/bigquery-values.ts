import type { bigquery_v2 } from 'googleapis/build/src/apis/bigquery/v2.js';
import { canonicalTime } from '../../../mirror/canonical-time.ts';

/** A parameter: a text, whole number, boolean, time (as ISO text) or JSON as text; or a list of texts. */
export interface JobParameter {
  readonly type: 'STRING' | 'INT64' | 'BOOL' | 'TIMESTAMP' | 'JSON';
  readonly value: string | null | readonly string[];
}

/** A row of a result, by column name: texts as BigQuery's REST gives them, TIMESTAMP as canonical ISO text. */
export type ResultRow = Readonly<Record<string, string | null>>;

/** Named parameters as `jobs.query` takes them. */
export function queryParameters(
  parameters: Readonly<Record<string, JobParameter>>,
): bigquery_v2.Schema$QueryParameter[] {
  return Object.entries(parameters).map(([name, { type, value }]) => {
    if (value === null || typeof value === 'string') {
      return { name, parameterType: { type }, parameterValue: { value } };
    }
    return {
      name,
      parameterType: { type: 'ARRAY', arrayType: { type } },
      parameterValue: { arrayValues: value.map((text) => ({ value: text })) },
    };
  });
}

/** Rows of a page of a result. Throws a TypeError for columns that no statement of ours selects (lists, records). */
export function readRows(
  schema: bigquery_v2.Schema$TableSchema | undefined,
  rows: readonly bigquery_v2.Schema$TableRow[] | undefined,
): ResultRow[] {
  const fields = schema?.fields ?? [];
  return (rows ?? []).map(({ f = [] }) => {
    const row: Record<string, string | null> = Object.create(null) as Record<string, string | null>;
    for (const [at, { name, type }] of fields.entries()) {
      row[name ?? ''] = cellText(f?.[at]?.v, type ?? '');
    }
    return row;
  });
}

function cellText(value: unknown, type: string): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string') throw new TypeError(`A cell of type ${type} is no text.`);
  return type === 'TIMESTAMP' ? timeText(value) : value;
}

const MICROS = 1_000_000n;

/** Microseconds since the epoch, as `formatOptions.useInt64Timestamp` asks for them, as canonical ISO text. */
function timeText(text: string): string {
  if (!/^-?\d{1,19}$/.test(text)) throw new TypeError('A time is no number of microseconds.');
  const micros = BigInt(text);
  const rest = ((micros % MICROS) + MICROS) % MICROS;
  const seconds = Number((micros - rest) / MICROS);
  const whole = new Date(seconds * 1_000).toISOString().slice(0, 19);
  const time = canonicalTime(`${whole}.${String(rest).padStart(6, '0')}Z`);
  if (time === null) throw new TypeError('A time lies outside of the years 1 to 9999.');
  return time;
}
