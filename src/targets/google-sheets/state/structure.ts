import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { browserAddress } from '../api/address.ts';
import { type Obstacle, readOverlays } from '../api/obstacles.ts';
import { type LaidRange, laidRanges } from '../columns/laid-ranges.ts';
import type { MarkedTab, Tab } from '../columns/layout.ts';
import { type CommitLog, readCommitLog } from './commit-log.ts';
import { decodeState, encodeState, type FormState, MAX_STATE_CHARACTERS } from './form-state.ts';
import { type KnownForm, readKnownForms } from './known-forms.ts';
import { readSummaryMarks, type SummaryMarks } from './summary-marks.ts';
import { createMetadata, updateMetadata } from '../api/metadata.ts';
import { MAX_METADATA_CHARACTERS } from '../api/size-limits.ts';
import { encodeCatalogue, type FieldCatalogue } from '../columns/field-catalogue.ts';
import {
  emptyTabMark,
  formMark,
  METADATA_KEYS,
  metadataEntries,
  type MetadataEntry,
  roleMark,
  TAB_ROLES,
  type TabRole,
} from '../api/metadata.ts';

/** The tab of a form. */
export interface FormTab extends MarkedTab {
  readonly formId: string;
  readonly state: FormState;
  readonly stateId: number | undefined;
  /** The catalogue, when it is kept here. */
  readonly fieldsText: string | undefined;
  readonly fieldsId: number | undefined;
  readonly ranges: readonly LaidRange[];
}

/** A tab of our own. */
export interface OwnTab extends Tab {
  /** Of the Mirror tab: what its tables were when they were written; undefined where nothing says so. */
  readonly tables?: MirrorTables | undefined;
  /** What people laid over it. */
  readonly ranges?: readonly LaidRange[];
  /** Of the Mirror tab, once that was read: a digest of what stands where its titles and headers belong; '' where they do. */
  readonly shown?: string;
}

/** The tables of the Mirror tab: see `mirror-area.ts`. */
export interface MirrorTables {
  /** Of the metadata that says so. */
  readonly id: number;
  readonly forms: number;
  /** Of the grid. Another one shows that people inserted or deleted rows. */
  readonly rowCount: number;
  /** Digests of what the lower tables hold. */
  readonly problems: string;
  readonly fields: string;
  /** Of the grid. Another one shows that people inserted or deleted columns. */
  readonly columnCount: number;
  /** The row of the last table's title. */
  readonly fieldsAt: number;
  /** What {@link OwnTab.shown} was when all was put right the last time: where it is so again, that did not last. */
  readonly repaired: string;
}

/** The empty tab that came with the spreadsheet, once we hid it. */
export interface EmptyTab {
  readonly tab: Tab;
  readonly hidden: boolean;
  /** ISO time. */
  readonly since: string;
  readonly markId: number;
}

/** Stands for a catalogue that is kept in the state tab, because it does not fit into metadata. */
export const IN_STATE_TAB = '-';

/** Everything about a spreadsheet but its cells. */
export interface Structure {
  readonly title: string;
  readonly timeZone: string;
  readonly autoRecalc: string;
  readonly commits: CommitLog;
  /** Who marks which form; see `marking-lease.ts`. */
  readonly markers: readonly MetadataEntry[];
  /** The newest look; see `kept-look.ts`. */
  readonly looks: readonly MetadataEntry[];
  /** What people have paused; see `kept-pauses.ts`. */
  readonly pauses: readonly MetadataEntry[];
  /** Which forms slugs name; see `kept-slugs.ts`. */
  readonly slugs: readonly MetadataEntry[];
  /** Forms that were mirrored into it, those without a tab included. */
  readonly knownForms: ReadonlyMap<string, KnownForm>;
  readonly tabs: readonly Tab[];
  readonly forms: ReadonlyMap<string, FormTab>;
  readonly roles: ReadonlyMap<TabRole, OwnTab>;
  /** What is known of the Summary tab. */
  readonly summary: SummaryMarks;
  /** Merged cells and heads of tables, of all tabs. */
  readonly overlays: readonly Obstacle[];
  /** Undefined when we hid none, and once it is gone. */
  readonly emptyTab: EmptyTab | undefined;
}

