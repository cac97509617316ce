import { SYSTEM_COLUMNS, viewLabels } from '../../mirror/column-names.ts';
import type { FormSnapshot, SnapshotColumn } from '../../mirror/port.ts';
import type { Cell } from '../../mirror/types.ts';
import { type Database, type Param, quoted, type SqlRow, textOf } from './database.ts';
import { decodeRow, MORE, ownColumns } from './fields.ts';
import { fieldsOf, readState, stateOf } from './states.ts';

const ROWS_A_PIECE = 1_000;

/** Rows that are read one page after the other, in the order of these columns. */
interface Part {
  readonly condition: string;
  readonly keys: readonly ('created_at' | 'id')[];
}

const LIVE: readonly Part[] = [
  { condition: '_deleted_at IS NULL AND created_at IS NOT NULL', keys: ['created_at', 'id'] },
  { condition: '_deleted_at IS NULL AND created_at IS NULL', keys: ['id'] },
];
const DELETED: Part = { condition: '_deleted_at IS NOT NULL', keys: ['id'] };

/** A form at one instant: rows by date, the oldest first, then rows without a date. Null without such a form. */
export async function formSnapshot(
  database: Database,
  formId: string,
): Promise<FormSnapshot | null> {
  const { dialect } = database;
  const session = await database.snapshot();
  try {
    const row = await readState(session, formId);
    if (row === undefined) {
      await session[Symbol.asyncDispose]();
      return null;
    }
    const { place } = stateOf(row);
    const present = await dialect.columnsOf(session, place);
    const fields = fieldsOf(row)
      .filter(({ column, isInMore }) => column !== null && present.has(isInMore ? MORE : column))
      .toSorted((a, b) => a.position - b.position);
    const names = [...new Set(fields.flatMap((field) => ownColumns(field, present)))];
    if (present.has(MORE)) names.push(MORE);
    const labels = viewLabels(fields, SYSTEM_COLUMNS, Number.POSITIVE_INFINITY);
    const [before, after] = [SYSTEM_COLUMNS.slice(0, 3), SYSTEM_COLUMNS.slice(3)];
    const columns: SnapshotColumn[] = [
      ...before.map(named),
      ...fields.map(({ column }, at) => ({ name: column ?? '', label: labels[at] ?? '' })),
      ...after.map(named),
    ];
    const decode = (each: SqlRow): Cell[] => {
      const system = (name: string): Cell =>
        name.endsWith('_at') ? dialect.timeOf(each[name]) : textOf(each[name]);
      const cells = decodeRow(fields, each, dialect);
      return [
        ...before.map(system),
        ...fields.map(({ id }) => cells.get(id) ?? null),
        ...after.map(system),
      ];
    };
    const select = [...SYSTEM_COLUMNS, ...names.map(quoted)].join(', ');
    const page = async (
      { condition, keys }: Part,
      after: SqlRow | undefined,
    ): Promise<SqlRow[]> => {
      const key = keys.join(', ');
      const last = keys.map((name): Param =>
        name === 'id' ? textOf(after?.[name]) : dialect.timeParam(dialect.timeOf(after?.[name])),
      );
      const marks = keys.map((_, at) => `$${at + 1}`).join(', ');
      const behind = after === undefined ? '' : ` AND (${key}) > (${marks})`;
      try {
        return await session.query(
          `SELECT ${select} FROM ${quoted(place)} WHERE ${condition}${behind} ORDER BY ${key} LIMIT ${ROWS_A_PIECE}`,
          after === undefined ? [] : last,
        );
      } catch (error) {
        throw dialect.describe(error);
      }
    };
    return {
      columns,
      isOneInstant: true,
      async *rows({ withDeleted }) {
        for (const part of withDeleted ? [...LIVE, DELETED] : LIVE) {
          let last: SqlRow | undefined;
          do {
            const found: SqlRow[] = await page(part, last);
            if (found.length > 0) yield found.map(decode);
            last = found.length < ROWS_A_PIECE ? undefined : found.at(-1);
          } while (last !== undefined);
        }
      },
      [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
    };
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

const named = (name: string): SnapshotColumn => ({ name, label: name });
