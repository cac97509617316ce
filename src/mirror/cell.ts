import { canonicalJson } from './json-text.ts';
import { decimalText, jsonText } from './numbers.ts';
import { type Cell, ExactNumber, type Json, JsonText } from './types.ts';

/**
 * One answer as a cell (L10). Text stays text and numbers stay numbers; booleans become `true`/`false`; arrays and
 * objects become their JSON text, so that nothing of them is lost; null and a missing answer are null.
 */
export function toCell(answer: Json | undefined): Cell {
  if (answer === undefined || answer === null) return null;
  if (typeof answer === 'string' || typeof answer === 'number') return answer;
  if (typeof answer === 'boolean') return String(answer);
  return answer instanceof ExactNumber ? answer : new JsonText(jsonText(answer));
}

/** A cell as text: canonical plain decimal for numbers, JSON for arrays and objects; null for no answer. */
export function cellText(cell: Cell): string | null {
  if (cell === null || typeof cell === 'string') return cell;
  return cell instanceof JsonText ? cell.text : decimalText(cell);
}

/** True for what a person left empty: no answer where a column has no room for an empty text. */
export const isBlank = (cell: Cell): boolean => cell === null || cell === '';

/**
 * True when both show the same answer. A number equals its canonical text, because a column of texts stores it so; an
 * empty text equals no answer, because neither a sheet nor a column of numbers can distinguish them. The keys of a JSON
 * object have no order, because a database may give them another one.
 */
export function sameCell(a: Cell, b: Cell): boolean {
  const [left, right] = [cellText(a) ?? '', cellText(b) ?? ''];
  if (left === right) return true;
  if (!(a instanceof JsonText) && !(b instanceof JsonText)) return false;
  const canonical = canonicalJson(left);
  return canonical !== undefined && canonical === canonicalJson(right);
}
