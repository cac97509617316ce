import { MirrorError } from '../../base/errors.ts';
import { viewLabels } from '../../mirror/column-names.ts';
import type { FormSnapshot, SnapshotRows } from '../../mirror/snapshot.ts';
import type { StoredField, StoredRow } from '../../mirror/target.ts';
import type { Cell } from '../../mirror/types.ts';
import { SheetFormReader } from './reader.ts';
import { isSmall } from './rows/tab-reading.ts';
import type { FormSheet } from './state/form-sheet.ts';

/** Rows of one read of a tab that no read answers whole. */
const ROWS_A_PIECE = 2_000;
/** Columns of ours besides the fields, as SQL targets call them. */
const SYSTEM = ['id', 'status', 'created_at', '_deleted_at'];

/**
 * {@link FormSnapshot} over a form's tab, in the order in which people have its rows. A tab that one read can answer is of one
 * instant; a larger one is read row by row as its keys were at the beginning, so that what is sorted meanwhile is found again.
 */
export async function sheetSnapshot(sheet: FormSheet): Promise<FormSnapshot> {
  if (sheet.view.layout === undefined) {
    const { address } = sheet.spreadsheet;
    throw new MirrorError(
      'TARGET_FAILED',
      `The tab of ${sheet.form.name} is not there any more (${address}). The next pass makes it again and reads everything.`,
    );
  }
  const isOneInstant = isSmall(sheet.usableLayout());
  const reader = new SheetFormReader(sheet);
  const fields = await reader.fields();
  const label = (of: (field: StoredField) => string): string[] =>
    viewLabels(
      fields.map((field) => ({ id: field.id, label: of(field) })),
      SYSTEM,
      Number.POSITIVE_INFINITY,
    );
  const [names, labels] = [label(({ column }) => column), label((field) => field.label)];
  const system = SYSTEM.map((name) => ({ name, label: name }));
  const own = fields.map(({ id }, at) => ({ name: names[at] ?? id, label: labels[at] ?? id }));
  const cellsOf = (row: StoredRow): Cell[] => [
    row.id,
    row.status,
    row.createdAt,
    ...fields.map(({ id }) => row.cells.get(id) ?? null),
    row.deletedAt,
  ];
  return {
    columns: [...system.slice(0, 3), ...own, ...system.slice(3)],
    isOneInstant,
    async *rows({ withDeleted }: SnapshotRows) {
      const pieceSize = isOneInstant ? Number.POSITIVE_INFINITY : ROWS_A_PIECE;
      const both = [reader.liveIds(), ...(withDeleted ? [reader.deletedIds()] : [])];
      for (const [at, chunks] of both.entries()) {
        for await (const ids of pieces(chunks, pieceSize)) {
          const rows = await reader.rows(ids);
          const found = ids.flatMap((id) => rows.get(id) ?? []);
          // What was marked or restored since its key was read is left out, as what came since is.
          yield found.filter((row) => (row.deletedAt === null) === (at === 0)).map(cellsOf);
        }
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** The same IDs in pieces of at most `size`. */
async function* pieces(chunks: AsyncIterable<string[]>, size: number): AsyncIterable<string[]> {
  let piece: string[] = [];
  for await (const chunk of chunks) {
    for (const id of chunk) {
      piece.push(id);
      if (piece.length < size) continue;
      yield piece;
      piece = [];
    }
  }
  if (piece.length > 0) yield piece;
}
