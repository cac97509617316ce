import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { MirrorError } from '../../base/errors.ts';
import { FORGET_AGAIN } from '../../mirror/forgotten.ts';
import {
  type ColumnKey,
  createMetadata,
  markedAs,
  METADATA_KEYS,
  metadataEntries,
  requireMetadata,
} from './api/metadata.ts';
import { type Obstacle, readObstacles } from './obstacles.ts';

/** The place and size of a tab. */
export interface Grid {
  readonly sheetId: number;
  readonly rowCount: number;
  readonly columnCount: number;
}

/** The tab of a form. */
export interface FormTab extends Grid {
  readonly title: string;
  /** The current places of our columns, wherever people moved them. */
  readonly columns: ReadonlyMap<ColumnKey, number>;
  /** The IDs of that metadata. */
  readonly marks: ReadonlyMap<ColumnKey, number>;
  /** The mark of the column to the right of ours, and its place; null before the first write by position. */
  readonly end: { readonly id: number; readonly column: number } | null;
  /** Protected ranges that this account may not edit, and merged cells. */
  readonly obstacles: readonly Obstacle[];
  /** The rows of tables, filters and alternating colors that people put over it. Open ends reach to infinity. */
  readonly laid: readonly { readonly start: number; readonly end: number }[];
}

/** A tab of our own. */
export interface OwnTab extends Grid, Pick<FormTab, 'title' | 'obstacles'> {
  readonly chartIds: readonly number[];
}

/** The protections of a tab, for messages. */
export const protectionsOf = ({ title, obstacles }: Pick<FormTab, 'title' | 'obstacles'>) =>
  obstacles
    .filter(({ kind }) => kind === 'protection')
    .map(({ name }) => `${name} on the tab "${title}"`);

/** Everything about a spreadsheet except its cells, from one reading. */
export interface Structure {
  readonly title: string;
  readonly timeZone: string;
  /** Cells of all tabs, including empty ones. */
  readonly cells: number;
  /** The name of the mirror's last write; null before the first. */
  readonly revision: string | null;
  readonly titles: readonly string[];
  readonly forms: ReadonlyMap<string, FormTab>;
  /** Our own tabs, by role. Before the first write there is none. */
  readonly own: ReadonlyMap<TabRole, OwnTab>;
}

/**
 * The role of the hidden tab, which holds states and entries. Raise the number with every change of the stored shape: a spreadsheet
 * of another one is not touched.
 */
export const STATE = 'state 1';

/** The role of a tab of our own, according to its metadata. */
export type TabRole = typeof STATE | 'mirror' | 'summary';

/** Throws OTHER_SCHEMA for a role that only another build gives. */
function requireKnown(role: string, spreadsheet: string, tab: string): asserts role is TabRole {
  if (role === STATE || !role.startsWith('state')) return;
  throw new MirrorError(
    'OTHER_SCHEMA',
    `The spreadsheet "${spreadsheet}" was written by another build of forms-mirror. Choose another spreadsheet, or delete the hidden tab ` +
      `"${tab}" and the tabs of the forms, and run again. ${FORGET_AGAIN}`,
  );
}

/** Reads the response of `SheetsApi.structure`. Throws OTHER_SCHEMA if another build has written the spreadsheet. */
export function readStructure({
  sheets = [],
  properties,
  developerMetadata,
}: sheets_v4.Schema$Spreadsheet): Structure {
  const forms = new Map<string, FormTab>();
  const own = new Map<TabRole, OwnTab>();
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
    const obstacles = readObstacles(sheet);
    const role = markedAs(marks, METADATA_KEYS.role, grid.sheetId);
    if (role !== null) {
      requireKnown(role, properties?.title ?? '', title ?? '');
      own.set(role, {
        ...grid,
        title: title ?? '',
        obstacles,
        chartIds: (sheet.charts ?? []).map(({ chartId }) => chartId ?? 0),
      });
    }
    const formId = markedAs(marks, METADATA_KEYS.form, grid.sheetId);
    if (formId === null) continue;
    forms.set(formId, {
      ...grid,
      ...columnsOf(sheet),
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
    revision:
      metadataEntries(developerMetadata).find(({ key }) => key === METADATA_KEYS.revision)?.value ??
      null,
    titles: sheets.map((sheet) => sheet.properties?.title ?? ''),
    forms,
    own,
  };
}

/** Columns by their contents. If two have one mark, the left one counts. */
function columnsOf({ data }: sheets_v4.Schema$Sheet): Pick<FormTab, 'columns' | 'marks' | 'end'> {
  const columns = new Map<ColumnKey, number>();
  const marks = new Map<ColumnKey, number>();
  let end: FormTab['end'] = null;
  for (const { startColumn, columnMetadata } of data ?? [])
    for (const [offset, { developerMetadata }] of (columnMetadata ?? []).entries())
      for (const { id, key, value } of metadataEntries(developerMetadata)) {
        if (key === METADATA_KEYS.end) end = { id, column: (startColumn ?? 0) + offset };
        if (key !== METADATA_KEYS.column || columns.has(value as ColumnKey)) continue;
        columns.set(value as ColumnKey, (startColumn ?? 0) + offset);
        marks.set(value as ColumnKey, id);
      }
  return { columns, marks, end };
}

type Request = sheets_v4.Schema$Request;

/**
 * The ID of the revision, the same in every spreadsheet, so that if two processes write first, only one gets through. Google draws
 * its own IDs at random from all positive 32-bit numbers.
 */
const REVISION_ID = 1_100_000_000;

/** Requires that no process of the mirror has written since the spreadsheet was read. `name`: the name of this write. */
export function requireRevision({ revision }: Structure, name: string): Request[] {
  const mark = {
    id: REVISION_ID,
    key: METADATA_KEYS.revision,
    place: { spreadsheet: true },
  } as const;
  if (revision !== null) return requireMetadata({ ...mark, value: revision }, { value: name });
  return [createMetadata(mark.place, mark.key, name, mark.id)];
}

/**
 * Requires that people have neither moved nor deleted one of our columns since they were read. A deleted column moves those to its
 * right; the mark behind our columns shows that the last one was deleted. `newId`: for that mark.
 */
export function requireColumns(
  { sheetId, columns, marks, end, columnCount }: FormTab,
  newId: number,
): Request[] {
  const required = [...columns].flatMap(([value, column]) => {
    const place = { sheetId, column };
    return requireMetadata({ id: marks.get(value) ?? 0, key: METADATA_KEYS.column, value, place });
  });
  const place = { sheetId, column: Math.max(-1, ...columns.values()) + 1 };
  // Without a column there, a deleted one makes the grid too small for the last requirement.
  if (place.column >= columnCount) return required;
  const mark = { key: METADATA_KEYS.end, value: 'end' };
  if (end === null) return [...required, createMetadata(place, mark.key, mark.value, newId)];
  const there = { sheetId, column: end.column };
  return [...required, ...requireMetadata({ ...mark, id: end.id, place: there }, { place })];
}
