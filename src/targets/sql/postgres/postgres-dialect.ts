import { printable } from '../../../base/printable.ts';
import {
  columnsOf,
  type Comment,
  type Dialect,
  formTable,
  inSavepoint,
  isTrue,
  type Param,
  quoted,
  type Session,
  textOf,
} from '../dialect.ts';
import { STAGE, type Staging } from '../write-rows.ts';
import { describePostgresError } from './postgres-errors.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { postgresViews, REFUSED_IN_JSON } from './postgres-views.ts';

/** Few parts, because each is sent separately, but of limited size, as JavaScript strings are. */
const PART_CHARACTERS = 1_048_576;
const SPECIAL = /[\\\n\r\t]/;
const EACH_SPECIAL = /[\\\n\r\t]/g;
/** Characters with a meaning in the text format of COPY. */
const ESCAPED: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/**
 * The row with an ID. Each is looked up by its key (`OFFSET 0`), because the planner has no statistics about a table that was just
 * filled.
 */
const held = (to: string): string =>
  `LATERAL (SELECT * FROM ${to} AS i WHERE i.id = s.id OFFSET 0) AS t`;

/** COPY into a temporary table, then one upsert. Equal rows are not even locked. */
const STAGING: Staging = {
  stage: `pg_temp.${STAGE}`,
  async make(tx, columns) {
    await tx.run(
      `DROP TABLE IF EXISTS ${STAGE}; CREATE TEMPORARY TABLE ${STAGE} (${columns}) ON COMMIT DROP`,
    );
  },
  pack: copyLine,
  load: (tx, { into, names, rows, same }) =>
    (tx as PostgresConnection).copy(
      `COPY ${into} (${names.join(', ')}) FROM STDIN`,
      copyParts(rows as readonly string[], same),
    ),
  joined: (to) => `${STAGE} AS s LEFT JOIN ${held(to)} ON true`,
  matched: (to) => `${STAGE} AS s, ${held(to)}`,
  differs: (names) =>
    `(${names.map((name) => `t.${name}`).join(', ')}) IS DISTINCT FROM (${names.map((name) => `s.${name}`).join(', ')})`,
  mayAlter: true,
  answers: () =>
    `(to_jsonb(t) - ARRAY['id', 'status', 'created_at', '_first_seen_at', '_changed_at', '_deleted_at'])::text`,
};

/** How long a statement waits for a lock that a person holds. */
export const LOCK_TIMEOUT = '5s';

