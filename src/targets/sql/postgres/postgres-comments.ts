import { printable } from '../../../base/printable.ts';
import { type Comment, inSavepoint, type Session, textOf } from '../dialect.ts';

/** Comments on what has none, of the wanted texts ($1). */
const MISSING = `SELECT format('COMMENT ON %s IS %L', CASE WHEN w."column" IS NOT NULL THEN format('COLUMN %I.%I', w.relation, w."column")
    WHEN c.relkind = 'v' THEN format('VIEW %I', w.relation) ELSE format('TABLE %I', w.relation) END, w.text) AS write
  FROM jsonb_to_recordset($1::jsonb) AS w(relation text, "column" text, text text)
  JOIN pg_class AS c ON c.relname = w.relation AND c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'v')
  LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = w."column" AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_description AS d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = coalesce(a.attnum, 0)
  WHERE (w."column" IS NULL OR a.attnum IS NOT NULL) AND d.description IS NULL`;

/**
 * Describes tables, columns and views that have no comment, for tools such as Metabase. Without the right to write them there are none:
 * they say nothing that is not in `docs/sql.md`.
 */
export async function comment(tx: Session, comments: readonly Comment[]): Promise<void> {
  const wanted = comments.map((each) => ({ ...each, text: printable(each.text) }));
  const missing = await tx.query(MISSING, [JSON.stringify(wanted)]);
  if (missing.length === 0) return;
  const write = async (): Promise<void> => {
    for (const row of missing) await tx.run(textOf(row['write']));
  };
  // See above.
  await inSavepoint(tx, write).catch(() => {});
}
