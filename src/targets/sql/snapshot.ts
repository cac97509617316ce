import { SYSTEM_COLUMNS, viewLabels } from '../../mirror/column-names.ts';
import type { FormSnapshot, SnapshotColumn } from '../../mirror/port.ts';
import type { Cell } from '../../mirror/types.ts';
import type { Database } from './database.ts';
import { columnsOf, pagesOf, quoted, type SqlRow, textOf, timeOf } from './dialect.ts';
import { decodeRow, MORE, storedColumns } from './fields.ts';
import { formRecords } from './schema.ts';

const ROWS_A_PIECE = 1_000;

/** Rows by date, the oldest first, then rows without a date. */
const LIVE = [
  { where: ['_deleted_at IS NULL', 'created_at IS NOT NULL'], keys: ['created_at', 'id'] },
  { where: ['_deleted_at IS NULL', 'created_at IS NULL'], keys: ['id'] },
];
const DELETED = { where: ['_deleted_at IS NOT NULL'], keys: ['id'] };

/** A form at one instant. Null without such a form. */
export async function formSnapshot(
  database: Database,
  formId: string,
): Promise<FormSnapshot | null> {
  await using opened = new AsyncDisposableStack();
  const session = opened.use(await database.snapshot());
  const [form] = await formRecords(session, formId);
  if (form === undefined) return null;
  const { place } = form.state;
  const present = await columnsOf(session, place);
  const fields = form.fields
    .filter(({ column, isInMore }) => column !== null && present.has(isInMore ? MORE : column))
    .toSorted((a, b) => a.position - b.position);
  const names = storedColumns(fields, present);
  const labels = viewLabels(fields, SYSTEM_COLUMNS, Number.POSITIVE_INFINITY);
  const [before, after] = [SYSTEM_COLUMNS.slice(0, 3), SYSTEM_COLUMNS.slice(3)];
  const named = (name: string): SnapshotColumn => ({ name, label: name });
  const cellsOf = (each: SqlRow): Cell[] => {
    const system = (name: string): Cell =>
      name.endsWith('_at') ? timeOf(each[name]) : textOf(each[name]);
    const cells = decodeRow(fields, each);
    return [
      ...before.map(system),
      ...fields.map(({ id }) => cells.get(id) ?? null),
      ...after.map(system),
    ];
  };
  const held = opened.move();
  return {
    columns: [
      ...before.map(named),
      ...fields.map(({ column }, at) => ({ name: column ?? '', label: labels[at] ?? '' })),
      ...after.map(named),
    ],
    async *rows({ withDeleted }) {
      for (const part of withDeleted ? [...LIVE, DELETED] : LIVE)
        for await (const page of pagesOf(session, {
          ...part,
          select: [...SYSTEM_COLUMNS, ...names.map(quoted)].join(', '),
          from: quoted(place),
          params: [],
          size: ROWS_A_PIECE,
        }))
          yield page.map(cellsOf);
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}
