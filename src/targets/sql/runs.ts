import { namesAny } from '../../mirror/forgotten.ts';
import type { Run } from '../../mirror/port.ts';
import {
  change,
  insert,
  isTrue,
  type Session,
  type SqlRow,
  textOf,
  textOrNull,
  timeAt,
  timeOf,
} from './dialect.ts';

/** Runs beyond this many are removed when a run reads everything. */
const MOST_RUNS = 1_000;

/** The columns of a run that hold numbers, in the order of the table. */
export const RUN_COUNTS = [
  'requests',
  'inserted',
  'updated',
  'unchanged',
  'deleted',
  'rejected',
  'held',
] as const satisfies readonly (keyof Run)[];

/** Each form is a part of the query; databases allow some hundreds. */
const FORMS_A_QUERY = 100;

/** The newest runs of each form, the newest first, with few queries for many forms. */
export async function newestRuns(
  session: Session,
  formIds: readonly string[],
  limit: number,
): Promise<Map<string, Run[]>> {
  const found = new Map<string, Run[]>();
  if (limit === 0) return found;
  for (let at = 0; at < formIds.length; at += FORMS_A_QUERY) {
    const ids = formIds.slice(at, at + FORMS_A_QUERY);
    const parts = ids.map(
      (_, part) =>
        `SELECT * FROM (SELECT * FROM _mirror_runs WHERE form_id = $${part + 1} ORDER BY started_at DESC LIMIT ${Math.trunc(limit)}) AS r${part}`,
    );
    for (const row of await session.query(parts.join(' UNION ALL '), ids)) {
      const id = textOf(row['form_id']);
      found.set(id, [...(found.get(id) ?? []), runOf(row)]);
    }
  }
  for (const runs of found.values()) runs.sort((a, b) => b.startedAtMs - a.startedAtMs);
  return found;
}

/** A run, from its row. */
function runOf(row: SqlRow): Run {
  const ms = (value: unknown): number => Date.parse(timeOf(value) ?? '');
  const counts = RUN_COUNTS.map((name) => [name, Number(row[name])] as const);
  return {
    startedAtMs: ms(row['started_at']),
    endedAtMs: ms(row['ended_at']),
    outcome: textOf(row['outcome']) as Run['outcome'],
    code: textOrNull(row['code']),
    error: textOrNull(row['error']),
    isWhole: isTrue(row['is_whole']),
    ...(Object.fromEntries(counts) as Pick<Run, (typeof RUN_COUNTS)[number]>),
  };
}

/** Adds a run, unless it is recorded already. A whole run also removes old ones. */
export async function addRun(tx: Session, formId: string, run: Run): Promise<void> {
  const { dialect } = tx;
  const row = {
    form_id: formId,
    started_at: timeAt(run.startedAtMs * 1_000, dialect),
    ended_at: timeAt(run.endedAtMs * 1_000, dialect),
    is_whole: run.isWhole ? 1 : 0,
    outcome: run.outcome,
    code: run.code,
    error: run.error,
    ...Object.fromEntries(RUN_COUNTS.map((name) => [name, run[name]])),
  };
  await insert(tx, '_mirror_runs', [row], ['form_id', 'started_at']);
  // Not with every run, because some databases bill the statement.
  if (!run.isWhole) return;
  await change(
    tx,
    `DELETE FROM _mirror_runs WHERE form_id = $1 AND started_at <= (SELECT started_at FROM
     (SELECT started_at FROM _mirror_runs WHERE form_id = $1 ORDER BY started_at DESC LIMIT 1 OFFSET ${MOST_RUNS}) AS oldest)`,
    [formId],
  );
}

/** Removes the messages of runs that name one of these submissions. */
export async function forgetInRuns(
  tx: Session,
  formId: string,
  ids: readonly string[],
): Promise<void> {
  const found = await tx.query(
    'SELECT DISTINCT error FROM _mirror_runs WHERE form_id = $1 AND error IS NOT NULL',
    [formId],
  );
  const errors = found.map((row) => textOf(row['error'])).filter((error) => namesAny(error, ids));
  if (errors.length === 0) return;
  const sql = `UPDATE _mirror_runs SET error = NULL WHERE form_id = $1 AND ${tx.dialect.among('error', '$2')}`;
  await change(tx, sql, [formId, errors]);
}
