import { printable } from '../../../base/printable.ts';
import { type SqlSession, textOf } from '../sql-session.ts';
import type { RelationTexts } from '../view-sql.ts';
import { isConnectionLost, LOCK_WAIT_TIMEOUT, numberOfError } from './mysql-errors.ts';
import { backticked, textLiteral } from './mysql-literal.ts';
import { sessionOf } from './mysql-locks.ts';
import { requireRoom } from './mysql-session.ts';
import { mysqlLabel } from './mysql-view.ts';

/** MySQL, MariaDB: most characters of the comment on a table, and on a column. */
const MAX_TABLE_COMMENT = 2_048;
const MAX_COLUMN_COMMENT = 1_024;

/** A column as the server knows it, without its comment. */
interface Column {
  /** What has to be said to leave it as it is; undefined where that is more than can be said here. */
  readonly definition: string | undefined;
  readonly comment: string;
}

/** By name of the table. */
type Comments = ReadonlyMap<
  string,
  { readonly comment: string; readonly columns: ReadonlyMap<string, Column> }
>;

/**
 * See {@link ViewSql.describe}; views have no comments. A comment on a column is a part of its definition, all of which has to be
 * said again: only where it is said so that the server has nothing to change but the comment. Other tables go without.
 */
export async function describeMysql(
  tx: SqlSession,
  relations: readonly RelationTexts[],
): Promise<void> {
  const tables = relations.filter(({ kind }) => kind === 'table');
  const session = sessionOf(tx);
  const known = await commentsOf(
    tx,
    tables.map(({ name }) => name),
    session.server.isMariaDb,
  );
  await session.hurry();
  for (const texts of tables) {
    const actions = actionsFor(texts, known);
    if (actions.length === 0) continue;
    const statement = `ALTER TABLE ${backticked(texts.name)} ${actions.join(', ')}, ALGORITHM=INSTANT`;
    try {
      requireRoom(session, Buffer.byteLength(statement));
      await tx.exec(statement);
    } catch (error) {
      if (isConnectionLost(error)) throw error;
      // Whoever reads in an open transaction is waited for once, as others wait behind.
      if (numberOfError(error) === LOCK_WAIT_TIMEOUT) return;
    }
  }
}

/** What is to be changed of a table for its comments to be these. */
function actionsFor({ name, description, columns }: RelationTexts, known: Comments): string[] {
  const present = known.get(name);
  if (present === undefined) return [];
  const comment = commentOf(description, MAX_TABLE_COMMENT);
  const own = present.comment === comment ? [] : [`COMMENT = ${textLiteral(comment)}`];
  const ofColumns = Object.entries(columns).flatMap(([column, text]) => {
    const { definition, comment: before } = present.columns.get(column) ?? {};
    const wanted = commentOf(text, MAX_COLUMN_COMMENT);
    return definition === undefined || before === wanted
      ? []
      : [`MODIFY COLUMN ${definition} COMMENT ${textLiteral(wanted)}`];
  });
  return [...own, ...ofColumns];
}

/** Comments have no characters beyond the Basic Multilingual Plane, and are literals: without `\`, see {@link textLiteral}. */
const commentOf = (text: string, maxLength: number): string =>
  mysqlLabel(printable(text)).replaceAll('\\', '\uFF3C').slice(0, maxLength);

async function commentsOf(
  tx: SqlSession,
  tables: readonly string[],
  isMariaDb: boolean,
): Promise<Comments> {
  const ofTables = await tx.query(
    `SELECT table_name AS name, table_comment AS comment FROM information_schema.tables
     WHERE table_schema = database() AND table_type = 'BASE TABLE' AND table_name IN ($1)`,
    [tables],
  );
  const ofColumns = await tx.query(
    `SELECT table_name AS relation, column_name AS name, column_comment AS comment, column_type AS type,
       coalesce(collation_name, '') AS collation,
       coalesce(concat(' CHARACTER SET ', character_set_name, ' COLLATE ', collation_name), '') AS texts,
       if(is_nullable = 'YES', 'NULL', 'NOT NULL') AS nullable,
       if(extra = '' AND coalesce(column_default, 'NULL') = 'NULL' AND coalesce(generation_expression, '') = '', 1, 0) AS plain
     FROM information_schema.columns WHERE table_schema = database() AND table_name IN ($1)`,
    [tables],
  );
  const checks = isMariaDb ? await checksOf(tx, tables) : new Map<string, string>();
  const byTable = Map.groupBy(ofColumns, (row) => textOf(row, 'relation'));
  return new Map(
    ofTables.map((row) => {
      const table = textOf(row, 'name');
      const columns = (byTable.get(table) ?? []).map((one): [string, Column] => {
        const name = textOf(one, 'name');
        const check = checks.get(checkKey(table, name));
        const isJson = check?.replaceAll(/[`"]/g, '') === `json_valid(${name})`;
        const type = isJson
          ? `json COLLATE ${textOf(one, 'collation')}`
          : `${textOf(one, 'type')}${textOf(one, 'texts')}`;
        const definition = `${backticked(name)} ${type} ${textOf(one, 'nullable')}`;
        const isPlain = one['plain'] === '1' && (isJson || check === undefined);
        return [
          name,
          { definition: isPlain ? definition : undefined, comment: textOf(one, 'comment') },
        ];
      });
      return [table, { comment: textOf(row, 'comment'), columns: new Map(columns) }];
    }),
  );
}

/**
 * The checks that MariaDB keeps as parts of columns, under their names; MySQL has them beside. That of JSON comes with the type;
 * to say any other again would have the server test all rows.
 */
export async function checksOf(
  tx: SqlSession,
  tables: readonly string[],
): Promise<Map<string, string>> {
  const rows = await tx.query(
    `SELECT table_name AS relation, constraint_name AS name, check_clause AS clause
     FROM information_schema.check_constraints WHERE constraint_schema = database() AND table_name IN ($1)`,
    [tables],
  );
  return new Map(
    rows.map((row) => [
      checkKey(textOf(row, 'relation'), textOf(row, 'name')),
      textOf(row, 'clause'),
    ]),
  );
}

/** By what {@link checksOf} gives the check of a column. */
export const checkKey = (table: string, column: string): string => JSON.stringify([table, column]);
