import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { MirrorError } from '../../base/errors.ts';
import { plural } from '../../base/format.ts';
import type { PickedField } from '../../mirror/types.ts';
import type { ColumnKey } from './api/metadata.ts';
import { keepsFromInserting } from './api/obstacles.ts';
import { allowRemedy } from './api/sheets-error.ts';
import type { RowEncoder, SheetRow } from './rows/row-values.ts';
import { SerialTime } from './rows/serial-time.ts';
import type { FormState } from '../../mirror/form-state.ts';
import type { Applied, Change, Entry, EntryKind, Row } from '../../mirror/port.ts';
import { type BlockedEntry, blockedReason, type Split, split } from './blocked.ts';
import { headersOf, type SheetField, waitingHeaders, withAnswers } from './fields.ts';
import { type LaidOut, layOut } from './layout.ts';
import { blockedHeaders } from './notices.ts';
import {
  EMPTY_SURVEY,
  encoderOf,
  insertRows,
  type KnownRow,
  OWN_COLUMNS,
  type Survey,
  survey,
  type Table,
  writeRow,
} from './rows.ts';
import { type Aim, aimAt, type SheetFile, type View } from './sheet-file.ts';
import type { FormTab } from './structure.ts';

type Request = sheets_v4.Schema$Request;

/** What a change is applied to. */
export interface Committing {
  readonly state: FormState;
  readonly fields: readonly SheetField[];
  readonly prepared: readonly PickedField[];
  readonly rows: ReadonlyMap<string, KnownRow>;
  readonly atMs: number;
  readonly isForgotten: (id: string) => boolean;
  /** Submissions with cells that could not be written, and cannot be written yet. */
  readonly waiting: ReadonlyMap<string, BlockedEntry>;
  readonly survey: Survey;
}

/** What a commit writes to the form's tab, and what is known then. */
export interface PlannedCommit {
  readonly requests: readonly Request[];
  readonly rows: ReadonlyMap<string, KnownRow>;
  readonly fields: readonly SheetField[];
  /** Of rows that are not stored as they are, and of deleted rows that cannot be marked. */
  readonly listed: readonly Entry[];
  /** IDs of the rows that are stored then. */
  readonly stored: readonly string[];
  readonly applied: Applied;
  readonly aim: Aim | null;
  /** New rows that cannot be added: everything else is written, and the target has failed. */
  readonly refused: MirrorError | null;
  readonly survey: Survey;
}

/** What a change comes to, row by row, as far as the sheet is known. */
interface Compared {
  readonly fields: readonly SheetField[];
  readonly encoder: RowEncoder;
  readonly inserted: readonly SheetRow[];
  readonly updated: readonly SheetRow[];
  readonly deleted: readonly string[];
  readonly unchanged: number;
  readonly rejected: number;
  readonly rows: Map<string, KnownRow>;
  /** Why rows cannot be stored as they are, by ID. */
  readonly reasons: ReadonlyMap<string, readonly string[]>;
  /** Entries that stay as they are. */
  readonly kept: readonly BlockedEntry[];
  readonly stored: Set<string>;
  readonly source: ReadonlyMap<string, Row>;
}

function compareRows(
  tab: FormTab | undefined,
  time: SerialTime,
  change: Change,
  from: Committing,
): Compared {
  const { prepared } = from;
  const selected = new Set(prepared.map(({ id }) => id));
  const known = (change.rows ?? []).filter(({ id }) => !from.isForgotten(id));
  const fields = withAnswers(from.fields, known, selected);
  const keys = new Set([...(tab?.columns.keys() ?? []), ...headersOf(fields).keys()]);
  const encoder = encoderOf(keys, prepared, time);
  const rows = new Map(from.rows);
  const inserted: SheetRow[] = [];
  const updated: SheetRow[] = [];
  const reasons = new Map<string, readonly string[]>();
  const stored = new Set<string>();
  const kept: BlockedEntry[] = [];
  let [unchanged, rejected] = [0, 0];
  for (const row of known) {
    const { id, createdAt } = row;
    const { row: encoded, rejections } = encoder.encode(row);
    const print = encoded?.fingerprint ?? null;
    const waiting = from.waiting.get(id);
    if (encoded !== undefined) stored.add(id);
    if (waiting?.blocked.meant === print) {
      kept.push(waiting);
      // It is still not stored as it is: no run may pass over that.
      rejected++;
      continue;
    }
    if (rejections.length > 0)
      reasons.set(
        id,
        rejections.map(({ reason }) => reason),
      );
    if (encoded === undefined) {
      rejected++;
      continue;
    }
    const before = from.rows.get(id);
    const status = String(encoded.values.get('s:status') ?? '');
    rows.set(id, { id, status, createdAt, isDeleted: false, deletedAt: null, print });
    if (before === undefined) inserted.push(encoded);
    else if (before.isDeleted || before.print !== print) updated.push(encoded);
    else unchanged++;
  }
  const deleted = (change.deleted ?? []).filter((id) => rows.get(id)?.isDeleted === false);
  const source = new Map(known.map((row) => [row.id, row]));
  const done = { inserted, updated, deleted, unchanged, rejected, rows };
  return { fields, encoder, ...done, reasons, kept, stored, source };
}

