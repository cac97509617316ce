import type { ReadValue } from '../../../targets/google-sheets/api/cell-value.ts';
import { headerRowOf, type Table } from './rows.ts';

/** What people made of rows, as a reading of the tab shows it. Rows count from 0. */
export interface OddRows {
  /** Rows with the ID of another one above them. */
  readonly copies: readonly { readonly row: number; readonly of: number }[];
  /** Rows of submissions that have no ID any more. */
  readonly withoutId: readonly number[];
  /** Where the header is to go: people sorted it into the rows, or deleted it (`from` is null). Null: it is in its place. */
  readonly header: { readonly from: number | null; readonly to: number } | null;
  /** The row that the header is in, or is going to be in. */
  readonly headerRow: number;
}

export const NOTHING_ODD: OddRows = { copies: [], withoutId: [], header: null, headerRow: 0 };

const KEPT = 1_000;

/** As many as are kept to be shown. */
export const firstOf = ({ copies, withoutId, headerRow }: OddRows): OddRows => ({
  headerRow,
  copies: copies.slice(0, KEPT),
  withoutId: withoutId.slice(0, KEPT),
  header: null,
});

/** Finds what is odd in the cells of a tab. */
export function oddRowsIn(table: Table): OddRows {
  const [ids = [], statuses = [], times = []] = (['s:id', 's:status', 's:at'] as const).map((key) =>
    table.get(key),
  );
  const header = headerRowOf(table);
  const first = new Map<string, number>();
  const copies: { row: number; of: number }[] = [];
  const withoutId: number[] = [];
  const text = (value: ReadValue | undefined): string =>
    value === null || value === undefined ? '' : String(value);
  for (let row = 0; row < Math.max(ids.length, statuses.length, times.length); row++) {
    if (row === header) continue;
    const id = text(ids[row]);
    const of = first.get(id);
    if (id === '') {
      // What people write themselves, a total perhaps, has no time.
      if (text(statuses[row]) !== '' && typeof times[row] === 'number') withoutId.push(row);
    } else if (of === undefined) first.set(id, row);
    else copies.push({ row, of });
  }
  const top = Math.min(...first.values());
  const isStray = first.size > 0 && (header < 0 || header > top);
  return {
    copies,
    withoutId,
    header: isStray ? { from: header < 0 ? null : header, to: top } : null,
    headerRow: isStray ? top : Math.max(0, header),
  };
}
