import { decodeMore, encodeMore } from '../more-column.ts';
import { type SqliteCell, toBound } from './sqlite-cells.ts';
import type { SqliteEngine } from './sqlite-engine.ts';

/** How rows of one table are stored. Plain data. */
export interface StorePlan {
  /** Takes IDs as a JSON list; selects `id`, `_deleted_at` and the values. */
  readonly select: string;
  /** Takes the ID, the time, the values, and the time again. */
  readonly insert: string;
  /** Takes the time, the values and the ID. */
  readonly update: string;
  /** How many values a row has: status, date, columns, and the overflow column as the last. */
  readonly width: number;
  /** The time of the change (ISO). */
  readonly at: string;
  /** Set where the overflow column keeps answers of fields that are not written now. */
  readonly more: MergedMore | null;
}

/** Keys of the overflow column: those that are written, and all of them in order. */
export interface MergedMore {
  readonly written: readonly string[];
  readonly order: readonly string[];
}

/** Some rows, without an object for each: those of the first ID are `values[0]` to `values[width - 1]`. */
export interface FlatRows {
  readonly ids: readonly string[];
  readonly values: SqliteCell[];
}

/** What became of a row, by its number. `swallowed`: a trigger took it away and reported success. */
export const STORE_OUTCOMES = [
  'swallowed',
  'inserted',
  'updated',
  'restored',
  'unchanged',
  'edited',
] as const;
const [SWALLOWED, INSERTED, UPDATED, RESTORED, UNCHANGED, EDITED] = [0, 1, 2, 3, 4, 5] as const;

/** Reads the rows, compares them and writes those that differ; for each what became of it. */
export function storeFlatRows(
  engine: SqliteEngine,
  plan: StorePlan,
  { ids, values }: FlatRows,
): Uint8Array {
  const { width, at } = plan;
  const stored = new Map<string, unknown[]>();
  for (const row of engine.all(plan.select, [JSON.stringify(ids)], true) as unknown[][]) {
    stored.set(String(row[0]), row);
  }
  for (let at = 0; at < values.length; at++) values[at] = toBound(values[at] ?? null);
  const outcomes = new Uint8Array(ids.length);
  for (const [index, id] of ids.entries()) {
    const first = index * width;
    const before = stored.get(id);
    if (plan.more !== null && before !== undefined) {
      const last = first + width - 1;
      values[last] = mergedMore(plan.more, values[last], before[width + 1]);
    }
    if (before === undefined) {
      const params = [id, at, ...values.slice(first, first + width), at];
      outcomes[index] = engine.run(plan.insert, params) === 1 ? INSERTED : SWALLOWED;
    } else if (before[1] === null && isSame(values, first, before, width)) {
      outcomes[index] = UNCHANGED;
    } else {
      const params = [at, ...values.slice(first, first + width), id];
      const isWritten = engine.run(plan.update, params) === 1;
      const isSameStatus = values[first] === before[2];
      const outcome = before[1] !== null ? RESTORED : isSameStatus ? EDITED : UPDATED;
      outcomes[index] = isWritten ? outcome : SWALLOWED;
    }
  }
  return outcomes;
}

function isSame(
  values: readonly SqliteCell[],
  first: number,
  before: readonly unknown[],
  width: number,
): boolean {
  for (let nth = 0; nth < width; nth++) {
    if (values[first + nth] !== before[nth + 2]) return false;
  }
  return true;
}

/** Answers of fields that are not written now stay as they are. */
function mergedMore({ written, order }: MergedMore, now: unknown, before: unknown): string | null {
  const answers = new Map(decodeMore(before));
  for (const column of written) answers.delete(column);
  for (const [column, cell] of decodeMore(now)) answers.set(column, cell);
  return encodeMore(answers, order);
}
