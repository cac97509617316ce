import type { FormOverview } from '../../mirror/target.ts';
import { listForms } from './catalogue.ts';
import type { SqlDialect } from './dialect.ts';
import { readCheckpoints, readNotablePasses } from './pass-history.ts';
import { numberOf, piecesOf, type SqlSession, textOf } from './sql-session.ts';

/** Tables counted by one statement; SQLite takes at most 500 parts of a UNION. */
const TABLES_A_STATEMENT = 100;

/** Every form that was ever mirrored here, with its state. */
export async function readOverview(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<FormOverview[]> {
  const forms = await listForms(session, dialect);
  const counts = await countRows(
    session,
    dialect,
    forms.map((form) => form.table),
  );
  const rejected = await countRejected(session, dialect);
  const checkpoints = await readCheckpoints(session, dialect);
  const passes = await readNotablePasses(session, dialect);
  return forms.map((form) => ({
    formId: form.id,
    slug: form.slug,
    name: form.name,
    location: `table ${dialect.shownRelation(form.table)}, view ${dialect.shownRelation(form.view)}`,
    rows: counts.get(form.table)?.rows ?? 0,
    deletedRows: counts.get(form.table)?.deletedRows ?? 0,
    rejected: rejected.get(form.id) ?? 0,
    goneAt: form.goneAt,
    checkpoint: checkpoints.get(form.id) ?? null,
    lastPass: passes.get(form.id)?.lastPass ?? null,
    lastOk: passes.get(form.id)?.lastOk ?? null,
    lastFull: passes.get(form.id)?.lastFull ?? null,
    droppedColumns: [],
  }));
}

async function countRows(
  session: SqlSession,
  dialect: SqlDialect,
  tables: readonly string[],
): Promise<Map<string, { rows: number; deletedRows: number }>> {
  const counts = new Map<string, { rows: number; deletedRows: number }>();
  // A table that somebody dropped counts as empty until the next pass makes it anew.
  const there = await dialect.relationNames(session);
  const existing = tables.filter((table) => there.has(table));
  for (const piece of piecesOf(existing, TABLES_A_STATEMENT)) {
    const parts = piece.map(
      (table) =>
        `SELECT '${table}' AS name, count(*) AS total, count(_deleted_at) AS deleted FROM ${dialect.relation(table)}`,
    );
    for (const row of await session.query(parts.join(' UNION ALL '))) {
      const deletedRows = numberOf(row, 'deleted');
      counts.set(textOf(row, 'name'), {
        rows: numberOf(row, 'total') - deletedRows,
        deletedRows,
      });
    }
  }
  return counts;
}

async function countRejected(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<Map<string, number>> {
  const rows = await session.query(
    `SELECT form_id, count(*) AS total FROM ${dialect.relation('mirror_rejected')} GROUP BY form_id`,
  );
  return new Map(rows.map((row) => [textOf(row, 'form_id'), numberOf(row, 'total')]));
}
