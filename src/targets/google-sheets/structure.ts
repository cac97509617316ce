import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { type ColumnKey, markedAs, METADATA_KEYS, metadataEntries } from './api/metadata.ts';
import { type CommitLog, readCommitLog } from './commit-log.ts';
import { type Obstacle, readObstacles } from './obstacles.ts';

/** Where a tab is, and how large. */
export interface Grid {
  readonly sheetId: number;
  readonly rowCount: number;
  readonly columnCount: number;
}

/** The tab of a form. */
export interface FormTab extends Grid {
  readonly title: string;
  /** Where our columns are now, wherever people moved them. */
  readonly columns: ReadonlyMap<ColumnKey, number>;
  /** The IDs of that metadata. */
  readonly marks: ReadonlyMap<ColumnKey, number>;
  /** Protected ranges that this account may not edit, and merged cells. */
  readonly obstacles: readonly Obstacle[];
  /** Rows of the tables, filters and alternating colors that people laid over it. Open ends reach to infinity. */
  readonly laid: readonly { readonly start: number; readonly end: number }[];
}

/** A tab of our own that people see. */
export interface OwnTab extends Grid {
  /** People do not let us write to it. */
  readonly isProtected: boolean;
  readonly chartIds: readonly number[];
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
  readonly stateTab: Pick<Grid, 'sheetId' | 'rowCount'> | null;
  readonly mirrorTab: OwnTab | null;
  readonly summaryTab: OwnTab | null;
}

/** What a tab of our own is for, as its metadata says. */
export type TabRole = 'state' | 'mirror' | 'summary';

/** Reads the answer of `SheetsApi.structure`. */
export function readStructure(
  spreadsheetId: string,
  { sheets = [], properties, developerMetadata }: sheets_v4.Schema$Spreadsheet,
): Structure {
  const forms = new Map<string, FormTab>();
  const own = new Map<string, OwnTab>();
  const ids: number[] = [];
  let cells = 0;
  for (const sheet of sheets) {
    const { sheetId = 0, title, gridProperties } = sheet.properties ?? {};
    const grid = {
      sheetId: sheetId ?? 0,
      rowCount: gridProperties?.rowCount ?? 0,
      columnCount: gridProperties?.columnCount ?? 0,
    };
    cells += grid.rowCount * grid.columnCount;
    const marks = metadataEntries(sheet.developerMetadata);
    ids.push(...marks.map(({ id }) => id));
    const obstacles = readObstacles(sheet);
    const role = markedAs(marks, METADATA_KEYS.role, spreadsheetId, grid.sheetId);
    if (role !== null)
      own.set(role, {
        ...grid,
        isProtected: obstacles.some(({ kind }) => kind === 'protection'),
        chartIds: (sheet.charts ?? []).map(({ chartId }) => chartId ?? 0),
      });
    const formId = markedAs(marks, METADATA_KEYS.form, spreadsheetId, grid.sheetId);
    if (formId === null) continue;
    const columns = columnsOf(sheet);
    ids.push(...columns.marks.values());
    forms.set(formId, {
      ...grid,
      ...columns,
      title: title ?? '',
      obstacles,
      laid: [
        ...(sheet.tables ?? []),
        ...(sheet.basicFilter ? [sheet.basicFilter] : []),
        ...(sheet.filterViews ?? []),
        ...(sheet.bandedRanges ?? []),
      ].map(({ range }) => ({
        start: range?.startRowIndex ?? 0,
        end: range?.endRowIndex ?? Infinity,
      })),
    });
  }
  return {
    title: properties?.title ?? '',
    timeZone: properties?.timeZone ?? 'Etc/GMT',
    cells,
    log: readCommitLog(metadataEntries(developerMetadata), ids),
    titles: sheets.map((sheet) => sheet.properties?.title ?? ''),
    forms,
    stateTab: own.get('state' satisfies TabRole) ?? null,
    mirrorTab: own.get('mirror' satisfies TabRole) ?? null,
    summaryTab: own.get('summary' satisfies TabRole) ?? null,
  };
}

/** Columns by their contents; of two with one mark the left one counts. */
function columnsOf({ data }: sheets_v4.Schema$Sheet): Pick<FormTab, 'columns' | 'marks'> {
  const columns = new Map<ColumnKey, number>();
  const marks = new Map<ColumnKey, number>();
  for (const { startColumn, columnMetadata } of data ?? [])
    for (const [offset, { developerMetadata }] of (columnMetadata ?? []).entries())
      for (const { id, key, value } of metadataEntries(developerMetadata)) {
        if (key !== METADATA_KEYS.column || columns.has(value as ColumnKey)) continue;
        columns.set(value as ColumnKey, (startColumn ?? 0) + offset);
        marks.set(value as ColumnKey, id);
      }
  return { columns, marks };
}
