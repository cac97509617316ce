import { spansOf } from './a1.ts';
import { bytesOf, cellData, type SheetValue } from './sheet-value.ts';

/** Rows of one block of changed cells. */
const MAX_BLOCK_ROWS = 2_000;
/** Bytes of one, so that blocks fit into batches well. */
const MAX_BLOCK_BYTES = 400_000;

/** Cells to write into a row that exists. */
export interface RowChange {
  /** Place in the grid as last read. */
  readonly row: number;
  /** The submission that was there. */
  readonly id: string;
  /** By column of the grid. */
  readonly values: ReadonlyMap<number, SheetValue>;
  /** What the cells must have held for the change to be right; where they held something else it is taken back. */
  readonly was?: ReadonlyMap<number, string>;
}

/** A rectangle of cells to write. */
export interface CellBlock {
  readonly row: number;
  readonly column: number;
  /** The submissions of its rows, as last read. */
  readonly ids: readonly string[];
  readonly values: readonly (readonly SheetValue[])[];
  /** See {@link RowChange.was}; the same shape as `values`. */
  readonly was?: readonly (readonly string[])[];
}

interface OpenBlock {
  row: number;
  column: number;
  width: number;
  ids: string[];
  values: SheetValue[][];
  was: string[][] | undefined;
  bytes: number;
}

/** Changes, in grid order, as rectangles: neighbouring cells of a row, and equal stretches of neighbouring rows. */
export function blocksOf(changes: readonly RowChange[]): CellBlock[] {
  const done: CellBlock[] = [];
  let open = new Map<number, OpenBlock>();
  let lastRow = Number.NEGATIVE_INFINITY;
  const close = (): void => {
    for (const { row, column, ids, values, was } of open.values()) {
      done.push({ row, column, ids, values, ...(was !== undefined && { was }) });
    }
    open = new Map();
  };
  for (const { row, id, values, was } of changes) {
    const spans = spansOf([...values.keys()].sort((a, b) => a - b));
    if (row !== lastRow + 1 || !continues(spans, open)) close();
    lastRow = row;
    for (const { start, end } of spans) {
      const block = open.get(start) ?? {
        row,
        column: start,
        width: end - start,
        ids: [],
        values: [],
        was: was === undefined ? undefined : [],
        bytes: 0,
      };
      open.set(start, block);
      const columns = Array.from({ length: end - start }, (_, offset) => start + offset);
      const cells = columns.map((column) => values.get(column) ?? null);
      block.was?.push(columns.map((column) => was?.get(column) ?? ''));
      block.ids.push(id);
      block.values.push(cells);
      block.bytes += bytesOf(cells.map(cellData));
    }
  }
  close();
  return done;
}

/** True when a row's stretches go on where those of the row above ended. */
function continues(
  spans: readonly { start: number; end: number }[],
  open: ReadonlyMap<number, OpenBlock>,
): boolean {
  if (spans.length !== open.size) return false;
  return spans.every(({ start, end }) => {
    const block = open.get(start);
    return (
      block?.width === end - start &&
      block.values.length < MAX_BLOCK_ROWS &&
      block.bytes < MAX_BLOCK_BYTES
    );
  });
}
