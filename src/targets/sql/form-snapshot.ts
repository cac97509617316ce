import { viewLabels } from '../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import type { FormSnapshot, SnapshotColumn, SnapshotRows } from '../../mirror/snapshot.ts';
import type { Cell } from '../../mirror/types.ts';
import { answerReader } from './answer-parts.ts';
import type { SqlDialect } from './dialect.ts';
import { type FormTable, MORE_COLUMN } from './field-column.ts';
import type { SqlConnection, SqlSession, SqlValue } from './sql-session.ts';

/** Rows of one piece. */
const ROWS_A_PIECE = 1_000;

/** A session that sees the database as it was when it was opened, and changes nothing. Dispose to close it. */
export interface SqlSnapshot extends AsyncDisposable {
  readonly session: SqlSession;
}

/** A transaction that reads and lasts until it is disposed of, in a connection of its own. `begin`: the statements that start it. */
export async function beginSnapshot(
  session: SqlConnection,
  begin: readonly string[],
): Promise<SqlSnapshot> {
  try {
    for (const statement of begin) await session.exec(statement);
  } catch (error) {
    await session.close();
    throw error;
  }
  return {
    session,
    async [Symbol.asyncDispose]() {
      await session.exec('ROLLBACK').catch(() => {});
      await session.close();
    },
  };
}

/** What {@link formSnapshot} reads. */
export interface SnapshotPlace {
  readonly dialect: SqlDialect;
  readonly snapshot: SqlSnapshot;
  readonly form: FormTable;
  /** The columns that its table has. */
  readonly present: ReadonlySet<string>;
  /** Has errors of the driver thrown as MirrorErrors. */
  readonly guarded: <T>(read: () => Promise<T>) => Promise<T>;
}

/** {@link FormSnapshot} over SQL: rows by date, the oldest first, those without a date after them. */
export function formSnapshot(place: SnapshotPlace): FormSnapshot {
  const { dialect, form, present, snapshot } = place;
  const fields = form.fields.filter(({ storage, column }) =>
    present.has(storage === 'more' ? MORE_COLUMN : column),
  );
  const answers = answerReader(fields, present, dialect);
  const system = SYSTEM_COLUMNS.filter((name) => present.has(name));
  const [before, after] = [
    system.filter((name) => !name.startsWith('_')),
    system.filter((name) => name.startsWith('_')),
  ];
  const labels = viewLabels(fields, SYSTEM_COLUMNS, Number.POSITIVE_INFINITY);
  const columns: SnapshotColumn[] = [
    ...before.map(named),
    ...fields.map(({ column }, index) => ({ name: column, label: labels[index] ?? column })),
    ...after.map(named),
  ];
  const select = [
    ...[...before, ...after].map((name) =>
      isTime(name) ? `${dialect.timeText(name)} AS ${name}` : name,
    ),
    ...answers.columns,
  ];
  const decode = (values: readonly unknown[]): Cell[] => {
    const own = system.map((name, index) => systemCell(dialect, name, values[index]));
    const cells = answers.decode(values.slice(system.length));
    return [...own.slice(0, before.length), ...cells, ...own.slice(before.length)];
  };
  return {
    columns,
    isOneInstant: true,
    async *rows({ withDeleted }: SnapshotRows) {
      for (const { condition, keys } of partsOf(present, withDeleted)) {
        const at = keys.map((key) => system.findIndex((name) => name === key));
        let last: unknown[] | undefined;
        do {
          const query = pageQuery(
            place,
            { select, condition, keys },
            last && at.map((one) => last?.[one]),
          );
          const values = await place.guarded(() =>
            snapshot.session.queryArrays(query.sql, query.params),
          );
          if (values.length > 0) yield values.map(decode);
          last = values.length < ROWS_A_PIECE ? undefined : values.at(-1);
        } while (last !== undefined);
      }
    },
    [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
  };
}

const named = (name: string): SnapshotColumn => ({ name, label: name });

const isTime = (name: string): boolean => name.endsWith('_at');

const systemCell = (dialect: SqlDialect, name: string, value: unknown): Cell =>
  isTime(name) ? dialect.time(value) : typeof value === 'string' ? value : null;

/** Rows that are read one page after the other, in the order of these columns. */
interface Part {
  readonly condition: string;
  readonly keys: readonly ('created_at' | 'id')[];
}

/** All rows, each in one part; those that are not deleted by the index on their dates. */
function partsOf(present: ReadonlySet<string>, withDeleted: boolean): Part[] {
  const canBeDeleted = present.has('_deleted_at');
  const live = canBeDeleted ? '_deleted_at IS NULL' : '1 = 1';
  const parts: Part[] = present.has('created_at')
    ? [
        { condition: `${live} AND created_at IS NOT NULL`, keys: ['created_at', 'id'] },
        { condition: `${live} AND created_at IS NULL`, keys: ['id'] },
      ]
    : [{ condition: live, keys: ['id'] }];
  if (withDeleted && canBeDeleted)
    parts.push({ condition: '_deleted_at IS NOT NULL', keys: ['id'] });
  return parts;
}

/** The next page, behind the row with these keys. */
function pageQuery(
  { dialect, form }: SnapshotPlace,
  { select, condition, keys }: Part & { readonly select: readonly string[] },
  after: readonly unknown[] | undefined,
): { readonly sql: string; readonly params: readonly SqlValue[] } {
  const columns = keys.map((key) => `t.${key}`);
  const params = (after ?? [])
    .filter((value) => typeof value === 'string')
    .map((value, nth) => (keys[nth] === 'created_at' ? dialect.timeValue(value) : value));
  const marks = params.map((_, nth) => `$${nth + 1}`);
  const behind = params.length === 0 ? '' : `AND ${dialect.isBehind(columns, marks)}`;
  return {
    // Not by the names of the list, where a time is a text.
    sql: `SELECT ${select.join(', ')} FROM ${dialect.relation(form.table)} AS t
      WHERE ${condition} ${behind} ORDER BY ${columns.join(', ')} LIMIT ${ROWS_A_PIECE}`,
    params,
  };
}
