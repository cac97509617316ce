import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { ListedRejection, Refusal, SentMark } from '../../../mirror/target.ts';
import { HEADER_FORMAT, formatCells, warnBeforeEdits } from '../api/formatting.ts';
import { createMetadata, METADATA_KEYS, roleMark } from '../api/metadata.ts';
import type { Tab } from '../columns/layout.ts';
import { freeTabTitle } from '../columns/tab-title.ts';
import type { Structure } from './structure.ts';
import { cellData, fitText, type ReadValue } from '../api/cell-value.ts';

/**
 * Kinds of rows of the state tab: part of a catalogue, a listed rejection, a refused status change, a forgotten submission, a
 * window of a form.
 */
export type StateTabKind = 'fields' | 'rejection' | 'refusal' | 'forgotten' | 'window';

const KINDS: ReadonlySet<string> = new Set([
  'fields',
  'rejection',
  'refusal',
  'forgotten',
  'window',
]);
const HEADER = ['Kind', 'Form', 'Item', 'Detail', 'Data 1', 'Data 2', 'Data 3', 'Data 4'];
/** Columns of the tab. */
const STATE_TAB_COLUMNS = HEADER.length;
/** Rows that it is made with. */
const STATE_TAB_ROWS = 50;
/** Characters of a long text in one cell. */
const CHUNK = 45_000;

/** What is kept of a forgotten submission. */
export interface ForgottenNote {
  readonly hash: string;
  readonly salt: string;
  /** When it was forgotten (ISO). */
  readonly at: string;
}

interface StateTabRow {
  readonly kind: StateTabKind;
  readonly formId: string;
  readonly item: string;
  readonly detail: string;
  readonly data: readonly string[];
}

/**
 * What does not fit into metadata: rejections, refusals, notes of what was forgotten and the catalogues of very wide forms,
 * one to a row of a hidden tab. Each row says in full what it is, so that their order does not matter and a lost tab costs
 * nothing but a full pass, and what was forgotten (see `forgotten-list.ts`). Changes are collected and written with the rows that they speak of.
 */
export class StateTab {
  readonly #rows: (StateTabRow | undefined)[] = [undefined];
  readonly #places = new Map<string, number>();
  readonly #free: number[] = [];
  readonly #dirty = new Set<number>();