/** Reads the answer of {@link SheetsApi.structure}. Throws OTHER_SCHEMA when another build wrote it. */
export function readStructure(
  spreadsheetId: string,
  answer: sheets_v4.Schema$Spreadsheet,
): Structure {
  const forms = new Map<string, FormTab>();
  const roles = new Map<TabRole, OwnTab>();
  let emptyTab: EmptyTab | undefined;
  const tabs = (answer.sheets ?? []).map((sheet) => {
    const tab = readTab(sheet);
    const own = metadataEntries(sheet.developerMetadata);
    emptyTab ??= emptyTabOf(own, spreadsheetId, tab, sheet);
    const role = roleOf(own, spreadsheetId, tab.sheetId);
    const formId = formOf(own, spreadsheetId, tab.sheetId);
    if (role !== undefined)
      roles.set(role, { ...tab, tables: tablesOf(own), ranges: laidRanges(sheet) });
    else if (formId !== undefined) {
      forms.set(formId, readFormTab(tab, formId, own, sheet, browserAddress(spreadsheetId)));
    }
    return tab;
  });
  return {
    title: answer.properties?.title ?? '',
    timeZone: answer.properties?.timeZone ?? 'UTC',
    autoRecalc: answer.properties?.autoRecalc ?? '',
    commits: readCommitLog(metadataEntries(answer.developerMetadata), otherIds(answer)),
    markers: metadataEntries(answer.developerMetadata).filter(
      ({ key }) => key === METADATA_KEYS.marker,
    ),
    looks: metadataEntries(answer.developerMetadata).filter(
      ({ key }) => key === METADATA_KEYS.look,
    ),
    pauses: metadataEntries(answer.developerMetadata).filter(
      ({ key }) => key === METADATA_KEYS.pause,
    ),
    slugs: metadataEntries(answer.developerMetadata).filter(
      ({ key }) => key === METADATA_KEYS.slug,
    ),
    knownForms: readKnownForms(spreadsheetId, metadataEntries(answer.developerMetadata)),
    tabs,
    forms,
    roles,
    summary: readSummaryMarks(spreadsheetId, answer, roles.get('summary')?.sheetId),
    overlays: (answer.sheets ?? []).flatMap(readOverlays),
    emptyTab,
  };
}

/** IDs of metadata on tabs and columns: numbers that a write of ours must not take. */
function otherIds(answer: sheets_v4.Schema$Spreadsheet): number[] {
  return (answer.sheets ?? []).flatMap((sheet) =>
    metadataEntries(sheet.developerMetadata)
      .concat(columnEntries(sheet).map(({ entry }) => entry))
      .map(({ id }) => id),
  );
}

/** Where among the tabs a form's new one stands: before the first of our own; undefined: last. */
export function placeOfFormTab({ tabs, roles }: Structure): number | undefined {
  const own = new Set([...roles.values()].map(({ sheetId }) => sheetId));
  const place = tabs.findIndex(({ sheetId }) => own.has(sheetId));
  return place < 0 ? undefined : place;
}

/** Cells of all tabs together, empty ones included: what Google's 10 million count. */
export const cellCount = (structure: Structure): number =>
  structure.tabs.reduce((sum, tab) => sum + tab.rowCount * tab.columnCount, 0);

function readTab({ properties }: sheets_v4.Schema$Sheet): Tab {
  return {
    sheetId: properties?.sheetId ?? 0,
    title: properties?.title ?? '',
    rowCount: properties?.gridProperties?.rowCount ?? 0,
    columnCount: properties?.gridProperties?.columnCount ?? 0,
  };
}

function readFormTab(
  tab: Tab,
  formId: string,
  own: readonly MetadataEntry[],
  sheet: sheets_v4.Schema$Sheet,
  spreadsheet: string,
): FormTab {
  const state = own.find(({ key }) => key === METADATA_KEYS.state);
  const fields = own.find(({ key }) => key === METADATA_KEYS.fields);
  const marked = columnEntries(sheet);
  const others = [...own, ...marked.map(({ entry }) => entry)].filter(
    (entry) => entry !== state && entry !== fields,
  );
  return {
    ...tab,
    formId,
    state: decodeState(state?.value ?? '', spreadsheet),
    stateId: state?.id,
    fieldsText: fields === undefined || fields.value === IN_STATE_TAB ? undefined : fields.value,
    fieldsId: fields?.id,
    ranges: laidRanges(sheet),
    columns: marked.flatMap(({ index, entry }) => {
      const compact = entry.key === METADATA_KEYS.compactColumn;
      if (!compact && entry.key !== METADATA_KEYS.column) return [];
      return [{ index, metadataId: entry.id, mark: entry.value, compact }];
    }),
    otherCharacters: others.reduce((sum, { key, value }) => sum + key.length + value.length, 0),
  };
}

