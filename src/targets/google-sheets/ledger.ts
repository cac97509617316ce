import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { ListedRejection, Refusal } from '../../mirror/target.ts';
import { cellData, fitText, type ReadValue } from './sheet-value.ts';

/** What the rows of the ledger tab are about. */
export type LedgerKind = 'fields' | 'rejection' | 'refusal';

const KINDS: ReadonlySet<string> = new Set(['fields', 'rejection', 'refusal']);
const HEADER = ['Kind', 'Form', 'Item', 'Detail', 'Data 1', 'Data 2', 'Data 3', 'Data 4'];
/** Columns of the tab. */
export const LEDGER_COLUMNS = HEADER.length;
/** Rows that it is made with. */
export const LEDGER_ROWS = 50;
/** Characters of a long text in one cell. */
const CHUNK = 45_000;

interface LedgerRow {
  readonly kind: LedgerKind;
  readonly formId: string;
  readonly item: string;
  readonly detail: string;
  readonly data: readonly string[];
}

/**
 * What does not fit into metadata: rejections, refusals and the catalogues of very wide forms, one to a row of a hidden
 * tab. Each row says in full what it is, so that their order does not matter and a lost tab costs nothing but a full
 * pass. Changes are collected and written with the rows that they speak of.
 */
export class Ledger {
  readonly #rows: (LedgerRow | undefined)[] = [undefined];
  readonly #places = new Map<string, number>();
  readonly #free: number[] = [];
  readonly #dirty = new Set<number>();

  /** Reads the tab's cells, row by row. A row that says nothing we know is free to be used. */
  constructor(cells: readonly (readonly ReadValue[])[] = []) {
    for (let place = 1; place < cells.length; place++) {
      const row = parseRow(cells[place] ?? []);
      const known = row === undefined ? undefined : this.#places.get(nameOf(row));
      if (row === undefined || known !== undefined) {
        this.#rows[place] = undefined;
        this.#free.push(place);
        // A copied row goes; an empty one is left as it is.
        if (known !== undefined) this.#dirty.add(place);
        continue;
      }
      this.#rows[place] = row;
      this.#places.set(nameOf(row), place);
    }
  }

  /** True when there is something to write. */
  get changed(): boolean {
    return this.#dirty.size > 0;
  }

  /** Listed rejections of a form, newest first. */
  rejections(formId: string): ListedRejection[] {
    return this.#of('rejection', formId)
      .map(({ item, detail, data: [stored, first, last] }) => ({
        submissionId: item,
        reason: detail,
        stored: stored === 'stored',
        firstSeenAt: first ?? '',
        lastSeenAt: last ?? '',
      }))
      .sort((a, b) =>
        a.firstSeenAt === b.firstSeenAt ? 0 : a.firstSeenAt < b.firstSeenAt ? 1 : -1,
      );
  }