/** The dialect of PostgreSQL. Every value is read as the text that the server sends, so numbers keep all their digits. */
export const postgresDialect: Dialect = {
  product: 'PostgreSQL',
  version: "current_setting('server_version')",
  types: {
    number: 'numeric',
    text: 'text',
    json: 'jsonb',
    time: 'timestamptz',
    integer: 'bigint',
    key: 'text',
    id: 'text',
    word: 'text',
  },
  // A row must fit into a page of 8 kB. Values longer than 24 bytes leave a pointer of 18 bytes.
  maxColumns: 300,
  takesNul: false,

  timeParam: (time) => time,
  isoOf: (expression) => `to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS')`,
  among: (expression, param) =>
    `${expression} IN (SELECT jsonb_array_elements_text(${param}::jsonb))`,
  /** Each statement sees what others have committed before it, so two transactions could disagree about which views are ours. */
  async alone(tx) {
    // Here the mirror's own workers wait for each other, which may take longer than a person's lock.
    await tx.run(
      `SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(hashtextextended('forms-mirror ' || current_schema(), 0));
       SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`,
    );
  },

  columnsQuery: `SELECT t.name AS relation, a.attname AS name FROM jsonb_array_elements_text($1::jsonb) AS t(name)
    JOIN pg_attribute AS a ON a.attrelid = to_regclass(quote_ident(t.name)) WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
  // A table also makes a type with its name.
  relationsQuery: `SELECT relname AS name, CASE WHEN relkind = 'v' THEN 'view' WHEN relkind IN ('r', 'p', 'm', 'f') THEN 'table' END AS kind
    FROM pg_class WHERE relnamespace = quote_ident(current_schema())::regnamespace
    UNION ALL SELECT typname, NULL FROM pg_type WHERE typnamespace = quote_ident(current_schema())::regnamespace AND typrelid = 0`,

  exact: (digits) => digits,
  refusedJson: new RegExp(REFUSED_IN_JSON),
  staging: STAGING,
  views: postgresViews,
  formTable,
  /** Replaces the view in place, which keeps its owner, the rights on it, comments, and views built on it. */
  async putView(tx, name, select) {
    // Replacing a view would otherwise take away its options, such as security_invoker.
    const [present] = await tx.query(OPTIONS, [name]);
    const options = present === undefined ? '' : `WITH (${textOf(present['options'])})`;
    const create = `VIEW ${quoted(name)} ${options} AS ${select}`;
    // An open transaction that has read the view blocks this. Wait only briefly: the next run tries again.
    await tx.run(`SET LOCAL lock_timeout = '2s'`);
    const replace = (): Promise<number> => tx.run(`CREATE OR REPLACE ${create}`);
    await inSavepoint(tx, replace).catch(() =>
      inSavepoint(tx, async () => {
        await renameColumns(tx, name, select);
        await replace();
      }),
    );
  },
  async dropView(tx, name) {
    await tx.run(`SET LOCAL lock_timeout = '2s'`);
    await inSavepoint(tx, () => tx.run(`DROP VIEW ${quoted(name)}`));
  },
  comment,
  describe: describePostgresError,
};

/** The options of a view ($1), unless it has none. */
const OPTIONS = `SELECT array_to_string(reloptions, ', ') AS options FROM pg_class
  WHERE oid = to_regclass(quote_ident($1)) AND reloptions IS NOT NULL`;

/**
 * Gives the columns of a view the names that they have in a query that shows the same columns, and perhaps more at the end. Views
 * of people go on reading the same columns.
 */
async function renameColumns(tx: Session, view: string, select: string): Promise<void> {
  await tx.run(`CREATE TEMPORARY VIEW ${WANTED} AS ${select}`);
  const names = [...(await columnsOf(tx, WANTED))];
  const renamed = [...(await columnsOf(tx, view))].flatMap((was, at) => {
    const name = names[at];
    return name === undefined || name === was ? [] : [{ was, between: `_mirror_${at}`, name }];
  });
  const rename = (from: string, to: string): Promise<number> =>
    tx.run(`ALTER VIEW ${quoted(view)} RENAME COLUMN ${quoted(from)} TO ${quoted(to)}`);
  // Two columns may exchange their names.
  for (const { was, between } of renamed) await rename(was, between);
  for (const { between, name } of renamed) await rename(between, name);
  const [compared] = await tx.query(IS_EXTENDED, [view]);
  if (!isTrue(compared?.['is_extended'])) throw new Error('its columns were changed');
  await tx.run(`DROP VIEW ${WANTED}`);
}

const WANTED = '_mirror_wanted';
/** Whether that view selects what a view ($1) selects, and perhaps more at the end. */
const IS_EXTENDED = `SELECT starts_with(pg_get_viewdef('${WANTED}'::regclass),
  split_part(pg_get_viewdef(to_regclass(quote_ident($1))), E'\\n   FROM ', 1)) AS is_extended`;

/** A row in the text format of COPY, without the line end. */
function copyLine(values: readonly Param[]): string {
  let line = '';
  for (let at = 0; at < values.length; at++) {
    if (at > 0) line += '\t';
    const value = values[at];
    if (value === null || value === undefined) line += '\\N';
    else {
      const text = textOf(value);
      line += SPECIAL.test(text)
        ? text.replace(EACH_SPECIAL, (each) => ESCAPED[each] ?? each)
        : text;
    }
  }
  return line;
}

/** Lines in parts. `same`: the end of each line. */
function* copyParts(lines: readonly string[], same: readonly string[]): Generator<Buffer> {
  const end = `${same.map((value) => `\t${value}`).join('')}\n`;
  let part = '';
  for (const line of lines) {
    part += line + end;
    if (part.length < PART_CHARACTERS) continue;
    yield Buffer.from(part);
    part = '';
  }
  if (part !== '') yield Buffer.from(part);
}

/** Statements that comment on relations and columns that have no comment, or a former one of ours, from the wanted texts ($1). */
const COMMENTS = `SELECT format('COMMENT ON %s IS %L', CASE WHEN w."column" IS NOT NULL THEN format('COLUMN %I.%I', w.relation, w."column")
    WHEN c.relkind = 'v' THEN format('VIEW %I', w.relation) ELSE format('TABLE %I', w.relation) END, w.text) AS write
  FROM jsonb_to_recordset($1::jsonb) AS w(relation text, "column" text, text text, former jsonb)
  JOIN pg_class AS c ON c.relname = w.relation AND c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind IN ('r', 'v')
  LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = w."column" AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_description AS d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = coalesce(a.attnum, 0)
  WHERE (w."column" IS NULL OR a.attnum IS NOT NULL)
    AND (d.description IS NULL OR (d.description <> w.text AND w.former ? d.description))`;

/** Describes tables, columns and views, for tools such as Metabase. People's comments stay. Without the right to do so it does nothing. */
async function comment(tx: Session, comments: readonly Comment[]): Promise<void> {
  const wanted = comments.map((each) => ({
    ...each,
    text: printable(each.text),
    former: each.former.map(printable),
  }));
  const missing = await tx.query(COMMENTS, [JSON.stringify(wanted)]);
  if (missing.length === 0) return;
  const write = missing.map((row) => textOf(row['write'])).join('; ');
  await inSavepoint(tx, () => tx.run(write)).catch(() => {});
}
