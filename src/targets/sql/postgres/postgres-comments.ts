import { printable } from '../../../base/printable.ts';
import type { Relation } from '../../../mirror/port.ts';
import { inSavepoint, isTrue, type Session, textOf } from '../dialect.ts';
import { readRecord, writeRecord } from '../schema.ts';

/** The record of our comments, by the object that they describe. */
const KEPT = 'comments';

/** Of the wanted texts ($1) those for which there is something without a comment, or with ours ($2), and how they are written. */
const OPEN = `SELECT t.thing, w.text, d.description IS DISTINCT FROM w.text AS is_new, format('COMMENT ON %s IS %L', t.thing, w.text) AS write
  FROM jsonb_to_recordset($1::jsonb) AS w(relation text, col text, text text)
  JOIN pg_class AS c ON c.relname = w.relation AND c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'v')
  LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = w.col AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_description AS d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = coalesce(a.attnum, 0)
  CROSS JOIN LATERAL (SELECT CASE WHEN w.col IS NOT NULL THEN format('COLUMN %I.%I', w.relation, w.col)
    WHEN c.relkind = 'v' THEN format('VIEW %I', w.relation) ELSE format('TABLE %I', w.relation) END AS thing) AS t
  WHERE (w.col IS NULL OR a.attnum IS NOT NULL) AND (d.description IS NULL OR d.description = $2::jsonb ->> t.thing)`;

/**
 * Describes tables, columns and views, which tools such as Metabase show. A comment that a person wrote stays. Without the right
 * to write them there are none: they say nothing that is not in `docs/sql.md`.
 */
export async function comment(tx: Session, relations: readonly Relation[]): Promise<void> {
  const wanted = relations.flatMap(({ name: relation, description, columns }) => [
    { relation, col: null, text: printable(description) },
    ...columns.map(({ name: col, description: text }) => ({
      relation,
      col,
      text: printable(text),
    })),
  ]);
  const ours = (await readRecord(tx, KEPT))?.value ?? {};
  const open = await tx.query(OPEN, [JSON.stringify(wanted), JSON.stringify(ours)]);
  const next = open.filter(({ is_new: isNew }) => isTrue(isNew));
  if (next.length === 0) return;
  try {
    await inSavepoint(tx, async () => {
      for (const { write } of next) await tx.run(textOf(write));
      const kept = open.map(({ thing, text }) => [textOf(thing), text]);
      await writeRecord(tx, KEPT, Object.fromEntries(kept), true);
    });
  } catch {
    // See above.
  }
}
