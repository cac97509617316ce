import { printable } from '../../../base/printable.ts';
import { inSavepoint, quoted, type SqlSession, textOf } from '../sql-session.ts';
import {
  MAX_DATE_LENGTH,
  type RelationTexts,
  type ViewDefinition,
  type ViewItem,
  type ViewSql,
} from '../view-sql.ts';
import { isBlockedByDependants, isConnectionLost, isLockTimeout } from './postgres-errors.ts';
import { literal, qualified } from './postgres-names.ts';
import { postgresColumns } from './postgres-tables.ts';
import { grantsOn } from './postgres-types.ts';
import { isOwnView } from './postgres-view.ts';

/** How long making a view may wait for whoever reads it, and keep further readers waiting: the next pass tries again. */
const HURRY = '500ms';

/** How long a comment may wait. */
const PATIENCE = '3s';

/** What a view that can't be replaced in {@link HURRY} says. */
const READ_MEANWHILE = {
  what: 'a transaction that is still open reads it',
  remedy:
    'End that transaction: pg_stat_activity lists it, often as "idle in transaction"; a database client that is set to commit by itself leaves none open.',
};

const MONTH_AND_DAY =
  '((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))';
const LEAP_YEAR = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)';
const DAY = `(?!0000)([0-9]{4}-${MONTH_AND_DAY}|${LEAP_YEAR}-02-29)`;
const TIME = '[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?';
const OFFSET = '([Zz]|[+-](0[0-9]|1[0-4]):[0-5][0-9])';

/** With an offset, one of these may be in a year that has not four digits in UTC, which most drivers can't read. */
const FAR_DAYS = '(?!0001-01-01|9999-12-31)';

/**
 * See {@link ViewSql}. No cast is tried that could fail: one such text would fail every query. Digits beyond microseconds are
 * cut off, as a time that is rounded up may be in the year 10000.
 */
function dateOf(text: string): string {
  const is = (pattern: string): string =>
    `WHEN length(${text}) <= ${MAX_DATE_LENGTH} AND ${text} ~ '^${pattern}$' THEN`;
  const cut = `regexp_replace(${text}, '(?<=[.][0-9]{6})[0-9]+', '')`;
  return `CASE ${is(`${DAY}(${TIME})?`)} ${cut}::timestamp ${is(`${FAR_DAYS}${DAY}${TIME}${OFFSET}`)} ${cut}::timestamptz AT TIME ZONE 'UTC' END`;
}

/*
 * The overflow column holds a list as a text, which a cast takes only where it is JSON, and PostgreSQL before 16 can't be asked
 * whether it is. So texts and numbers in it become `""` and `0`, then lists and objects of these, the innermost first, become
 * `0` until the list itself is left. Whatever is no JSON stays, and so does what a jsonb refuses: half a character, U+0000, and
 * numbers of very many digits.
 */
const STRING = String.raw`"(?:[^"\\\x01-\x1f]|\\["\\/bfnrt]|\\u00(?:0[1-9a-fA-F]|[1-7][0-9a-fA-F]))*"`;
const NUMBER =
  '-?(?:0|[1-9][0-9]{0,250})(?:[.][0-9]{1,250})?(?:[eE][+-]?[0-9]{1,4})?|true|false|null';
const INNER_LIST = String.raw`\[(?:(?:0|"")(?:,(?:0|""))*)?\]`;
const INNER_OBJECT = String.raw`\{(?:"":(?:0|"")(?:,"":(?:0|""))*)?\}`;

/** How deep lists and objects in a list go, itself included. Choices are texts, seldom objects. */
const DEPTH = 4;

/** A jsonb of some short numbers is many times larger than its text, and has a limit. */
const MAX_LIST_LENGTH = 10_000_000;

/** Whether a text is a list that a cast to jsonb takes for certain. */
function isList(text: string): string {
  const without = (from: string, pattern: string, by: string): string =>
    `regexp_replace(${from}, ${literal(pattern)}, '${by}', 'g')`;
  let plain = without(without(text, STRING, '""'), NUMBER, '0');
  for (let depth = 1; depth < DEPTH; depth++)
    plain = without(plain, `${INNER_LIST}(?=.)|${INNER_OBJECT}`, '0');
  return `CASE WHEN left(${text}, 1) = '[' AND length(${text}) <= ${MAX_LIST_LENGTH} THEN ${plain} ~ ${literal(`^${INNER_LIST}$`)} ELSE false END`;
}

/** A jsonb to unnest, given what a form holds in the place of one. */
function unnested(list: string, areInMore: boolean): string {
  const array = `CASE jsonb_typeof(l.list) WHEN 'array' THEN l.list`;
  const one = 'ELSE jsonb_build_array(l.list) END';
  if (!areInMore)
    return `LATERAL (SELECT ${list} AS list) AS l CROSS JOIN LATERAL jsonb_array_elements(${array} ${one})`;
  const text = "(l.list #>> '{}')";
  // What looks at the list so often has it from a subquery that is not taken apart.
  return `LATERAL (SELECT ${list} AS list OFFSET 0) AS l CROSS JOIN LATERAL jsonb_array_elements(${array} WHEN 'string' THEN CASE WHEN ${isList(text)} THEN ${text}::jsonb ${one} ${one})`;
}

