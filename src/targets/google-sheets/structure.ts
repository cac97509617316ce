import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { type CommitLog, readCommitLog } from './commit-log.ts';
import { decodeState, EMPTY_STATE, type FormState } from './form-state.ts';
import {
  type ColumnKey,
  type MetadataEntry,
  METADATA_KEYS,
  metadataEntries,
} from './sheet-metadata.ts';

/** A tab of the spreadsheet, anybody's. */
export interface Tab {
  readonly sheetId: number;
  readonly title: string;
  readonly rowCount: number;
  readonly columnCount: number;
}

/** A column that carries our metadata. */
export interface MarkedColumn {
  readonly index: number;
  readonly metadataId: number;
  /** A {@link ColumnKey}, or the few characters that stand for one. */
  readonly mark: string;
  readonly compact: boolean;
}

/** The tab of a form. */
export interface FormTab extends Tab {
  readonly formId: string;
  readonly state: FormState;
  readonly stateId: number | undefined;
  /** The catalogue, when it is kept here. */
  readonly fieldsText: string | undefined;
  readonly fieldsId: number | undefined;
  readonly columns: readonly MarkedColumn[];
  /** Characters of metadata in use on this tab besides state and catalogue, as far as we see them. */
  readonly otherCharacters: number;
}

/** What a tab of our own is for. */
export type TabRole = 'mirror' | 'ledger' | 'undo';

/** Stands for a catalogue that is kept in the ledger, because it does not fit into metadata. */
export const IN_LEDGER = '-';

/** Everything about a spreadsheet but its cells. */
export interface Structure {
  readonly title: string;
  readonly timeZone: string;
  readonly autoRecalc: string;
  readonly commits: CommitLog;
  readonly tabs: readonly Tab[];
  readonly forms: ReadonlyMap<string, FormTab>;
  readonly roles: ReadonlyMap<TabRole, Tab>;
}

/** Reads the answer of {@link SheetsApi.structure}. */
export function readStructure(
  spreadsheetId: string,
  answer: sheets_v4.Schema$Spreadsheet,
): Structure {
  const forms = new Map<string, FormTab>();
  const roles = new Map<TabRole, Tab>();
  const tabs = (answer.sheets ?? []).map((sheet) => {
    const tab = readTab(sheet);
    const own = metadataEntries(sheet.developerMetadata);
    const role = roleOf(own, spreadsheetId, tab.sheetId);
    const formId = formOf(own, spreadsheetId, tab.sheetId);
    if (role !== undefined) roles.set(role, tab);
    else if (formId !== undefined) forms.set(formId, readFormTab(tab, formId, own, sheet));
    return tab;
  });
  return {
    title: answer.properties?.title ?? '',
    timeZone: answer.properties?.timeZone ?? 'UTC',
    autoRecalc: answer.properties?.autoRecalc ?? '',
    commits: readCommitLog(metadataEntries(answer.developerMetadata), otherIds(answer)),
    tabs,
    forms,
    roles,
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
    state: state === undefined ? EMPTY_STATE : decodeState(state.value),
    stateId: state?.id,
    fieldsText: fields === undefined || fields.value === IN_LEDGER ? undefined : fields.value,
    fieldsId: fields?.id,
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

/** The value of a form's mark: a copy of the file or of the tab carries the old one's and is nobody's. */
export const formMark = (formId: string, spreadsheetId: string, sheetId: number): string =>
  JSON.stringify([formId, spreadsheetId, sheetId]);

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

/** The value of the mark on a tab of our own. */
export const roleMark = (role: TabRole, spreadsheetId: string, sheetId: number): string =>
  JSON.stringify([role, spreadsheetId, sheetId]);

function roleOf(
  own: readonly MetadataEntry[],
  spreadsheetId: string,
  sheetId: number,
): TabRole | undefined {
  const mark = own.find(({ key }) => key === METADATA_KEYS.role)?.value;
  return (['mirror', 'ledger', 'undo'] as const).find(
    (role) => mark === roleMark(role, spreadsheetId, sheetId),
  );
}

function parseList(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** Where a form's columns are, by what they show. */
export interface Layout extends Tab {
  readonly columns: ReadonlyMap<ColumnKey, PlacedColumn>;
}

/** A column and the metadata that marks it. */
export interface PlacedColumn {
  readonly index: number;
  readonly metadataId: number;
}