  /** Reads the tab's cells, row by row. A row that says nothing we know is free to be used. */
  constructor(cells: readonly (readonly ReadValue[])[] = []) {
    for (let place = 1; place < cells.length; place++) {
      const row = parseRow(cells[place] ?? []);
      const goes = row !== undefined && this.#places.has(nameOf(row));
      if (row === undefined || goes) {
        this.#rows[place] = undefined;
        this.#free.push(place);
        // A copied row goes; an empty one is left as it is.
        if (goes) this.#dirty.add(place);
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
    return this.marks(formId).filter(({ reason }) => reason !== '');
  }

  /** What is remembered of a form's status changes, newest first: refusals, and changes that were sent, with no reason. */
  marks(formId: string): Refusal[] {
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

  /** Notes a status change that was refused, or sent: with an empty reason. */
  noteMark(formId: string, refusal: Refusal): void {
    const { submissionId, status, wanted, reason, at } = refusal;
    this.#put({
      kind: 'refusal',
      formId,
      item: fitText(submissionId).text,
      detail: `${status} → ${wanted}`,
      data: [status, wanted, fitText(reason).text, at],
    });
  }

  /** Forgets a status change that was refused or sent. */
  endMark(formId: string, { submissionId, status, wanted }: SentMark): void {
    this.#remove({ kind: 'refusal', formId, item: submissionId, detail: `${status} → ${wanted}` });
  }

  /** What is kept of a form's forgotten submissions; see `mirror/forgotten.ts`. */
  forgotten(formId: string): ForgottenNote[] {
    return this.#of('forgotten', formId).map(({ item, detail, data: [at] }) => ({
      hash: item,
      salt: detail,
      at: at ?? '',
    }));
  }

  /** Notes a forgotten submission; one that is noted already keeps its time. */
  forget(formId: string, { hash, salt, at }: ForgottenNote): void {
    const row = { kind: 'forgotten', formId, item: hash, detail: salt, data: [at] } as const;
    if (!this.#places.has(nameOf(row))) this.#put(row);
  }

  /** Takes such a note back. */
  unforget(formId: string, { hash, salt }: ForgottenNote): void {
    this.#remove({ kind: 'forgotten', formId, item: hash, detail: salt });
  }

  /** What is kept of a form's windows, in order; see `window-list.ts`. */
  windows(formId: string): string[] {
    return this.#of('window', formId)
      .sort((a, b) => Number(a.item) - Number(b.item))
      .map(({ data: [text] }) => text ?? '');
  }

  /** Keeps this of a form's windows, in place of what was kept. */
  setWindows(formId: string, texts: readonly string[]): void {
    for (const [index, text] of texts.entries()) {
      this.#put({ kind: 'window', formId, item: String(index), detail: '', data: [text] });
    }
    for (const old of this.#of('window', formId)) {
      if (Number(old.item) >= texts.length) this.#remove(old);
    }
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
        appendDimension: { sheetId, dimension: 'ROWS', length: missing + STATE_TAB_ROWS },
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

  #of(kind: StateTabKind, formId: string): StateTabRow[] {
    return this.#rows.filter(
      (row): row is StateTabRow => row !== undefined && row.kind === kind && row.formId === formId,
    );
  }

  #put(row: StateTabRow): void {
    const name = nameOf(row);
    const place = this.#places.get(name) ?? this.#free.shift() ?? this.#rows.length;
    const old = this.#rows[place];
    if (old !== undefined && old.data.join('\0') === row.data.join('\0')) return;
    this.#rows[place] = row;
    this.#places.set(name, place);
    this.#dirty.add(place);
  }

  #remove(row: Pick<StateTabRow, 'kind' | 'formId' | 'item' | 'detail'>): void {
    const place = this.#places.get(nameOf(row));
    if (place === undefined) return;
    this.#places.delete(nameOf(row));
    this.#rows[place] = undefined;
    this.#free.push(place);
    this.#dirty.add(place);
  }
}

/** The header row of a new state tab tab. */
const stateTabHeader = (sheetId: number): sheets_v4.Schema$Request => writeRow(sheetId, 0, HEADER);

const nameOf = ({ kind, formId, item, detail }: Omit<StateTabRow, 'data'>): string =>
  [kind, formId, item, detail].join('\u0001');

function parseRow(cells: readonly ReadValue[]): StateTabRow | undefined {
  const [kind = '', formId = '', item = '', detail = '', ...data] = cells.map((cell) =>
    cell === null || cell === undefined ? '' : String(cell),
  );
  if (!KINDS.has(kind) || formId === '') return undefined;
  return { kind: kind as StateTabKind, formId, item, detail, data };
}

const cellsOf = (row: StateTabRow | undefined): string[] =>
  row === undefined ? [] : [row.kind, row.formId, row.item, row.detail, ...row.data];

function writeRow(
  sheetId: number,
  place: number,
  cells: readonly string[],
): sheets_v4.Schema$Request {
  const values = Array.from({ length: STATE_TAB_COLUMNS }, (_, index) =>
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

/** Requests that make the hidden tab of the {@link StateTab}. */
export function newStateTab(
  structure: Structure,
  spreadsheetId: string,
  sheetId: number,
): { requests: sheets_v4.Schema$Request[]; tab: Tab } {
  const title = freeTabTitle(
    'Mirror state',
    structure.tabs.map((tab) => tab.title),
  );
  const tab: Tab = { sheetId, title, rowCount: STATE_TAB_ROWS, columnCount: STATE_TAB_COLUMNS };
  const gridProperties = {
    rowCount: tab.rowCount,
    columnCount: tab.columnCount,
    frozenRowCount: 1,
  };
  return {
    tab,
    requests: [
      { addSheet: { properties: { sheetId, title, hidden: true, gridProperties } } },
      createMetadata({ sheetId }, METADATA_KEYS.role, roleMark('state', spreadsheetId, sheetId)),
      stateTabHeader(sheetId),
      formatCells({ sheetId, startRow: 0, endRow: 1 }, HEADER_FORMAT),
      warnBeforeEdits(
        { sheetId },
        'Used by forms-mirror. Without it the next pass reads everything again.',
      ),
    ],
  };
}
