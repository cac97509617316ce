import { errorCodeOrNull, safeText } from '../../base/errors.ts';
import { countsFrom, countsText, NO_COUNTS } from '../../mirror/status-counts.ts';
import type { Checkpoint, PassKind, PassOutcome, PassRecord } from '../../mirror/types.ts';
import type { Catalogue } from './catalogue.ts';
import type { SqlDialect } from './dialect.ts';
import {
  numberOf,
  placeholders,
  type SqlRow,
  type SqlSession,
  textOf,
  textOrNull,
} from './sql-session.ts';

/** How many passes of a form and kind are kept, besides the newest that ended well. */
const KEPT_PASSES = 1_000;

const COUNTS = [
  ['requests', 'requests'],
  ['distinct_seen', 'distinct'],
  ['inserted', 'inserted'],
  ['updated', 'updated'],
  ['unchanged', 'unchanged'],
  ['deleted', 'deleted'],
  ['rejected', 'rejected'],
  ['withheld', 'withheld'],
] as const;

const COUNT_COLUMNS = COUNTS.map(([column]) => column).join(', ');

/** Adds a pass to `mirror_passes` and prunes it to {@link KEPT_PASSES}. */
export async function recordPass(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  pass: PassRecord,
): Promise<void> {
  const table = dialect.relation('mirror_passes');
  await tx.query(
    `INSERT INTO ${table} (form_id, kind, started_at, ended_at, outcome, total, error_code, error, ${COUNT_COLUMNS})
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    [
      formId,
      pass.kind,
      dialect.timeValue(pass.startedAt),
      dialect.timeValue(pass.endedAt),
      pass.outcome,
      pass.total,
      pass.code,
      pass.error === null ? null : safeText(pass.error),
      ...COUNTS.map(([, property]) => pass[property]),
    ],
  );
  await tx.query(
    `DELETE FROM ${table} WHERE form_id = $1 AND kind = $2
       AND id <= (SELECT id FROM (SELECT id FROM ${table} WHERE form_id = $1 AND kind = $2 ORDER BY id DESC LIMIT 1 OFFSET ${KEPT_PASSES}) AS o)
       AND id <> coalesce((SELECT id FROM (SELECT max(id) AS id FROM ${table} WHERE form_id = $1 AND kind = $2 AND outcome = 'ok') AS k), 0)`,
    [formId, pass.kind],
  );
}

/** The newest passes of a form, newest first. */
export async function readPasses(
  catalogue: Catalogue,
  formId: string,
  limit: number,
): Promise<PassRecord[]> {
  const { session, dialect } = catalogue;
  const rows = await session.query(
    `SELECT ${passColumns(catalogue)} FROM ${dialect.relation('mirror_passes')}
     WHERE form_id = $1 ORDER BY id DESC LIMIT $2`,
    [formId, limit],
  );
  return rows.map((row) => toPassRecord(row, dialect));
}

/** The passes that a form's state is judged by. */
export interface NotablePasses {
  readonly lastPass: PassRecord | null;
  readonly lastOk: PassRecord | null;
  readonly lastFull: PassRecord | null;
}

/** Of every form the newest pass, the newest that ended `ok` and the newest full one, by form ID. */
export async function readNotablePasses(catalogue: Catalogue): Promise<Map<string, NotablePasses>> {
  const { session, dialect } = catalogue;
  const table = dialect.relation('mirror_passes');
  const rows = await session.query(
    `SELECT form_id, ${passColumns(catalogue)} FROM ${table} WHERE id IN (
       SELECT max(id) FROM ${table} GROUP BY form_id
       UNION SELECT max(id) FROM ${table} WHERE outcome = 'ok' GROUP BY form_id
       UNION SELECT max(id) FROM ${table} WHERE kind = 'full' GROUP BY form_id)
     ORDER BY id`,
  );
  const notable = new Map<string, NotablePasses>();
  for (const row of rows) {
    const pass = toPassRecord(row, dialect);
    const formId = textOf(row, 'form_id');
    const before = notable.get(formId);
    notable.set(formId, {
      lastPass: pass,
      lastOk: pass.outcome === 'ok' ? pass : (before?.lastOk ?? null),
      lastFull: pass.kind === 'full' ? pass : (before?.lastFull ?? null),
    });
  }
  return notable;
}

const passColumns = ({ dialect }: Catalogue): string =>
  `kind, ${dialect.timeText('started_at')} AS started, ${dialect.timeText('ended_at')} AS ended, outcome, total, error, ` +
  `error_code, ${COUNT_COLUMNS}`;

function toPassRecord(row: SqlRow, dialect: SqlDialect): PassRecord {
  return {
    kind: textOf(row, 'kind') as PassKind,
    startedAt: dialect.time(row['started']) ?? '',
    endedAt: dialect.time(row['ended']) ?? '',
    outcome: textOf(row, 'outcome') as PassOutcome,
    requests: numberOf(row, 'requests'),
    total: row['total'] === null ? null : numberOf(row, 'total'),
    distinct: numberOf(row, 'distinct_seen'),
    inserted: numberOf(row, 'inserted'),
    updated: numberOf(row, 'updated'),
    unchanged: numberOf(row, 'unchanged'),
    deleted: numberOf(row, 'deleted'),
    rejected: numberOf(row, 'rejected'),
    withheld: numberOf(row, 'withheld'),
    code: errorCodeOrNull(row['error_code']),
    error: textOrNull(row, 'error'),
  };
}

/** Stores the form's checkpoint, replacing an earlier one. */
export async function saveCheckpoint(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  checkpoint: Checkpoint,
): Promise<void> {
  const columns = {
    watermark: dialect.timeValue(checkpoint.watermark),
    total: checkpoint.total,
    proven_at: dialect.timeValue(checkpoint.provenAt),
    full_proven_at: dialect.timeValue(checkpoint.fullProvenAt),
    absent: checkpoint.absent,
    withheld: checkpoint.withheld,
    hidden: checkpoint.hidden,
    proven_for: checkpoint.provenFor,
    statuses: checkpoint.statuses && countsText(checkpoint.statuses),
    unstored: countsText(checkpoint.unstored),
    counts_at: dialect.timeValue(checkpoint.countsAt),
  };
  const names = Object.keys(columns);
  await tx.query(
    `INSERT INTO ${dialect.relation('mirror_checkpoints')} (form_id, ${names.join(', ')})
     VALUES ${placeholders(1, names.length + 1)}
     ON CONFLICT (form_id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    [formId, ...Object.values(columns)],
  );
}

/** What the form's rows were stored as, by its checkpoint; undefined where it has none. */
export async function storedFor(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<string | undefined> {
  const [row] = await tx.query(
    `SELECT proven_for FROM ${dialect.relation('mirror_checkpoints')} WHERE form_id = $1`,
    [formId],
  );
  return row && textOf(row, 'proven_for');
}

/** Deletes a form's checkpoint, so that the next pass reads everything. */
export async function dropCheckpoint(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<void> {
  await tx.query(`DELETE FROM ${dialect.relation('mirror_checkpoints')} WHERE form_id = $1`, [
    formId,
  ]);
}

/** The checkpoints of one form, or of all, by form ID. */
export async function readCheckpoints(
  { session, dialect }: Catalogue,
  formId?: string,
): Promise<Map<string, Checkpoint>> {
  const rows = await session.query(
    `SELECT form_id, total, absent, withheld, hidden, proven_for, statuses, unstored,
       ${dialect.timeText('counts_at')} AS counts_at, ${dialect.timeText('watermark')} AS watermark,
       ${dialect.timeText('proven_at')} AS proven_at, ${dialect.timeText('full_proven_at')} AS full_proven_at
     FROM ${dialect.relation('mirror_checkpoints')}${formId === undefined ? '' : ' WHERE form_id = $1'}`,
    formId === undefined ? [] : [formId],
  );
  return new Map(
    rows.map((row) => [
      textOf(row, 'form_id'),
      {
        watermark: dialect.time(row['watermark']),
        total: numberOf(row, 'total'),
        absent: numberOf(row, 'absent'),
        withheld: numberOf(row, 'withheld'),
        hidden: numberOf(row, 'hidden'),
        provenAt: dialect.time(row['proven_at']) ?? '',
        fullProvenAt: dialect.time(row['full_proven_at']),
        provenFor: textOf(row, 'proven_for'),
        statuses: countsFrom(textOrNull(row, 'statuses')),
        unstored: countsFrom(textOrNull(row, 'unstored')) ?? NO_COUNTS,
        countsAt: dialect.time(row['counts_at']),
      },
    ]),
  );
}
