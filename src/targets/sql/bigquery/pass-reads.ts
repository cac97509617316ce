import { errorCodeOrNull } from '../../../base/errors.ts';
import { PASS_KINDS, type PassOutcome, type PassRecord } from '../../../mirror/types.ts';
import type { ResultRow } from './bigquery-values.ts';
import { textParameter } from './sql-text.ts';
import type { Store } from './store.ts';
import { timeOf } from './table-reads.ts';

/** The newest passes of a form, newest first. */
export async function readPasses(
  store: Store,
  formId: string,
  limit: number,
): Promise<PassRecord[]> {
  const rows = await store.query({
    sql: `SELECT * FROM ${store.relation('mirror_passes')} WHERE form_id = @form
      ORDER BY id DESC LIMIT ${Math.max(0, Math.trunc(limit))}`,
    parameters: { form: textParameter(formId) },
  });
  return rows.map(passOf);
}

function passOf(row: ResultRow): PassRecord {
  const number = (column: string): number => Number(row[column] ?? 0);
  return {
    kind: PASS_KINDS.find((kind) => kind === row['kind']) ?? 'incremental',
    startedAt: timeOf(row, 'started_at') ?? '',
    endedAt: timeOf(row, 'ended_at') ?? '',
    outcome: OUTCOMES.find((outcome) => outcome === row['outcome']) ?? 'failed',
    requests: number('requests'),
    total: row['total'] === null ? null : number('total'),
    distinct: number('distinct_seen'),
    inserted: number('inserted'),
    updated: number('updated'),
    unchanged: number('unchanged'),
    deleted: number('deleted'),
    rejected: number('rejected'),
    withheld: number('withheld'),
    code: errorCodeOrNull(row['error_code']),
    error: row['error'] ?? null,
    ...(typeof row['billed_bytes'] === 'string' && { billedBytes: number('billed_bytes') }),
    ...(typeof row['statements'] === 'string' && { statements: number('statements') }),
  };
}

/** Every outcome that a pass is recorded with. */
export const OUTCOMES = [
  'ok',
  'incomplete',
  'withheld',
  'gone',
  'busy',
  'paused',
  'failed',
  'cancelled',
] as const satisfies readonly PassOutcome[];