/** Whether a change writes nothing to the form's tab, as far as the sheet is known: it is stored in the hidden tab only. */
export function isSettled({ structure }: View, change: Change, from: Committing): boolean {
  const tab = structure.forms.get(from.state.formId);
  if (tab === undefined) return false;
  const compared = compareRows(tab, new SerialTime(structure.timeZone), change, from);
  const { inserted, updated, deleted, fields } = compared;
  return (
    inserted.length + updated.length + deleted.length === 0 &&
    [...headersOf(fields).keys()].every((key) => tab.columns.has(key)) &&
    waitingHeaders(fields).length === blockedHeaders(tab, fields, from.survey.headerRow).length
  );
}

/** Plans the write of a change over the spreadsheet as it was just read. */
export async function planCommit(
  file: SheetFile,
  { structure }: View,
  change: Change,
  from: Committing,
): Promise<PlannedCommit> {
  const { state, atMs } = from;
  const tab = structure.forms.get(state.formId);
  const time = new SerialTime(structure.timeZone);
  const compared = compareRows(tab, time, change, from);
  const { encoder, rows, stored, source, deleted } = compared;
  const laid = await layOut(file, structure, tab, state, compared.fields);
  const { sheetId, columns } = laid;
  const headers = headersOf(laid.fields);
  const listed: Entry[] = [...compared.kept];
  const partly = new Set<string>();
  const listPartly = ({ id, fingerprint }: SheetRow, blocked: Split<unknown>): void => {
    partly.add(id);
    const why = [...(compared.reasons.get(id) ?? []), blockedReason(blocked, headers)];
    const entry = listedEntry('rejected', source.get(id) as Row, why.join(' '), atMs);
    listed.push({ ...entry, ...blockedBy(blocked, fingerprint) });
  };

  // Where people have the rows now: they may have sorted them since the form was opened.
  const isMoving = compared.updated.length + deleted.length > 0;
  const isObstructed = laid.obstructed.obstacles.length > 0;
  let found = tab === undefined ? EMPTY_SURVEY : from.survey;
  let table: Table = new Map();
  if (isMoving && tab !== undefined) {
    // What is in the way of cells matters where these differ.
    table = await file.table(tab, isObstructed ? undefined : OWN_COLUMNS);
    found = survey(table, from.rows);
  }
  const requests = [...laid.requests];
  const aimed: [row: number, id: string][] = [];
  const inserted = [...compared.inserted];
  let updated = 0;
  for (const row of compared.updated) {
    const { id } = row;
    const place = found.places.get(id);
    if (place === undefined) {
      inserted.push(row);
      continue;
    }
    const values = isObstructed
      ? encoder.differences(row, (key) => table.get(key)?.[place] ?? null)
      : row.values;
    const met = split(laid.obstructed, place, values);
    if (met.columns.length > 0) {
      listPartly(row, met);
      const known = rows.get(id);
      // A row whose mark cannot be taken away is still shown as removed.
      const { isDeleted = false, deletedAt = null } = from.rows.get(id) ?? {};
      if (known !== undefined && met.columns.includes('s:removed'))
        rows.set(id, { ...known, isDeleted, deletedAt });
    } else updated++;
    if (met.free.size === 0) continue;
    requests.push(...writeRow(sheetId, place, met.free, columns));
    aimed.push([place, id]);
  }
  const deletedAt = new Date(atMs).toISOString();
  const serial = time.toSerial(deletedAt) ?? deletedAt;
  let marked = 0;
  for (const id of deleted) {
    const place = found.places.get(id);
    const before = rows.get(id);
    if (before === undefined || place === undefined) {
      // People removed the row since the form was opened.
      rows.delete(id);
      continue;
    }
    const met = split(laid.obstructed, place, new Map([['s:removed', serial] as const]));
    if (met.columns.length > 0) {
      const why = `The source has it no more, and ${blockedReason(met, headers)}`;
      const entry = listedEntry('undecided', before, why, atMs);
      listed.push({ ...entry, ...blockedBy(met, 0) });
      continue;
    }
    marked++;
    rows.set(id, { ...before, isDeleted: true, deletedAt, print: null });
    requests.push(...writeRow(sheetId, place, met.free, columns));
    aimed.push([place, id]);
  }
  const added = await addRows(file, tab, laid, inserted, found.bottom);
  requests.push(...added.requests);
  const places = new Map(added.partly.length === 0 ? [] : found.places);
  for (const [row, met, at] of added.partly) {
    listPartly(row, met);
    places.set(row.id, at);
  }
  const refused = new Set(added.refused.map(({ id }) => id));
  for (const id of refused) {
    rows.delete(id);
    stored.delete(id);
  }
  for (const [id, why] of compared.reasons)
    if (!partly.has(id) && !refused.has(id))
      listed.push(listedEntry('rejected', source.get(id) as Row, why.join(' '), atMs));
  const { unchanged } = compared;
  return {
    requests,
    rows,
    fields: laid.fields,
    listed,
    stored: [...stored],
    aim:
      tab === undefined || requests.length === 0
        ? null
        : aimAt(tab, columns, laid.marks, {
            rows: aimed,
            appended: inserted.map(({ id }) => id),
            isOnHeaders: laid.requests.length > 0,
          }),
    applied: {
      inserted: inserted.length - added.partly.length - refused.size,
      updated,
      unchanged,
      deleted: marked,
      rejected: compared.rejected + partly.size,
    },
    refused: refused.size === 0 ? null : refusal(file, state, tab, refused.size),
    survey: {
      ...found,
      places: added.partly.length === 0 ? found.places : places,
      bottom: added.bottom,
    },
  };
}

