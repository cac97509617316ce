import { printable } from '../../../base/printable.ts';
import type { Relation } from '../../../mirror/port.ts';
import { inSavepoint, literal, quoted, type Session, textOf } from '../dialect.ts';
import { readRecord, writeRecord } from '../schema.ts';

/** The record of our comments, by the object that they describe. */
const KEPT = 'comments';

/**
 * Describes tables, columns and views, which tools such as Metabase show. A comment that a person wrote stays. Without the right
 * to write them there are none: they say nothing that is not in `docs/sql.md`.
 */
export async function comment(tx: Session, relations: readonly Relation[]): Promise<void> {
  const kept = (await readRecord(tx, KEPT))?.value as Record<string, string> | undefined;
  const ours = new Map(Object.entries(kept ?? {}));
  const present = await readComments(tx);
  const next = new Map<string, string>();
  const statements: string[] = [];
  for (const [thing, text] of textsOf(relations, present)) {
    const now = present.get(thing) ?? null;
    if (now !== null && now !== ours.get(thing)) continue;
    next.set(thing, text);
    if (now !== text) statements.push(`COMMENT ON ${thing} IS ${literal(text)}`);
  }
  if (statements.length === 0) return;
  try {
    await inSavepoint(tx, async () => {
      for (const statement of statements) await tx.run(statement);
      await writeRecord(tx, KEPT, Object.fromEntries(next), true);
    });
  } catch {
    // See above.
  }
}

/** What each relation that is there, and each column that is wanted, is to say: by its name in `COMMENT ON`. */
function* textsOf(
  relations: readonly Relation[],
  present: ReadonlyMap<string, string | null>,
): Generator<[thing: string, text: string]> {
  for (const { name, description, columns } of relations) {
    for (const kind of ['TABLE', 'VIEW']) {
      const thing = `${kind} ${quoted(name)}`;
      if (present.has(thing)) yield [thing, printable(description)];
    }
    for (const column of columns) {
      const thing = columnOf(name, column.name);
      if (present.has(thing)) yield [thing, printable(column.description)];
    }
  }
}

const columnOf = (relation: string, column: string): string =>
  `COLUMN ${quoted(relation)}.${quoted(column)}`;

/** The comments of all tables, views and columns of the schema, by their names in `COMMENT ON`. */
async function readComments(tx: Session): Promise<Map<string, string | null>> {
  const rows = await tx.query(
    `SELECT CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END AS kind, c.relname AS name, a.attname AS column, d.description AS text
     FROM pg_class AS c
     CROSS JOIN LATERAL (SELECT 0 AS number, NULL AS attname UNION ALL
       SELECT attnum, attname FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS a
     LEFT JOIN pg_description AS d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = a.number
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'v')`,
  );
  return new Map(
    rows.map((row) => {
      const { name, column, text } = row;
      const thing =
        column === null
          ? `${textOf(row['kind'])} ${quoted(textOf(name))}`
          : columnOf(textOf(name), textOf(column));
      return [thing, text === null ? null : textOf(text)];
    }),
  );
}
