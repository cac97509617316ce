import type { RowChange } from '../rows/row-comparison.ts';
import { spansOf } from '../api/a1.ts';
import { bytesOf, cellData, type SheetValue } from '../api/cell-value.ts';

/** Rows of one group of changes. */
const MAX_ROWS = 2_000;
/** Bytes of one, so that groups fit into batches well. */
const MAX_BYTES = 400_000;

/** Neighbouring rows in which the same stretches of columns are written. */
export interface RowGroup {
  readonly row: number;
  /** Of each row, as last read. */
  readonly ids: readonly string[];
  readonly parts: readonly GroupPart[];
  /** See {@link RowChange.strict}. */
  readonly strict: boolean;
}

/** One stretch of columns of a group. */
export interface GroupPart {
  readonly column: number;
  /** Row by row. */
  readonly values: readonly (readonly SheetValue[])[];
  /** See {@link RowChange.was}; the same shape as `values`. */
  readonly was: readonly (readonly string[])[];
}

/** Changes, in grid order, as groups: as few requests as their shape allows. */
export function groupsOf(changes: readonly RowChange[], maxRows = MAX_ROWS): RowGroup[] {
  const groups: OpenGroup[] = [];
  for (const change of changes) {
    const spans = spansOf([...change.values.keys()].sort((a, b) => a - b));
    const last = groups.at(-1);
    if (last?.takes(change, spans, maxRows) === true) last.add(change);
    else groups.push(new OpenGroup(change, spans));
  }
  return groups.map(({ row, ids, parts, strict }) => ({ row, ids, parts, strict }));
}

class OpenGroup {
  readonly row: number;
  readonly ids: string[] = [];
  readonly strict: boolean;
  readonly parts: { column: number; values: SheetValue[][]; was: string[][] }[];
  readonly #spans: readonly { start: number; end: number }[];
  #bytes = 0;

  constructor(change: RowChange, spans: readonly { start: number; end: number }[]) {
    this.row = change.row;
    this.#spans = spans;
    this.strict = change.strict;
    this.parts = spans.map(({ start }) => ({ column: start, values: [], was: [] }));
    this.add(change);
  }

  /** True when a row goes on where the last one ended. */
  takes(
    { row, strict }: RowChange,
    spans: readonly { start: number; end: number }[],
    maxRows: number,
  ): boolean {
    return (
      strict === this.strict &&
      row === this.row + this.ids.length &&
      this.ids.length < maxRows &&
      this.#bytes < MAX_BYTES &&
      spans.length === this.#spans.length &&
      spans.every(({ start, end }, index) => {
        const own = this.#spans[index];
        return own?.start === start && own.end === end;
      })
    );
  }

  add({ id, values, was }: RowChange): void {
    this.ids.push(id);
    for (const [index, { start, end }] of this.#spans.entries()) {
      const columns = Array.from({ length: end - start }, (_, offset) => start + offset);
      const cells = columns.map((column) => values.get(column) ?? null);
      const part = this.parts[index];
      part?.values.push(cells);
      part?.was.push(columns.map((column) => was.get(column) ?? ''));
      this.#bytes += bytesOf(cells.map(cellData));
    }
  }
}
