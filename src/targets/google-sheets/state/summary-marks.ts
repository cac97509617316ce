import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import {
  createMetadata,
  deleteMetadata,
  hashText,
  METADATA_KEYS,
  metadataEntries,
  updateMetadata,
} from '../api/metadata.ts';

type Request = sheets_v4.Schema$Request;

/** A question whose answers the Summary tab counts one by one. */
export interface CountedQuestion {
  /** The compact key of its column. */
  readonly mark: string;
  /** How many answers have a line of their own. */
  readonly listed: number;
  /** True when every answer met was a number. */
  readonly numbers: boolean;
}

/** What the Summary tab shows, as it is noted on the tab itself. */
export interface SummaryRecord {
  /** Fingerprint of all that its formulas and their places were made of. */
  readonly digest: string;
  /** By form. */
  readonly questions: ReadonlyMap<string, readonly CountedQuestion[]>;
  /** The chart of each form; 0 for one that people deleted. */
  readonly charts: ReadonlyMap<string, number>;
}

/** What the spreadsheet's metadata tells of the Summary tab. */
export interface SummaryMarks {
  /** `sheetId` is null while the tab is yet to be made; a tab that is noted and not there was deleted by people. */
  readonly planned: { readonly metadataId: number; readonly sheetId: number | null } | undefined;
  readonly record: SummaryRecord;
  readonly recordId: number | undefined;
  /** Charts that are on the tab. */
  readonly chartIds: readonly number[];
}

/** A Summary tab that shows nothing yet. */
export const EMPTY_RECORD: SummaryRecord = { digest: '', questions: new Map(), charts: new Map() };

/** Reads what is known of the Summary tab; `sheetId`: the tab, where it is there. */
export function readSummaryMarks(
  spreadsheetId: string,
  answer: sheets_v4.Schema$Spreadsheet,
  sheetId: number | undefined,
): SummaryMarks {
  const own = metadataEntries(answer.developerMetadata).flatMap(({ id, key, value }) => {
    if (key !== METADATA_KEYS.summary) return [];
    const [mark, made] = listOf(parsed(value));
    // A copy of the file carries the original's mark.
    if (mark !== markOf(spreadsheetId)) return [];
    return [{ metadataId: id, sheetId: typeof made === 'number' ? made : null }];
  });
  const tab = answer.sheets?.find(
    ({ properties }) => sheetId !== undefined && (properties?.sheetId ?? 0) === sheetId,
  );
  const noted = metadataEntries(tab?.developerMetadata).find(
    ({ key }) => key === METADATA_KEYS.summary,
  );
  return {
    planned: own[0],
    record: decodeRecord(noted?.value ?? ''),
    recordId: noted?.id,
    chartIds: (tab?.charts ?? []).flatMap(({ chartId }) => chartId ?? []),
  };
}

/** The request that notes that the spreadsheet is to have a Summary tab, or (`sheetId`) which tab it is. */
export function plannedRequest(
  spreadsheetId: string,
  sheetId: number | null,
  { metadataId, isNew }: { readonly metadataId: number; readonly isNew: boolean },
): Request {
  const value = JSON.stringify([markOf(spreadsheetId), sheetId]);
  return isNew
    ? createMetadata({ spreadsheet: true }, METADATA_KEYS.summary, value, metadataId)
    : updateMetadata(metadataId, value);
}

/** The request that forgets that there was a Summary tab. */
export const unplannedRequest = (metadataId: number): Request => deleteMetadata(metadataId);

/** The request that notes on the tab what it shows. */
export function recordRequest(
  sheetId: number,
  record: SummaryRecord,
  recordId: number | undefined,
): Request {
  const text = encodeRecord(record);
  return recordId === undefined
    ? createMetadata({ sheetId }, METADATA_KEYS.summary, text)
    : updateMetadata(recordId, text);
}

/** Requests that have the tab written anew at the end of the next pass: what its formulas pointed at is gone. */
export const outdatedRequests = ({ record, recordId }: SummaryMarks): Request[] =>
  recordId === undefined ? [] : [updateMetadata(recordId, encodeRecord({ ...record, digest: '' }))];

const markOf = (spreadsheetId: string): string => hashText(spreadsheetId, 6);

function encodeRecord({ digest, questions, charts }: SummaryRecord): string {
  return JSON.stringify({
    v: 1,
    d: digest,
    q: [...questions].map(([formId, list]) => [
      formId,
      list.map(({ mark, listed, numbers }) => [mark, listed, numbers ? 1 : 0]),
    ]),
    c: [...charts],
  });
}

function decodeRecord(text: string): SummaryRecord {
  const raw = parsed(text) as { v?: unknown; d?: unknown; q?: unknown; c?: unknown } | null;
  if (raw?.v !== 1) return EMPTY_RECORD;
  const questions = listOf(raw.q).flatMap((item) => {
    const [formId, list] = listOf(item);
    if (typeof formId !== 'string') return [];
    return [[formId, listOf(list).flatMap(decodeQuestion)] as const];
  });
  const charts = listOf(raw.c).flatMap((item) => {
    const [formId, chartId] = listOf(item);
    const isChart = typeof formId === 'string' && typeof chartId === 'number';
    return isChart ? [[formId, chartId] as const] : [];
  });
  const digest = typeof raw.d === 'string' ? raw.d : '';
  return { digest, questions: new Map(questions), charts: new Map(charts) };
}

function decodeQuestion(raw: unknown): CountedQuestion[] {
  const [mark, listed, numbers] = listOf(raw);
  if (typeof mark !== 'string' || typeof listed !== 'number') return [];
  return [{ mark, listed, numbers: numbers === 1 }];
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
