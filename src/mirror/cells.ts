import { createHash, createHmac } from 'node:crypto';
import { canonicalJson, decimalText } from './json.ts';
import { type Cell, ExactNumber, type Json, JsonText } from './types.ts';

/**
 * One answer as a cell (L10). Text stays text and numbers stay numbers; booleans become `true`/`false`; arrays and objects become
 * their JSON text, so that nothing is lost; null and a missing answer are null.
 */
export function toCell(answer: Json | undefined): Cell {
  if (answer === undefined || answer === null) return null;
  if (typeof answer === 'string' || typeof answer === 'number') return answer;
  if (typeof answer === 'boolean') return String(answer);
  return answer instanceof ExactNumber ? answer : new JsonText(JSON.stringify(answer));
}

/** A cell as text: canonical plain decimal for numbers, JSON for arrays and objects; null for no answer. */
export function cellText(cell: Cell): string | null {
  if (cell === null || typeof cell === 'string') return cell;
  return cell instanceof JsonText ? cell.text : decimalText(cell);
}

/** Whether a person left it empty. A column may be unable to hold an empty text, so that counts as no answer. */
export const isBlank = (cell: Cell): boolean => cell === null || cell === '';

/**
 * Whether both show the same answer. A number equals its canonical text, because a text column stores it that way. An empty text
 * equals no answer, because neither a sheet nor a number column can distinguish them. The keys of a JSON object have no order,
 * because a database may reorder them.
 */
export function sameCell(a: Cell, b: Cell): boolean {
  const [left, right] = [cellText(a) ?? '', cellText(b) ?? ''];
  if (left === right) return true;
  if (!(a instanceof JsonText) && !(b instanceof JsonText)) return false;
  const canonical = canonicalJson(left);
  return canonical !== undefined && canonical === canonicalJson(right);
}

/** The version of {@link hashInput}. Raise it with every change there, so that stored answers are hashed again. */
export const HASH_FORMAT = 2;

/**
 * A keyed hash in place of an answer: HMAC-SHA-256 under `key`, 64 hexadecimal digits. Equal answers have equal hashes in every
 * field, form and target, even if typed differently: see {@link hashInput}. A blank is not an answer.
 */
export function hashedCell(cell: Cell, key: string): Cell {
  const text = hashInput(cell);
  return text === '' ? null : createHmac('sha256', key).update(text).digest('hex');
}

/**
 * The text of an answer that is hashed: plain decimal for a number, `true` and `false`, the JSON text of an array or object, in
 * Unicode form NFKC, in lower case, without surrounding white space. Lowercasing, uppercasing and lowercasing again makes ß, ẞ and
 * ss equal, and both forms of a Greek sigma.
 */
export function hashInput(cell: Cell): string {
  const text = (cellText(cell) ?? '').normalize('NFKC');
  return text.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC').trim();
}

/** Whether a value looks like a result of {@link hashedCell}. An answer may look like one, too. */
export const looksHashed = (cell: Cell): boolean =>
  typeof cell === 'string' && /^[0-9a-f]{64}$/.test(cell);

/** Differs between keys and reveals none of them. It is not the hash of any answer, because no {@link hashInput} begins with a space. */
export const keyFingerprint = (key: string): string =>
  shortened(createHmac('sha256', key).update(' which key this is').digest('hex'));

/** Differs between lists of names. */
export const fingerprint = (names: readonly string[]): string =>
  shortened(createHash('sha256').update(JSON.stringify(names)).digest('hex'));

const shortened = (hash: string): string => hash.slice(0, 16);
