import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { MirrorError } from '../../base/errors.ts';
import { cellText, looksHashed } from '../../mirror/cells.ts';
import { forgetIn } from './accounting.ts';
import type { Erasure } from '../../mirror/port.ts';
import { toSheetValue } from './api/cell-value.ts';
import { type ColumnKey, fieldKey } from './api/metadata.ts';
import { allowRemedy } from './api/sheets-error.ts';
import type { Known, Planned } from './commit.ts';
import { split } from './obstacles.ts';
import { answerOf } from './row-values.ts';
import { survey, writeRow } from './rows.ts';
import type { SheetFile } from './sheet-file.ts';
import type { FormTab } from './structure.ts';
import type { WrittenRow } from './sweep.ts';

type Request = sheets_v4.Schema$Request;

/** The plan for one write of an erasure. */
export interface Erased {
  /** The number of rows. */
  readonly count: number;
  /** Submissions that must have no row left. */
  readonly gone?: readonly string[];
  /** There are more rows than one write may contain. */
  readonly isLeft?: boolean;
  /** Cells that cannot be written. Everything else is written, and the erasure has failed. */
  readonly denied?: MirrorError | null;
}

const NOTHING: Planned<Erased> = { requests: [], isShown: true, result: { count: 0 } };

/** The most rows of one write: the request stays below the 2 MB that Google recommends. */
const MOST_ROWS = 2_000;

/** Plans an erasure over the latest reading of the tab. Google's version history keeps the earlier cells. */
export async function planErasure(
  file: SheetFile,
  tab: FormTab | undefined,
  what: Erasure,
  known: Known,
  atMs: number,
  digestOf: (id: string) => string,
): Promise<Planned<Erased>> {
  const removeRows = async (ids: readonly string[]): Promise<Planned<Erased>> => {
    const rows = new Map(known.rows);
    const count = ids.filter((id) => rows.delete(id)).length;
    const requests = await planRemoval(file, tab, ids);
    // Nothing of a forgotten submission stays in the lists of the hidden tab, not even its ID (L18).
    const doubted = known.doubted.difference(new Set(ids));
    return { ...NOTHING, requests, after: { rows, doubted }, result: { count, gone: ids } };
  };
  const entries = new Map(known.entries);
  switch (what.kind) {
    case 'forget': {
      for (const id of what.ids)
        forgetIn(entries, id, known.rows.get(id), { digest: digestOf(id), atMs });
      const removed = await removeRows(what.ids);
      return { ...removed, after: { ...removed.after, entries }, forgets: what.ids };
    }
    case 'remember':
      for (const id of what.ids) entries.delete(`forgotten ${digestOf(id)}`);
      return { ...NOTHING, after: { entries } };
    case 'purge': {
      const before = what.deletedBeforeMs ?? -Infinity;
      const isOld = (at: string | null): boolean => at !== null && Date.parse(at) < before;
      const old = [...known.rows.values()].filter(({ deletedAt }) => isOld(deletedAt));
      return removeRows(old.map(({ id }) => id));
    }
    case 'columns':
    case 'rehash':
      return rewrite(file, tab, what, known);
  }
}

/** Deletes the rows of submissions, and the copies that people made of them. */
export async function planRemoval(
  file: SheetFile,
  tab: FormTab | undefined,
  ids: readonly string[],
): Promise<Request[]> {
  if (tab === undefined || ids.length === 0) return [];
  const gone = new Set(ids);
  const column = (await file.table(tab, ['s:id'])).get('s:id') ?? [];
  const places = column.flatMap((id, row) => (gone.has(String(id ?? '')) ? [row] : []));
  const { sheetId } = tab;
  // From below, so that the rows above stay where they were found.
  return places.toReversed().map((startIndex) => ({
    deleteDimension: {
      range: { sheetId, dimension: 'ROWS', startIndex, endIndex: startIndex + 1 },
    },
  }));
}

/**
 * Replaces each answer in the columns of some fields, including rows that people copied or whose ID they removed. A hashed answer
 * stays. A protected answer makes it fail after all others are replaced.
 */
async function rewrite(
  file: SheetFile,
  tab: FormTab | undefined,
  what: Extract<Erasure, { kind: 'columns' | 'rehash' }>,
  known: Known,
): Promise<Planned<Erased>> {
  const wanted = known.fields.filter(
    ({ id, column }) => what.fieldIds.includes(id) && column !== null,
  );
  if (tab === undefined || wanted.length === 0) return NOTHING;
  const { sheetId, title, columns } = tab;
  const table = await file.table(tab);
  const rows = new Map(known.rows);
  const requests: Request[] = [];
  const written: WrittenRow[] = [];
  const deniedBy = new Set<string>();
  const { places, copies, withoutId } = survey(table, known.entries);
  // Only these rows: a total below the answers belongs to people.
  for (const row of [...places.values(), ...copies, ...withoutId]) {
    const id = String(table.get('s:id')?.[row] ?? '');
    const values = new Map<ColumnKey, string | number | null>();
    for (const { id: fieldId, content } of wanted) {
      const cell = answerOf(table.get(fieldKey(fieldId))?.[row] ?? null, content);
      if (cell === null || (what.kind === 'rehash' && looksHashed(cell))) continue;
      const next = what.kind === 'rehash' ? cellText(what.hash(cell)) : null;
      values.set(fieldKey(fieldId), toSheetValue(next).value);
    }
    const { free, by } = split(tab, row, values);
    const before = rows.get(id);
    for (const { name } of by) deniedBy.add(name);
    if (free.size === 0) continue;
    requests.push(...writeRow(sheetId, row, free, columns));
    if (before !== undefined) rows.set(id, { ...before, print: null });
    written.push({ id, values: free });
    if (written.length === MOST_ROWS) break;
  }
  const isLeft = written.length === MOST_ROWS;
  const names = [...deniedBy].join(' and ');
  const message = `On the tab "${title}" answers to be removed cannot be cleared because of ${names}. All others are removed.`;
  const remedy = allowRemedy(file.api.email);
  const denied =
    names === ''
      ? null
      : new MirrorError('TARGET_DENIED', `${message} ${remedy}`, { retryable: false });
  const result = { count: written.length, isLeft, denied };
  const isEmptied = what.kind === 'columns' && !isLeft && denied === null;
  const fields = known.fields.map((field) =>
    isEmptied && what.fieldIds.includes(field.id) ? { ...field, isFilled: false } : field,
  );
  return { ...NOTHING, requests, after: { rows, fields }, written, result };
}
