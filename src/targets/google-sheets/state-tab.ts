import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { MirrorError } from '../../base/errors.ts';
import type { FormState } from '../../mirror/form-state.ts';
import { FORGET_AGAIN } from '../../mirror/forgotten.ts';
import { entryKey } from './accounting.ts';
import type { TargetNotice, Entry, Run, StoredRecord } from '../../mirror/port.ts';
import type { CountedQuestion } from './answer-tally.ts';
import { cellData, type ReadValue } from './api/cell-value.ts';
import { growBy } from './api/formatting.ts';
import type { SheetField } from './fields.ts';
import type { Announced } from './sweep.ts';

/*
 * The hidden tab: a row for each form's document and entry, and for each record of the store.
 */

type Request = sheets_v4.Schema$Request;

/** The subject of one row of the hidden tab. `formId` is '' for a row that belongs to no form. */
export interface StateKey {
  readonly kind: 'state' | 'entry' | 'record';
  readonly formId: string;
  readonly key: string;
}

interface StateRow extends StateKey {
  readonly text: string;
  /** From 0. */
  readonly row: number;
}

/** A row after a change; `text` null: the row is removed. */
export interface StateChange extends StateKey {
  readonly text: string | null;
}

/** The hidden tab, as read: texts by key, with their rows. Its rows never move, because people do not see it. */
export interface StateTab {
  readonly rows: ReadonlyMap<string, StateRow>;
  /** The first row that was never written to. */
  readonly end: number;
}

/** The row of something that belongs to no form. */
export const recordKey = (key: string): StateKey => ({ kind: 'record', formId: '', key });

export const EMPTY_STATE_TAB: StateTab = { rows: new Map(), end: 0 };

/** The title of a new hidden tab. */
export const STATE_TITLE = 'forms-mirror data';

/** A cell holds 50,000 characters; a longer text continues in the cells beside it. */
const CELL_CHARACTERS = 40_000;
const SPARE_ROWS = 200;

const nameOf = ({ kind, formId, key }: StateKey): string => [kind, formId, key].join('\u0001');

export function readStateTab(values: readonly (readonly ReadValue[])[]): StateTab {
  const rows = new Map<string, StateRow>();
  for (const [row, [kind = '', formId = '', key = '', ...parts]] of values.entries()) {
    if (kind === '' || kind === null) continue;
    const found = {
      kind: String(kind) as StateKey['kind'],
      formId: String(formId),
      key: String(key),
      text: parts.map((part) => String(part ?? '')).join(''),
      row,
    };
    rows.set(nameOf(found), found);
  }
  return { rows, end: values.length };
}

export const textIn = (tab: StateTab, key: StateKey): string | null =>
  tab.rows.get(nameOf(key))?.text ?? null;

/** The value of a row. Throws TARGET_FAILED if people have damaged it. */
function valueOf({ text, row }: StateRow): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The parser's message quotes the text.
  }
  throw new MirrorError(
    'TARGET_FAILED',
    `Row ${row + 1} of the mirror's hidden tab ("${STATE_TITLE}", unless someone renamed it) is damaged. Until you restore it with ` +
      'Edit › Undo or File › Version history, the mirror writes nothing that depends on it. If you cannot, delete that tab and the ' +
      'tabs of the forms, and they are copied again. ' +
      FORGET_AGAIN,
    { retryable: false },
  );
}

const valueIn = (tab: StateTab, key: StateKey): unknown => {
  const found = tab.rows.get(nameOf(key));
  return found === undefined ? null : valueOf(found);
};

/**
 * The tab after some changes, and the requests for them. `place`: the tab in the spreadsheet, and how many rows its grid has;
 * returns how many it has afterwards.
 */
export function changeStateTab(
  tab: StateTab,
  place: { readonly sheetId: number; readonly rowCount: number },
  put: readonly StateChange[],
): { readonly tab: StateTab; readonly requests: Request[]; readonly rowCount: number } {
  const rows = new Map(tab.rows);
  const requests: Request[] = [];
  const used = new Set([...rows.values()].map(({ row }) => row));
  const free = Array.from({ length: tab.end }, (_, row) => row).filter((row) => !used.has(row));
  let { end } = tab;
  for (const { kind, formId, key, text } of put) {
    const name = nameOf({ kind, formId, key });
    const before = rows.get(name);
    if ((before?.text ?? null) === text) continue;
    const row = before?.row ?? free.shift() ?? end++;
    if (text === null) rows.delete(name);
    else rows.set(name, { kind, formId, key, text, row });
    const cells = text === null ? [] : [kind, formId, key, ...partsOf(text)];
    // Clears the remainder of a longer earlier value.
    const width = Math.max(cells.length, 3 + partsOf(before?.text ?? '').length);
    const values = Array.from({ length: width }, (_, at) => cellData(cells[at] ?? null));
    const start = { sheetId: place.sheetId, rowIndex: row, columnIndex: 0 };
    requests.push({ updateCells: { start, rows: [{ values }], fields: 'userEnteredValue' } });
  }
  const missing = end > place.rowCount ? end - place.rowCount + SPARE_ROWS : 0;
  requests.unshift(...growBy(place.sheetId, 'ROWS', missing));
  return { tab: { rows, end }, requests, rowCount: place.rowCount + missing };
}

function partsOf(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const part = text.slice(at, at + CELL_CHARACTERS);
    // Half a surrogate pair at the end of a cell would be lost.
    const whole = part.isWellFormed() ? part : part.slice(0, -1);
    parts.push(whole);
    at += whole.length;
  }
  return parts;
}

/** The document of one form in the hidden tab. */
export interface FormDocument {
  readonly state: FormState;
  readonly fields: readonly SheetField[];
  /** The newest runs, the newest first. */
  readonly runs: readonly Run[];
  /** Rows that were written with it by position, until it is known that the write reached them. */
  readonly announced: readonly Announced[];
  /** Submissions whose row was written while people moved cells, and has not been written since. */
  readonly doubted: readonly string[];
  /** What the last write found that needs a person's attention. The Mirror tab shows all forms, but a write reads only one. */
  readonly notices: readonly TargetNotice[];
  /** The row with the headers. */
  readonly headerRow: number;
  /** The time zone in which its times were written, because a sheet shows times without a zone. */
  readonly timeZone: string;
  /** Questions that the Summary tab counts by answer. */
  readonly questions: readonly CountedQuestion[];
}

/** A record of the store; null if there is none. Throws TARGET_FAILED, like everything below, if people have damaged it. */
export const recordIn = (tab: StateTab, key: string): StoredRecord | null =>
  valueIn(tab, recordKey(key)) as StoredRecord | null;

/** Entries of a form by their keys. */
export const entriesIn = ({ rows }: StateTab, form: string): Map<string, Entry> =>
  new Map(
    [...rows.values()].flatMap((found) => {
      if (found.kind !== 'entry' || found.formId !== form) return [];
      const entry = valueOf(found) as Entry;
      return [[entryKey(entry), entry] as const];
    }),
  );

/** Every form of the spreadsheet. */
export const documentsIn = ({ rows }: StateTab): FormDocument[] =>
  [...rows.values()].flatMap((found) =>
    found.kind === 'state' ? [valueOf(found) as FormDocument] : [],
  );

/** The row of a form's document. */
export const documentKey = (formId: string): StateKey => ({ kind: 'state', formId, key: '' });

/** A form; null if the spreadsheet does not have it. */
export const documentIn = (tab: StateTab, formId: string): FormDocument | null =>
  valueIn(tab, documentKey(formId)) as FormDocument | null;
