import { createHash } from 'node:crypto';
import { cutToBytes } from '../../mirror/column-names.ts';
import { readerOf } from '../../mirror/field-map.ts';
import { type Cell, JsonText, type Rejection, type Row } from '../../mirror/types.ts';
import type { RowDefect, RowLimits, SqlDialect, StorableRow, StoreOutcome } from './dialect.ts';
import type { FieldColumn, FormTable } from './field-column.ts';
import { RefusedRows } from './refused-rows.ts';
import { inSavepoint, type SqlSession } from './sql-session.ts';

/** Most characters in all answers of a row: PostgreSQL and SQLite both take less than 1 GB, and a batch must fit into memory. */
const MAX_ROW_CHARACTERS = 200_000_000;

/** A batch that the database can hold. */
export interface StorableBatch {
  /** In the order of the batch; undefined where the row can't be stored at all. */
  readonly rows: readonly (StorableRow | undefined)[];
  /** One for each row with a replaced character, and one for each that can't be stored. */
  readonly rejections: readonly Rejection[];
}

/** Replaces in a batch what the database can't hold (L10) and sorts out rows that it can't hold at all (L6). */
export function storableBatch(
  rows: readonly Row[],
  fields: readonly FieldColumn[],
  dialect: RowLimits,
): StorableBatch {
  const rejections: Rejection[] = [];
  const read = readerOf(fields.map(({ id }) => id));
  const storable = rows.map((row) => {
    const answers = read(row.cells);
    const defect = unstorableDefect(row, answers, dialect);
    if (defect !== undefined) {
      rejections.push({ submissionId: row.id, reason: defect, stored: false });
      return undefined;
    }
    const { row: cleaned, columns } = cleanedRow(row, answers, fields, dialect);
    if (columns.length > 0) {
      const reason = replacedReason(columns, dialect);
      rejections.push({ submissionId: row.id, reason, stored: true });
    }
    return cleaned;
  });
  return { rows: storable, rejections };
}

/** Outcomes in the order of the rows, and why some were not stored. */
export interface StoredBatch {
  readonly outcomes: readonly StoreOutcome[];
  /** Of the rows that are at fault themselves. */
  readonly rejections: readonly Rejection[];
  /** Of the others: the target failed, and they are listed nowhere. */
  readonly refused?: RefusedRows;
}

/** Where a batch is stored, and when (ISO). */
export interface BatchPlace {
  readonly form: FormTable;
  /** The fields that are written. */
  readonly fields: readonly FieldColumn[];
  readonly at: string;
  /** Whether the rows are likely to be new; undefined where nothing has told yet. */
  readonly looksNew: boolean | undefined;
}

/**
 * Stores a batch: new rows in the quickest way that there is, and the rest so that no row holds up the others (L6). Throws
 * {@link RefusedRows} where the table takes no row.
 */
export async function storeBatch(
  tx: SqlSession,
  dialect: SqlDialect,
  { form, fields, at, looksNew }: BatchPlace,
  rows: readonly StorableRow[],
): Promise<StoredBatch> {
  const isStored =
    looksNew === false
      ? undefined
      : await dialect.storeNew?.(tx, form, fields, rows, { at, looksNew: looksNew === true });
  const left = isStored === undefined ? rows : rows.filter((_, index) => isStored[index] !== true);
  const refused = (reasons: readonly string[], takesNone: boolean): RefusedRows => {
    const table = dialect.shownRelation(form.table);
    return new RefusedRows({ form: form.form, table, reasons, takesNone });
  };
  const store: RowStore = {
    upsert: (piece) => dialect.upsert(tx, form, fields, piece, at),
    takesNone: (reason) => refused([reason], true),
  };
  const rest = await storeRows(tx, dialect, left, store);
  const others = rest.outcomes.values();
  const outcomes = isStored?.map((isNew) => (isNew ? 'inserted' : nextOutcome(others)));
  return {
    outcomes: outcomes ?? rest.outcomes,
    rejections: rest.rejections,
    ...(rest.refusals.length > 0 && { refused: refused(rest.refusals, false) }),
  };
}

/** Where rows are stored, and what is thrown where the table takes no row at all. */
interface RowStore {
  readonly upsert: (rows: readonly StorableRow[]) => Promise<StoreOutcome[]>;
  readonly takesNone: (reason: string) => RefusedRows;
}

/** The outcome of the next row. */
export function nextOutcome(outcomes: Iterator<StoreOutcome>): StoreOutcome {
  const { done, value } = outcomes.next();
  if (done === true) throw new TypeError('a row without an outcome');
  return value;
}

/**
 * Stores rows so that one refused by the database does not hold up the others (L6): a refused batch is halved until the
 * row is found. Rethrows errors that no single row causes (connection, disk, rights).
 */
async function storeRows(
  tx: SqlSession,
  dialect: SqlDialect,
  rows: readonly StorableRow[],
  store: RowStore,
): Promise<StoredRows> {
  if (rows.length === 0) return { outcomes: [], rejections: [], refusals: [] };
  try {
    const outcomes = await inSavepoint(tx, () => store.upsert(rows));
    return { outcomes, rejections: [], refusals: [] };
  } catch (error) {
    const defect = dialect.rowDefect(error);
    if (defect === undefined) throw error;
    const [only, second] = rows;
    if (only !== undefined && second === undefined) {
      if (!(await takesBlank(tx, dialect, only, store))) throw store.takesNone(defect.reason);
      return notStored(only, defect);
    }
  }
  const middle = Math.ceil(rows.length / 2);
  const first = await storeRows(tx, dialect, rows.slice(0, middle), store);
  const rest = await storeRows(tx, dialect, rows.slice(middle), store);
  return {
    outcomes: [...first.outcomes, ...rest.outcomes],
    rejections: [...first.rejections, ...rest.rejections],
    refusals: [...first.refusals, ...rest.refusals],
  };
}