/** How PostgreSQL writes the views over all forms, in one schema. */
export function postgresViews(schema: string): ViewSql {
  const underKey = (key: string): string => `t._more -> '${key}'`;
  const textUnder = (key: string): string => `t._more ->> '${key}'`;
  return {
    literal: (text) => `CAST(${literal(text)} AS text)`,
    numberText: (number) => `${number}::text`,
    textOf: (value) => value,
    one: '1::bigint',
    noNumber: 'NULL::numeric',
    noText: 'NULL::text',
    overflow: {
      text: textUnder,
      number: (key) =>
        `CASE jsonb_typeof(${underKey(key)}) WHEN 'number' THEN (${textUnder(key)})::numeric END`,
      list: (key) => `to_jsonb(${textUnder(key)})`,
    },
    elements: (list, areInMore) => ({
      from: `${unnested(list, areInMore)} WITH ORDINALITY AS e(value, place)`,
      index: 'e.place',
      text: `e.value #>> '{}'`,
      number: `CASE jsonb_typeof(e.value) WHEN 'number' THEN (e.value #>> '{}')::numeric END`,
    }),
    dateOf,

    /** Nobody who reads or writes rows waits for it; what tidies the table gives way within a second. */
    async describe(tx, relations) {
      const statements = relations.flatMap((texts) =>
        comments(qualified(schema, texts.name), texts),
      );
      const all = [`SET LOCAL lock_timeout = '${PATIENCE}'`, ...statements].join('; ');
      try {
        await inSavepoint(tx, () => tx.exec(all));
      } catch (error) {
        // A table that people gave to another role, or keep locked, goes without.
        if (isConnectionLost(error)) throw error;
      }
    },

    hurry: (tx) => tx.exec(`SET LOCAL lock_timeout = '${HURRY}'`),
    /** A rule is written anew with its view; a table that a view reads is not dropped without it. */
    async states(session, left) {
      const rows = await session.query(
        `SELECT c.relname AS name, c.oid::text || ' ' || r.xmin::text AS state
         FROM pg_class AS c JOIN pg_rewrite AS r ON r.ev_class = c.oid AND r.rulename = '_RETURN'
         WHERE c.relnamespace = to_regnamespace($1) AND c.relname = ANY($2::text[]) AND c.relkind = 'v'`,
        [quoted(schema), [...left.keys()]],
      );
      return new Map(rows.map((row) => [textOf(row, 'name'), textOf(row, 'state')]));
    },
    async isOwn(tx, name, { required, possible, mark }) {
      const present = await postgresColumns(tx, qualified(schema, name));
      return (
        present !== undefined &&
        required.every((column) => present.includes(column)) &&
        present.every((column) => possible.includes(column)) &&
        (await isOwnView(tx, qualified(schema, name), mark))
      );
    },
    put: (tx, name, view) => putView(tx, schema, name, view),
    describeFailure: (error) => (isLockTimeout(error) ? READ_MEANWHILE : undefined),
  };
}

/** In place where that goes. A column that has another type by now needs the view to be made again, which what depends on it forbids. */
async function putView(
  tx: SqlSession,
  schema: string,
  name: string,
  view: ViewDefinition,
): Promise<boolean> {
  const relation = qualified(schema, name);
  const present = (await postgresColumns(tx, relation)) ?? [];
  const grants = await grantsOn(tx, schema, name);
  const inPlace = (): Promise<void> =>
    tx.exec(`CREATE OR REPLACE VIEW ${relation} AS ${selection(view, present)}`);
  const madeAgain = async (): Promise<void> => {
    await tx.exec(`DROP VIEW ${relation}; CREATE VIEW ${relation} AS ${selection(view, [])}`);
    for (const grant of grants) await tx.exec(grant);
  };
  const columns = view.items.map(({ name: column, description }) => [column, description]);
  const texts = { name, kind: 'view', description: view.description } as const;
  const described = { ...texts, columns: Object.fromEntries(columns) };
  for (const attempt of present.length === 0 ? [inPlace] : [inPlace, madeAgain]) {
    try {
      await inSavepoint(tx, async () => {
        await attempt();
        await tx.exec(comments(relation, described).join('; '));
      });
      return true;
    } catch (error) {
      if (!isBlockedByDependants(error)) throw error;
    }
  }
  return false;
}

/** The view's query: what it has already comes first, in its order. */
function selection({ items, from }: ViewDefinition, present: readonly string[]): string {
  const byName = new Map(items.map((item) => [item.name, item]));
  const kept = present.map((name) => byName.get(name)).filter((item) => item !== undefined);
  const order = new Set<ViewItem>([...kept, ...items]);
  const list = [...order].map(({ name, expression }) => `${expression} AS ${quoted(name)}`);
  return `SELECT ${list.join(', ')} FROM ${from}`;
}

const comments = (relation: string, { kind, description, columns }: RelationTexts): string[] => [
  `COMMENT ON ${kind.toUpperCase()} ${relation} IS ${literal(printable(description))}`,
  ...Object.entries(columns).map(
    ([name, text]) =>
      `COMMENT ON COLUMN ${relation}.${quoted(name)} IS ${literal(printable(text))}`,
  ),
];
