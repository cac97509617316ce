import {
  type Batch,
  numberOf,
  type Param,
  quoted,
  type Session,
  textOf,
  type VersionPlan,
} from '../database.ts';
import { SWALLOWED } from '../savepoint.ts';

/** A transaction that can take rows by COPY. */
export interface CopyingSession extends Session {
  copy(sql: string, parts: Iterable<string>): Promise<void>;
}

const STAGE = '_mirror_stage';
const TYPES = { number: 'numeric', text: 'text', json: 'jsonb' } as const;
const PART_CHARACTERS = 65_536;
const SPECIAL = /[\\\n\r\t]/;
const EACH_SPECIAL = /[\\\n\r\t]/g;
/** What the text format of COPY gives a meaning to. */
const ESCAPED: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/**
 * COPY into a temporary table, then one statement. Each row is looked up by its key (`OFFSET 0`): of a table that was just filled
 * the planner knows nothing. Rows that are the same are not even locked.
 */
export async function upsert(
  tx: Session,
  batch: Batch,
  versions: VersionPlan,
): Promise<{ inserted: number; updated: number }> {
  const { table, columns, rows, at } = batch;
  const staged = [
    'id text',
    'status text',
    'created_at timestamptz',
    ...columns.map(({ name, type }) => `${quoted(name)} ${TYPES[type]}`),
  ];
  await tx.run(`DROP TABLE IF EXISTS ${STAGE}`);
  await tx.run(`CREATE TEMP TABLE ${STAGE} (${staged.join(', ')}) ON COMMIT DROP`);
  await (tx as CopyingSession).copy(`COPY ${STAGE} FROM STDIN`, copyText(rows));
  const to = quoted(table);
  const names = ['status', 'created_at', ...columns.map(({ name }) => quoted(name))];
  const held = `LATERAL (SELECT * FROM ${to} AS i WHERE i.id = s.id OFFSET 0) AS t`;
  const differs = `(${names.map((name) => `t.${name}`).join(', ')}) IS DISTINCT FROM (${names.map((name) => `s.${name}`).join(', ')})`;
  await keepVersions(
    tx,
    versions,
    at,
    `${STAGE} AS s, ${held}`,
    versions.answers === null
      ? 't.status <> s.status'
      : `(t._deleted_at IS NOT NULL OR ${differs})`,
  );
  const [counts] = await tx.query(
    `WITH stored AS (
      INSERT INTO ${to} (id, ${names.join(', ')}, _first_seen_at, _changed_at)
      SELECT s.id, ${names.map((name) => `s.${name}`).join(', ')}, $1::timestamptz, $1::timestamptz
      FROM ${STAGE} AS s LEFT JOIN ${held} ON true
      WHERE t.id IS NULL OR t._deleted_at IS NOT NULL OR ${differs}
      ON CONFLICT (id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')},
        _changed_at = excluded._changed_at, _deleted_at = NULL
      RETURNING (xmax = 0) AS is_new
    ) SELECT count(*) AS n, count(*) FILTER (WHERE is_new) AS inserted FROM stored`,
    [at],
  );
  await requireStored(tx, to, held, differs);
  const inserted = numberOf(counts?.['inserted']);
  return { inserted, updated: numberOf(counts?.['n']) - inserted };
}

/** A trigger that people added may have swallowed or changed rows: then the target has failed, and they are not equal. */
async function requireStored(
  tx: Session,
  to: string,
  held: string,
  differs: string,
): Promise<void> {
  const triggers = await tx.query(
    'SELECT 1 FROM pg_trigger WHERE tgrelid = to_regclass($1) AND NOT tgisinternal LIMIT 1',
    [to],
  );
  if (triggers.length === 0) return;
  const [left] = await tx.query(
    `SELECT count(*) AS n FROM ${STAGE} AS s LEFT JOIN ${held} ON true WHERE t.id IS NULL OR t._deleted_at IS NOT NULL OR ${differs}`,
  );
  if (numberOf(left?.['n']) > 0)
    throw Object.assign(new Error(`a trigger of the table ${to} swallows or changes rows`), {
      code: SWALLOWED,
    });
}

export async function markDeleted(
  tx: Session,
  { table, at, ids }: { table: string; at: string; ids: readonly string[] },
  versions: VersionPlan,
): Promise<number> {
  const to = quoted(table);
  if (versions.answers !== null)
    await keepVersions(
      tx,
      versions,
      at,
      `${to} AS t`,
      't._deleted_at IS NULL AND t.id IN (SELECT jsonb_array_elements_text($4::jsonb))',
      [ids],
    );
  return tx.run(
    `UPDATE ${to} SET _deleted_at = $1, _changed_at = $1 WHERE _deleted_at IS NULL AND id IN (SELECT jsonb_array_elements_text($2::jsonb))`,
    [at, ids],
  );
}

/** Versions that end: the rows of `t` in `from` that meet a condition. */
async function keepVersions(
  tx: Session,
  { formId, notBefore, answers }: VersionPlan,
  at: string,
  from: string,
  where: string,
  more: readonly Param[] = [],
): Promise<void> {
  const kept =
    answers === null
      ? 'NULL'
      : `(to_jsonb(t) - ARRAY['id', 'status', 'created_at', '_first_seen_at', '_changed_at', '_deleted_at'])::text`;
  await tx.run(
    `INSERT INTO _mirror_versions (form_id, submission_id, until, not_before, status, created_at, deleted_at, answers)
     SELECT $1, t.id, $2::timestamptz, $3::timestamptz, t.status, t.created_at, t._deleted_at, ${kept} FROM ${from} WHERE ${where}
     ON CONFLICT DO NOTHING`,
    [formId, at, notBefore, ...more],
  );
}

/** The rows in the text format of COPY, in parts. */
function* copyText(rows: Batch['rows']): Generator<string> {
  let part = '';
  for (const row of rows) {
    for (let at = 0; at < row.length; at++) {
      if (at > 0) part += '\t';
      const value = row[at];
      if (value === null || value === undefined) part += '\\N';
      else {
        const text = textOf(value);
        part += SPECIAL.test(text)
          ? text.replace(EACH_SPECIAL, (each) => ESCAPED[each] ?? each)
          : text;
      }
    }
    part += '\n';
    if (part.length < PART_CHARACTERS) continue;
    yield part;
    part = '';
  }
  if (part !== '') yield part;
}