/** Outcomes in the order of the rows, why some are at fault, and why the table refuses others: one reason for each. */
interface StoredRows extends Pick<StoredBatch, 'outcomes' | 'rejections'> {
  readonly refusals: readonly string[];
}

function notStored({ id }: StorableRow, { reason, isOfRow }: RowDefect): StoredRows {
  const outcomes = ['rejected'] as const;
  return isOfRow
    ? { outcomes, rejections: [{ submissionId: id, reason, stored: false }], refusals: [] }
    : { outcomes, rejections: [], refusals: [reason] };
}

/** Whether the table would take the row if nothing were answered. Nothing of the try stays. */
async function takesBlank(
  tx: SqlSession,
  dialect: SqlDialect,
  row: StorableRow,
  { upsert }: RowStore,
): Promise<boolean> {
  try {
    return await inSavepoint(tx, async () => {
      await upsert([{ ...row, cells: [] }]);
      throw new OnlyTried();
    });
  } catch (error) {
    if (error instanceof OnlyTried) return true;
    if (dialect.rowDefect(error) === undefined) throw error;
    return false;
  }
}

/** Thrown to take back what was only tried. */
class OnlyTried extends Error {}

/** True for an ID that can be a row's key. No table holds any other, so there is no point in querying for it. */
export function isStorableId(id: string, { maxIdBytes }: Pick<RowLimits, 'maxIdBytes'>): boolean {
  // A unit of UTF-16 takes 3 bytes at most: most IDs are too short to be counted.
  const isShort = id.length * 3 <= maxIdBytes || Buffer.byteLength(id) <= maxIdBytes;
  return isShort && id.isWellFormed() && !id.includes('\0');
}

/** The rejection with texts that can be stored: an ID that can't be is cleaned and cut, and made unique by a hash. */
export function listable(rejection: Rejection, dialect: RowLimits): Rejection {
  const { submissionId } = rejection;
  const reason = cutToBytes(cleanText(rejection.reason), dialect.maxReasonBytes);
  if (isStorableId(submissionId, dialect)) return { ...rejection, reason };
  const hash = createHash('sha256').update(submissionId).digest('hex').slice(0, 12);
  const shown = cutToBytes(cleanText(submissionId), dialect.maxIdBytes - 20);
  return { ...rejection, reason, submissionId: `${shown} #${hash}` };
}

/** `text` without what some database can't hold. For labels, names and messages: no rejection is listed for them. */
export function cleanText(text: string): string {
  // Nearly always: to look is far cheaper than to replace.
  if (text.isWellFormed() && !text.includes('\0')) return text;
  return text.toWellFormed().replaceAll('\0', '\u{FFFD}');
}

/** The cells of a row that are written, in the order of their fields. */
type Answers = readonly (Cell | undefined)[];

function unstorableDefect(
  { id, status }: Row,
  answers: Answers,
  dialect: RowLimits,
): string | undefined {
  if (!isStorableId(id, dialect)) {
    return `the submission ID has more than ${dialect.maxIdBytes} bytes or characters that no key can hold`;
  }
  const { maxStatusLength = Infinity } = dialect;
  if (status.length > maxStatusLength)
    return `the status has more than ${maxStatusLength} characters`;
  let characters = 0;
  for (const cell of answers) {
    if (typeof cell === 'string') characters += cell.length;
    else if (cell instanceof JsonText) characters += cell.text.length;
  }
  return characters > MAX_ROW_CHARACTERS
    ? `the answers have more than ${MAX_ROW_CHARACTERS / 1e6} million characters`
    : undefined;
}

function cleanedRow(
  row: Row,
  answers: Answers,
  fields: readonly FieldColumn[],
  dialect: RowLimits,
): { row: StorableRow; columns: string[] } {
  const { takesNul } = dialect;
  const columns: string[] = [];
  const clean = (text: string, column: string): string => {
    const storable = takesNul ? text.toWellFormed() : cleanText(text);
    if (storable !== text) columns.push(column);
    return storable;
  };
  // Mostly the row's own: a copy for each of them would cost more than the look.
  let cleaned: (Cell | undefined)[] | undefined;
  for (let at = 0; at < answers.length; at++) {
    const cell = answers[at];
    // No call for each of them: there are millions.
    if (typeof cell !== 'string' || (cell.isWellFormed() && (takesNul || !cell.includes('\0'))))
      continue;
    cleaned ??= answers.slice();
    cleaned[at] = clean(cell, fields[at]?.column ?? '');
  }
  const { id, createdAt } = row;
  const cells = cleaned ?? answers;
  return { row: { id, status: clean(row.status, 'status'), createdAt, cells }, columns };
}

function replacedReason(columns: readonly string[], dialect: RowLimits): string {
  const named = columns.slice(0, 3).join(', ');
  const more = columns.length > 3 ? ` and ${columns.length - 3} more` : '';
  return `${named}${more}: characters that ${dialect.product} can't hold were replaced by U+FFFD`;
}
