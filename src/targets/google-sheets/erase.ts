import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { cellText, looksHashed } from '../../mirror/cells.ts';
import { toSheetValue } from './api/cell-value.ts';
import { type ColumnKey, fieldKey } from './api/metadata.ts';
import { answerOf } from './rows/row-values.ts';
import { type Entries, forgetIn } from '../../mirror/ledger.ts';
import type { Erasure } from '../../mirror/port.ts';
import type { SheetField } from './fields.ts';
import { type KnownRow, survey, writeRow } from './rows.ts';
import type { SheetFile, View } from './sheet-file.ts';
import type { FormTab } from './structure.ts';

type Request = sheets_v4.Schema$Request;

/** What is erased from. */
export interface Erasing {
  readonly formId: string;
  readonly fields: readonly SheetField[];
  readonly rows: ReadonlyMap<string, KnownRow>;
  readonly entries: Entries;
  readonly digestOf: (id: string) => string;
  readonly atMs: number;
}

export interface PlannedErasure {
  readonly requests: readonly Request[];
  readonly rows: ReadonlyMap<string, KnownRow>;
  readonly entries: Entries;
  /** How many rows it concerns. */
  readonly erased: number;
  /** Submissions of which no row may be left. */
  readonly gone: readonly string[];
}

/** Plans an erasure over the spreadsheet as it was just read. Google's version history keeps what was there. */
export async function planErasure(
  file: SheetFile,
  { structure }: View,
  what: Erasure,
  from: Erasing,
): Promise<PlannedErasure> {
  const tab = structure.forms.get(from.formId);
  const entries = new Map(from.entries);
  switch (what.kind) {
    case 'forget':
      for (const id of what.ids)
        forgetIn(entries, id, from.rows.get(id), { digest: from.digestOf(id), atMs: from.atMs });
      return removeRows(file, tab, what.ids, { ...from, entries });
    case 'remember':
      for (const id of what.ids) entries.delete(`forgotten ${from.digestOf(id)}`);
      return { requests: [], rows: from.rows, entries, erased: 0, gone: [] };
    case 'purge': {
      const before = what.deletedBeforeMs ?? -Infinity;
      const old = [...from.rows.values()].filter(
        ({ deletedAt }) => deletedAt !== null && Date.parse(deletedAt) < before,
      );
      const ids = old.map(({ id }) => id);
      return removeRows(file, tab, ids, from);
    }
    case 'columns':
    case 'rehash':
      return rewrite(file, tab, what, from);
  }
}

async function removeRows(
  file: SheetFile,
  tab: FormTab | undefined,
  ids: readonly string[],
  { rows: before, entries }: Pick<Erasing, 'rows' | 'entries'>,
): Promise<PlannedErasure> {
  const rows = new Map(before);
  const erased = ids.filter((id) => rows.delete(id)).length;
  return { requests: await planRemoval(file, tab, ids), rows, entries, erased, gone: ids };
}

/** Deletes the rows of submissions, with the copies that people made of them. */
export async function planRemoval(
  file: SheetFile,
  tab: FormTab | undefined,
  ids: readonly string[],
): Promise<Request[]> {
  if (tab === undefined || ids.length === 0) return [];
  const gone = new Set(ids);
  const column = (await file.table(tab, ['s:id'])).get('s:id') ?? [];
  const places = column.flatMap((id, row) => (gone.has(String(id ?? '')) ? [row] : []));
  return deleteRows(tab.sheetId, places);
}

/** Replaces each stored answer of some fields. An answer that is hashed stays. */
async function rewrite(
  file: SheetFile,
  tab: FormTab | undefined,
  what: Extract<Erasure, { kind: 'columns' | 'rehash' }>,
  { fields, rows: before, entries }: Erasing,
): Promise<PlannedErasure> {
  const wanted = fields.filter(({ id, column }) => what.fieldIds.includes(id) && column !== null);
  if (tab === undefined || wanted.length === 0)
    return { requests: [], rows: before, entries, erased: 0, gone: [] };
  const { sheetId, columns } = tab;
  const table = await file.table(tab);
  const rows = new Map(before);
  const requests: Request[] = [];
  let erased = 0;
  for (const [id, place] of survey(table).places) {
    const values = new Map<ColumnKey, string | number | null>();
    for (const { id: fieldId, content } of wanted) {
      const cell = answerOf(table.get(fieldKey(fieldId))?.[place] ?? null, content);
      if (cell === null || (what.kind === 'rehash' && looksHashed(cell))) continue;
      const next = what.kind === 'rehash' ? cellText(what.hash(cell)) : null;
      values.set(fieldKey(fieldId), toSheetValue(next).value);
    }
    if (values.size === 0) continue;
    requests.push(...writeRow(sheetId, place, values, columns));
    const row = rows.get(id);
    if (row !== undefined) rows.set(id, { ...row, print: null });
    erased++;
  }
  return { requests, rows, entries, erased, gone: [] };
}

/** Rows go from below, so that those above stay where they were found. */
export const deleteRows = (sheetId: number, rows: readonly number[]): Request[] =>
  rows
    .toSorted((a, b) => b - a)
    .map((row) => ({
      deleteDimension: {
        range: { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + 1 },
      },
    }));
