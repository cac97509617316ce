import { decimalText, jsonText } from './numbers.ts';
import { type Cell, ExactNumber, type Json } from './types.ts';

/**
 * One answer as a cell (L10). Text stays text and numbers stay numbers; booleans become `true`/`false`; arrays and
 * objects become their JSON text, so that nothing of them is lost; null and a missing answer are null.
 */
export function toCell(answer: Json | undefined): Cell {
  if (answer === undefined || answer === null) return null;
  if (typeof answer === 'string' || typeof answer === 'number') return answer;
  if (typeof answer === 'boolean') return String(answer);
  return answer instanceof ExactNumber ? answer : jsonText(answer);
}

/** A cell as text: canonical plain decimal for numbers; null for no answer. */
export function cellText(cell: Cell): string | null {
  return cell === null || typeof cell === 'string' ? cell : decimalText(cell);
}

/**
 * True when both show the same answer. A number equals its canonical text, because a column of texts stores it so; an
 * empty text equals no answer, because a sheet cannot distinguish them.
 */
export function sameCell(a: Cell, b: Cell): boolean {
  return (cellText(a) ?? '') === (cellText(b) ?? '');
}