function columnEntries(sheet: sheets_v4.Schema$Sheet): { index: number; entry: MetadataEntry }[] {
  return (sheet.data ?? []).flatMap((grid) =>
    (grid.columnMetadata ?? []).flatMap((column, offset) =>
      metadataEntries(column.developerMetadata).map((entry) => ({
        index: (grid.startColumn ?? 0) + offset,
        entry,
      })),
    ),
  );
}

function formOf(
  own: readonly MetadataEntry[],
  spreadsheetId: string,
  sheetId: number,
): string | undefined {
  for (const { key, value } of own) {
    if (key !== METADATA_KEYS.form) continue;
    const [formId] = parseList(value);
    if (typeof formId === 'string' && value === formMark(formId, spreadsheetId, sheetId)) {
      return formId;
    }
  }
  return undefined;
}

function roleOf(
  own: readonly MetadataEntry[],
  spreadsheetId: string,
  sheetId: number,
): TabRole | undefined {
  const mark = own.find(({ key }) => key === METADATA_KEYS.role)?.value;
  return TAB_ROLES.find((role) => mark === roleMark(role, spreadsheetId, sheetId));
}

function tablesOf(own: readonly MetadataEntry[]): MirrorTables | undefined {
  const mark = own.find(({ key }) => key === METADATA_KEYS.tables);
  const list = parseList(mark?.value ?? '');
  const [forms, rowCount, problems, fields, columnCount, fieldsAt, repaired] = list;
  if (mark === undefined || typeof forms !== 'number' || typeof rowCount !== 'number') return;
  if (typeof columnCount !== 'number' || typeof fieldsAt !== 'number') return;
  const texts = { problems: String(problems), fields: String(fields), repaired: String(repaired) };
  return { id: mark.id, forms, rowCount, columnCount, fieldsAt, ...texts };
}

function emptyTabOf(
  own: readonly MetadataEntry[],
  spreadsheetId: string,
  tab: Tab,
  { properties }: sheets_v4.Schema$Sheet,
): EmptyTab | undefined {
  const mark = own.find(({ key }) => key === METADATA_KEYS.emptyTab);
  const [since] = parseList(mark?.value ?? '');
  if (mark === undefined || typeof since !== 'string') return undefined;
  if (mark.value !== emptyTabMark(spreadsheetId, since)) return undefined;
  return { tab, hidden: properties?.hidden === true, since, markId: mark.id };
}

function parseList(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** Characters left free on a tab, for the header's mark and for what people's own add-ons keep there. */
const SPARE_CHARACTERS = 1_000;

/** The request that keeps a state in the metadata of its tab; `newId` is for a tab without one. */
export function stateRequest(
  tab: FormTab,
  state: FormState,
  newId: number,
): sheets_v4.Schema$Request {
  const text = encodeState(state);
  return tab.stateId === undefined
    ? createMetadata({ sheetId: tab.sheetId }, METADATA_KEYS.state, text, newId)
    : updateMetadata(tab.stateId, text);
}

/**
 * The request that keeps a catalogue in the metadata of its tab. `fits`: whether it is kept there at all, or in the state
 * tab. `newId` is for a tab without one.
 */
export function catalogueRequest(
  tab: FormTab,
  catalogue: FieldCatalogue,
  fits: boolean,
  newId: number,
): sheets_v4.Schema$Request {
  const text = fits ? encodeCatalogue(catalogue) : IN_STATE_TAB;
  return tab.fieldsId === undefined
    ? createMetadata({ sheetId: tab.sheetId }, METADATA_KEYS.fields, text, newId)
    : updateMetadata(tab.fieldsId, text);
}

/** True when a catalogue can be kept as metadata, beside that much else on its tab. */
export const fitsIntoMetadata = (text: string, otherCharacters: number): boolean =>
  otherCharacters +
    METADATA_KEYS.fields.length +
    text.length +
    MAX_STATE_CHARACTERS +
    SPARE_CHARACTERS <=
  MAX_METADATA_CHARACTERS;
