import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import {
  type ColumnKey,
  compactKey,
  METADATA_KEYS,
  type MetadataEntry,
  metadataEntries,
} from './api/metadata.ts';
import { type Obstacle, readOverlays, readProtections } from './api/obstacles.ts';
import { type LaidRange, laidRanges } from './columns/laid-ranges.ts';
import { type CommitLog, readCommitLog } from './state/commit-log.ts';

/** The tab of a form. */
export interface FormTab {
  readonly sheetId: number;
  readonly title: string;
  readonly rowCount: number;
  readonly columnCount: number;
  /** Where our columns are now, wherever people moved them. */
  readonly columns: ReadonlyMap<ColumnKey, number>;
  /** The IDs of the metadata that says so. */
  readonly marks: ReadonlyMap<ColumnKey, number>;
  /** Columns with a mark of few characters, whose keys are not known yet: see {@link withKeys}. */
  readonly unnamed: ReadonlyMap<string, { readonly index: number; readonly metadataId: number }>;
  /** Protected ranges that this account may not edit, and merged cells. */
  readonly obstacles: readonly Obstacle[];
  /** Tables, filters and alternating colors that lie over it. */
  readonly laid: readonly LaidRange[];
}

/** Everything about a spreadsheet but its cells, as of one reading. */
export interface Structure {
  readonly title: string;
  readonly timeZone: string;
  /** Cells of all tabs, empty ones included. */
  readonly cells: number;
  readonly log: CommitLog;
  readonly titles: readonly string[];
  readonly forms: ReadonlyMap<string, FormTab>;
  /** The hidden tab that holds states and entries; null before the first write. */
  readonly stateTab: Pick<FormTab, 'sheetId' | 'rowCount'> | null;
  readonly mirrorTab: OwnTab | null;
  readonly summaryTab: OwnTab | null;
}

/** A tab of our own that people see. */
export interface OwnTab extends Pick<FormTab, 'sheetId' | 'title' | 'rowCount' | 'columnCount'> {
  /** People do not let us write to it. */
  readonly isProtected: boolean;
  readonly chartIds: readonly number[];
}

/** What the metadata of a tab of our own says. A copy of the file or of the tab carries the original's, and so binds to nothing. */
export const roleMark = (
  role: 'state' | 'mirror' | 'summary',
  spreadsheetId: string,
  sheetId: number,
): string => JSON.stringify([role, spreadsheetId, sheetId]);

/** Reads the answer of `SheetsApi.structure`. */
export function readStructure(
  spreadsheetId: string,
  answer: sheets_v4.Schema$Spreadsheet,
): Structure {
  const forms = new Map<string, FormTab>();
  let stateTab: Structure['stateTab'] = null;
  const own: Record<'mirror' | 'summary', OwnTab | null> = { mirror: null, summary: null };
  const others: number[] = [];
  const protections = readProtections(answer);
  for (const sheet of answer.sheets ?? []) {
    const tab = tabOf(sheet);
    const marks = metadataEntries(sheet.developerMetadata);
    others.push(...marks.map(({ id }) => id));
    const isOwn = (role: 'state' | 'mirror' | 'summary'): boolean => {
      const mark = roleMark(role, spreadsheetId, tab.sheetId);
      return marks.some(({ key, value }) => key === METADATA_KEYS.role && value === mark);
    };
    if (isOwn('state')) stateTab = tab;
    for (const role of ['mirror', 'summary'] as const)
      if (isOwn(role))
        own[role] = {
          ...tab,
          isProtected: protections.some(({ sheetId }) => sheetId === tab.sheetId),
          chartIds: (sheet.charts ?? []).map(({ chartId }) => chartId ?? 0),
        };
    const formId = formOf(marks, spreadsheetId, tab.sheetId);
    if (formId === null) continue;
    const obstacles = [...protections, ...readOverlays(sheet)].filter(
      (one) => one.sheetId === tab.sheetId && one.kind !== 'head',
    );
    forms.set(formId, {
      ...tab,
      ...columnsOf(sheet, others),
      obstacles,
      laid: laidRanges(sheet),
    });
  }
  return {
    title: answer.properties?.title ?? '',
    timeZone: answer.properties?.timeZone ?? 'Etc/GMT',
    cells: (answer.sheets ?? [])
      .map((sheet) => tabOf(sheet))
      .reduce((sum, { rowCount, columnCount }) => sum + rowCount * columnCount, 0),
    log: readCommitLog(metadataEntries(answer.developerMetadata), others),
    titles: (answer.sheets ?? []).map(({ properties }) => properties?.title ?? ''),
    forms,
    stateTab,
    mirrorTab: own.mirror,
    summaryTab: own.summary,
  };
}

function tabOf({
  properties,
}: sheets_v4.Schema$Sheet): Pick<FormTab, 'sheetId' | 'title' | 'rowCount' | 'columnCount'> {
  const { sheetId, title, gridProperties } = properties ?? {};
  return {
    sheetId: sheetId ?? 0,
    title: title ?? '',
    rowCount: gridProperties?.rowCount ?? 0,
    columnCount: gridProperties?.columnCount ?? 0,
  };
}

/** The form that a tab is bound to. */
function formOf(
  own: readonly MetadataEntry[],
  spreadsheetId: string,
  sheetId: number,
): string | null {
  for (const { key, value } of own) {
    if (key !== METADATA_KEYS.form) continue;
    const [formId, file, sheet] = JSON.parse(value) as unknown[];
    if (typeof formId === 'string' && file === spreadsheetId && sheet === sheetId) return formId;
  }
  return null;
}

/** Columns by what they show; of two with one mark the left one counts. `ids`: gets the IDs of their metadata. */
function columnsOf(
  { data }: sheets_v4.Schema$Sheet,
  ids: number[],
): Pick<FormTab, 'columns' | 'marks' | 'unnamed'> {
  const unnamed = new Map<string, { index: number; metadataId: number }>();
  const columns = new Map<ColumnKey, number>();
  const marks = new Map<ColumnKey, number>();
  for (const { startColumn, columnMetadata } of data ?? [])
    for (const [offset, { developerMetadata }] of (columnMetadata ?? []).entries())
      for (const { id, key, value } of metadataEntries(developerMetadata)) {
        ids.push(id);
        const index = (startColumn ?? 0) + offset;
        if (key === METADATA_KEYS.compactColumn && !unnamed.has(value))
          unnamed.set(value, { index, metadataId: id });
        if (key !== METADATA_KEYS.column || columns.has(value as ColumnKey)) continue;
        columns.set(value as ColumnKey, index);
        marks.set(value as ColumnKey, id);
      }
  return { columns, marks, unnamed };
}

/** The structure with the columns whose marks are short. `keysOf`: all keys that the columns of a form may have. */
export function withKeys(
  structure: Structure,
  keysOf: (formId: string) => readonly ColumnKey[],
): Structure {
  if ([...structure.forms.values()].every(({ unnamed }) => unnamed.size === 0)) return structure;
  const forms = new Map<string, FormTab>();
  for (const [formId, tab] of structure.forms) {
    const [columns, marks] = [new Map(tab.columns), new Map(tab.marks)];
    for (const key of tab.unnamed.size === 0 ? [] : keysOf(formId)) {
      const found = tab.unnamed.get(compactKey(key));
      if (found === undefined || columns.has(key)) continue;
      columns.set(key, found.index);
      marks.set(key, found.metadataId);
    }
    forms.set(formId, { ...tab, columns, marks });
  }
  return { ...structure, forms };
}