  /** Lists a rejection, or notes that it was met again. A text no cell can hold is made to fit. */
  list(formId: string, rejection: ListedRejection): void {
    const { submissionId, reason, stored, firstSeenAt, lastSeenAt } = rejection;
    this.#put({
      kind: 'rejection',
      formId,
      item: fitText(submissionId).text,
      detail: fitText(reason).text,
      data: [stored ? 'stored' : 'left out', firstSeenAt, lastSeenAt],
    });
  }

  /** Ends a listing. */
  unlist(formId: string, submissionId: string, reason: string): void {
    this.#remove({ kind: 'rejection', formId, item: submissionId, detail: reason });
  }

  /** Refusals of a form, newest first. */
  refusals(formId: string): Refusal[] {
    return this.#of('refusal', formId)
      .map(({ item, data: [status, wanted, reason, at] }) => ({
        submissionId: item,
        status: status ?? '',
        wanted: wanted ?? '',
        reason: reason ?? '',
        at: at ?? '',
      }))
      .sort((a, b) => (a.at === b.at ? 0 : a.at < b.at ? 1 : -1));
  }

  /** Notes a refused status change. */
  refuse(formId: string, refusal: Refusal): void {
    const { submissionId, status, wanted, reason, at } = refusal;
    this.#put({
      kind: 'refusal',
      formId,
      item: fitText(submissionId).text,
      detail: `${status} → ${wanted}`,
      data: [status, wanted, fitText(reason).text, at],
    });
  }

  /** A long text kept for a form; undefined when there is none. */
  text(formId: string): string | undefined {
    const parts = this.#of('fields', formId).sort((a, b) => Number(a.item) - Number(b.item));
    return parts.length === 0 ? undefined : parts.map((part) => part.data[0] ?? '').join('');
  }

  /** Keeps a long text for a form, in place of an earlier one; undefined removes it. */
  setText(formId: string, text: string | undefined): void {
    const parts: string[] = [];
    for (let start = 0; start < (text ?? '').length; start += CHUNK) {
      parts.push((text ?? '').slice(start, start + CHUNK));
    }
    for (const [index, part] of parts.entries()) {
      this.#put({ kind: 'fields', formId, item: String(index), detail: '', data: [part] });
    }
    for (const old of this.#of('fields', formId)) {
      if (Number(old.item) >= parts.length) this.#remove(old);
    }
  }

  /** Requests that write the changes; `rowCount` is the tab's. Call {@link written} once they are applied. */
  requests(sheetId: number, rowCount: number): sheets_v4.Schema$Request[] {
    if (this.#dirty.size === 0) return [];
    const missing = Math.max(...this.#dirty) + 1 - rowCount;
    const requests: sheets_v4.Schema$Request[] = [];
    if (missing > 0) {
      requests.push({
        appendDimension: { sheetId, dimension: 'ROWS', length: missing + LEDGER_ROWS },
      });
    }
    for (const place of [...this.#dirty].sort((a, b) => a - b)) {
      requests.push(writeRow(sheetId, place, cellsOf(this.#rows[place])));
    }
    return requests;
  }

  /** The changes are in the sheet. */
  written(): void {
    this.#dirty.clear();
  }

  #of(kind: LedgerKind, formId: string): LedgerRow[] {
    return this.#rows.filter(
      (row): row is LedgerRow => row !== undefined && row.kind === kind && row.formId === formId,
    );
  }

  #put(row: LedgerRow): void {
    const name = nameOf(row);
    const place = this.#places.get(name) ?? this.#free.shift() ?? this.#rows.length;
    const old = this.#rows[place];
    if (old !== undefined && old.data.join('\0') === row.data.join('\0')) return;
    this.#rows[place] = row;
    this.#places.set(name, place);
    this.#dirty.add(place);
  }

  #remove(row: Pick<LedgerRow, 'kind' | 'formId' | 'item' | 'detail'>): void {
    const place = this.#places.get(nameOf(row));
    if (place === undefined) return;
    this.#places.delete(nameOf(row));
    this.#rows[place] = undefined;
    this.#free.push(place);
    this.#dirty.add(place);
  }
}

/** The header row of a new ledger tab. */
export const ledgerHeader = (sheetId: number): sheets_v4.Schema$Request =>
  writeRow(sheetId, 0, HEADER);

const nameOf = ({ kind, formId, item, detail }: Omit<LedgerRow, 'data'>): string =>
  [kind, formId, item, detail].join('\u0001');

function parseRow(cells: readonly ReadValue[]): LedgerRow | undefined {
  const [kind = '', formId = '', item = '', detail = '', ...data] = cells.map((cell) =>
    cell === null || cell === undefined ? '' : String(cell),
  );
  if (!KINDS.has(kind) || formId === '') return undefined;
  return { kind: kind as LedgerKind, formId, item, detail, data };
}

const cellsOf = (row: LedgerRow | undefined): string[] =>
  row === undefined ? [] : [row.kind, row.formId, row.item, row.detail, ...row.data];

function writeRow(
  sheetId: number,
  place: number,
  cells: readonly string[],
): sheets_v4.Schema$Request {
  const values = Array.from({ length: LEDGER_COLUMNS }, (_, index) =>
    cellData(cells[index] === undefined || cells[index] === '' ? null : cells[index]),
  );
  return {
    updateCells: {
      start: { sheetId, rowIndex: place, columnIndex: 0 },
      rows: [{ values }],
      fields: 'userEnteredValue',
    },
  };
}
