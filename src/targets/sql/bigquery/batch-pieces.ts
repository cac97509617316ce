import type { ApplyResult } from '../../../mirror/target.ts';
import {
  type Cell,
  ExactNumber,
  JsonText,
  type Rejection,
  type Row,
} from '../../../mirror/types.ts';
import { type Month, monthOf } from './partitions.ts';

/** A part of a batch that one request can hold. */
export interface BatchPiece {
  readonly rows: readonly Row[];
  /** Those of its rows; the first piece has those of what is no row. */
  readonly rejections: readonly Rejection[];
}

/** Bytes of rows in one request, as they are sent: BigQuery takes 10 MB, and the state of the form goes with them. */
const PIECE_BYTES = 4_000_000;

/** Bytes of a row that a request can hold for certain. */
export const MOST_ROW_BYTES = 3_000_000;

/** Months of rows in one request: BigQuery changes 4,000 partitions at once, and a row that moves changes two. */
const PIECE_MONTHS = 1_900;

/** Cuts a batch where it is too much for one request: each piece is stored at once, and one after the other. */
export function splitBatch(
  rows: readonly Row[],
  rejections: readonly Rejection[],
): readonly BatchPiece[] {
  const groups: Row[][] = [[]];
  const months = new Set<Month>();
  let size = 0;
  for (const row of rows) {
    const bytes = rowBytes(row.cells.values());
    const month = monthOf(row.createdAt);
    const isMuch =
      size + bytes > PIECE_BYTES || (months.size >= PIECE_MONTHS && !months.has(month));
    if (isMuch && size > 0) {
      groups.push([]);
      months.clear();
      size = 0;
    }
    groups.at(-1)?.push(row);
    months.add(month);
    size += bytes;
  }
  if (groups.length === 1) return [{ rows, rejections }];
  const places = new Map(groups.flatMap((group, at) => group.map(({ id }) => [id, at] as const)));
  return groups.map((group, at) => ({
    rows: group,
    rejections: rejections.filter(({ submissionId }) => (places.get(submissionId) ?? 0) === at),
  }));
}

/** How many bytes a row takes in a request, about: never less. */
export function rowBytes(cells: Iterable<Cell | undefined>): number {
  let bytes = 200;
  for (const cell of cells) {
    bytes += 8;
    if (typeof cell === 'string') bytes += textBytes(cell);
    else if (cell instanceof JsonText) bytes += textBytes(cell.text);
    else if (cell instanceof ExactNumber) bytes += cell.digits.length;
    else if (cell !== null && cell !== undefined) bytes += 24;
  }
  return bytes;
}

/** What JSON writes otherwise than as it is. */
const ESCAPED = /["\\\p{Cc}\p{Cs}]/u;

/** As it is sent: a JSON text within the JSON of the request, so that a quote takes four bytes and a control character seven. */
function textBytes(text: string): number {
  const isPlain = !ESCAPED.test(text);
  return Buffer.byteLength(isPlain ? text : JSON.stringify(JSON.stringify(text)));
}

/** The results of the pieces of a batch as one. */
export function joined(results: readonly ApplyResult[]): ApplyResult {
  return {
    outcomes: results.flatMap(({ outcomes }) => outcomes),
    rejections: results.flatMap(({ rejections }) => rejections),
    newlyListed: new Set(results.flatMap(({ newlyListed }) => [...newlyListed])),
    forgotten: new Set(results.flatMap(({ forgotten }) => [...forgotten])),
  };
}