const listedEntry = (
  kind: EntryKind,
  { id, status, createdAt }: Pick<Row, 'id' | 'status' | 'createdAt'>,
  reason: string,
  atMs: number,
): Entry => ({ kind, id, status, createdAt, reason, atMs });

const blockedBy = (
  { columns, by }: Split<unknown>,
  meant: number,
): Pick<BlockedEntry, 'blocked'> => ({ blocked: { columns, by, meant } });

interface AddedRows {
  readonly requests: readonly Request[];
  /** Rows of which some cells are left out. */
  readonly partly: readonly (readonly [row: SheetRow, blocked: Split<unknown>, place: number])[];
  /** Rows for which there is no place. */
  readonly refused: readonly SheetRow[];
  readonly bottom: number;
}

/** A row without these is none of ours. */
const NEEDED: readonly ColumnKey[] = ['s:id', 's:at', 's:status'];

/** Adds rows below the last one; where something lies across, into the blank rows below everything. */
async function addRows(
  file: SheetFile,
  tab: FormTab | undefined,
  { sheetId, columns, obstructed }: LaidOut,
  rows: readonly SheetRow[],
  below: number,
): Promise<AddedRows> {
  const grid = tab ?? { sheetId, rowCount: Infinity, laid: [], obstacles: [] };
  const at = Math.min(below, grid.rowCount);
  if (!obstructed.obstacles.some((one) => keepsFromInserting(one, at)))
    return {
      requests: insertRows(grid, rows, at, columns),
      partly: [],
      refused: [],
      bottom: at + rows.length,
    };
  const nothing = { requests: [], partly: [], refused: [], bottom: below };
  if (rows.length === 0) return nothing;
  const [lines = []] = await file.cells([sheetId]);
  const first = Math.max(at, lines.length);
  // Google adds no row to what is protected to its end.
  const isClosed = obstructed.obstacles.some(({ area }) => area.endRow === undefined);
  const requests: Request[] = [];
  const partly: [SheetRow, Split<unknown>, number][] = [];
  const refused: SheetRow[] = [];
  let bottom = first;
  for (const row of rows) {
    const values = new Map([...row.values].filter(([, value]) => value !== null));
    const met = split(obstructed, bottom, values);
    const isOutside = isClosed && bottom >= grid.rowCount;
    if (isOutside || NEEDED.some((key) => met.columns.includes(key))) {
      refused.push(row);
      continue;
    }
    requests.push(...writeRow(sheetId, bottom, met.free, columns, true));
    if (met.columns.length > 0) partly.push([row, met, bottom]);
    bottom++;
  }
  const missing = bottom - grid.rowCount;
  if (missing > 0)
    requests.unshift({ appendDimension: { sheetId, dimension: 'ROWS', length: missing } });
  return { requests, partly, refused, bottom };
}

/** Who may add no rows cannot keep the form up to date (L6). */
function refusal(
  { api }: SheetFile,
  { name, formId }: FormState,
  tab: FormTab | undefined,
  rows: number,
): MirrorError {
  const names = (tab?.obstacles ?? []).map((one) => one.name);
  return new MirrorError(
    'TARGET_DENIED',
    `On the tab "${tab?.title}" no row can be added for ${plural(rows, 'submission')} of form "${name}" (${formId}) because of ` +
      `${names.join(' and ')}. Everything else is written. ${allowRemedy(api.email)} The next run tries again.`,
  );
}
