import { isDeepStrictEqual } from 'node:util';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { MirrorError } from '../../base/errors.ts';
import { plural } from '../../base/format.ts';
import type { FormState } from '../../mirror/form-state.ts';
import { type Entries, entriesAfter, entryKey } from './accounting.ts';
import type { Applied, Change, Entry, EntryKind, Run } from '../../mirror/port.ts';
import type { Row, SelectedField } from '../../mirror/types.ts';
import type { ReadValue } from './api/cell-value.ts';
import type { ColumnKey } from './api/metadata.ts';
import { layOut } from './columns.ts';
import { headersOf, type SheetField, waitingHeaders, withAnswers } from './fields.ts';
import { blockedIn, insertionObstacles, namesOf, remedyOf, split } from './obstacles.ts';
import { OWN_COLUMNS } from './own-columns.ts';
import { RowEncoder, type SheetRow } from './row-values.ts';
import {
  EMPTY_SURVEY,
  insertRows,
  type KnownRow,
  type Survey,
  survey,
  type Table,
  writeRow,
} from './rows.ts';
import type { SerialTime } from './serial-time.ts';
import type { SheetFile } from './sheet-file.ts';
import type { FormTab, Structure } from './structure.ts';
import type { Announced, WrittenRow } from './sweep.ts';

type Request = sheets_v4.Schema$Request;

/** The known state of a form. */
export interface Known {
  readonly state: FormState;
  readonly fields: readonly SheetField[];
  readonly rows: ReadonlyMap<string, KnownRow>;
  readonly entries: Entries;
  readonly survey: Survey;
  /** Submissions whose row was written while people moved rows, so it may show earlier values. */
  readonly doubted: ReadonlySet<string>;
}

/** One write of a form, planned over the latest reading of the spreadsheet. */
export interface Planned<T> {
  readonly requests: readonly Request[];
  /** How the known state changes with it, apart from the counts of the state. */
  readonly after?: Partial<Omit<Known, 'state'>>;
  /** Applied to the state with the counts of this write. */
  readonly state?: ((state: FormState) => FormState) | undefined;
  /** Rows that are written by position. */
  readonly written?: readonly WrittenRow[];
  /** The rows announced after it, if they are not the written ones. */
  readonly announced?: readonly Announced[];
  readonly run?: Run | undefined;
  /** The messages of runs that name one of these submissions are removed. */
  readonly forgets?: readonly string[];
  readonly isShown?: boolean;
  readonly result: T;
}

/** What a change means row by row, as far as the sheet is known. */
export interface Compared {
  readonly change: Change;
  readonly fields: readonly SheetField[];
  readonly encoder: RowEncoder;
  readonly inserted: readonly SheetRow[];
  readonly updated: readonly SheetRow[];
  readonly deleted: readonly string[];
  /** The rows that can be stored, as known after the write. */
  readonly rows: ReadonlyMap<string, KnownRow>;
  /** Why rows cannot be stored unchanged, by ID. */
  readonly reasons: ReadonlyMap<string, readonly string[]>;
  readonly source: ReadonlyMap<string, Row>;
}

/** Compares a change with the known state. `prepared`: the selected fields. Leaves out rows of forgotten submissions. */
export function compareRows(
  change: Change,
  known: Known,
  prepared: readonly SelectedField[],
  time: SerialTime,
  isForgotten: (id: string) => boolean,
): Compared {
  const { rows: all = [], deleted: gone = [] } = change;
  const changed = all.filter(({ id }) => !isForgotten(id));
  const fields = withAnswers(known.fields, changed, new Set(prepared.map(({ id }) => id)));
  const encoder = new RowEncoder(headersOf(fields).keys(), prepared, time);
  const rows = new Map<string, KnownRow>();
  const inserted: SheetRow[] = [];
  const updated: SheetRow[] = [];
  const reasons = new Map<string, readonly string[]>();
  for (const row of changed) {
    const { id, createdAt } = row;
    const { row: encoded, reasons: why } = encoder.encode(row);
    if (why.length > 0) reasons.set(id, why);
    if (encoded === undefined) continue;
    const print = encoded.fingerprint;
    const before = known.rows.get(id);
    const status = String(encoded.values.get('s:status') ?? '');
    rows.set(id, { id, status, createdAt, deletedAt: null, print });
    if (before === undefined) inserted.push(encoded);
    else if (before.deletedAt !== null || before.print !== print) updated.push(encoded);
  }
  const deleted = gone.filter((id) => (rows.get(id) ?? known.rows.get(id))?.deletedAt === null);
  const source = new Map(changed.map((row) => [row.id, row]));
  return { change, fields, encoder, inserted, updated, deleted, rows, reasons, source };
}

/** Whether a change writes nothing to the form's tab, and is stored only in the hidden tab. */
export function isSettled(
  { inserted, updated, deleted, fields }: Compared,
  tab: FormTab | undefined,
): boolean {
  return (
    tab !== undefined &&
    inserted.length + updated.length + deleted.length === 0 &&
    [...headersOf(fields).keys()].every((key) => tab.columns.has(key)) &&
    waitingHeaders(fields).length === 0
  );
}

/** An existing row: of a submission that has changed, or of one to mark as deleted (null). */
interface Existing {
  readonly id: string;
  readonly row: SheetRow | null;
  readonly values: SheetRow['values'];
}

/** For the order of new rows: people read the oldest first, and the source shows the newest first. */
function timeIn({ values }: SheetRow): number {
  const at = values.get('s:at');
  return typeof at === 'number' ? at : Number.MAX_VALUE;
}

/** Plans the write of a change over the latest reading of the spreadsheet. `digestOf`: the name of a forgotten submission. */
export async function planCommit(
  file: SheetFile,
  structure: Structure,
  tab: FormTab | undefined,
  compared: Compared,
  known: Known,
  time: SerialTime,
  atMs: number,
  digestOf: (id: string) => string,
): Promise<Planned<Applied>> {
  const { state } = known;
  const { change, encoder, source } = compared;
  const [rows, stored] = [new Map(known.rows), new Set(compared.rows.keys())];
  for (const [id, row] of compared.rows) rows.set(id, row);
  const laid = await layOut(file, structure, tab, state, compared.fields);
  const { sheetId, columns } = laid;
  /** For rows that are not stored unchanged, and for deleted rows that cannot be marked. */
  const listed = new Map<string, Entry>();
  const list = (
    kind: EntryKind,
    { id, status, createdAt }: Pick<Row, 'id' | 'status' | 'createdAt'>,
    reason: string,
    blocked?: readonly ColumnKey[],
  ): void => {
    const about = { kind, id, status, createdAt, reason, atMs };
    const entry = { ...about, ...(blocked && { blocked }) };
    const before = known.entries.get(entryKey(entry));
    // An equal one stays untouched, so that nothing is written.
    const isSame = before !== undefined && isDeepStrictEqual({ ...before, atMs }, entry);
    listed.set(id, isSame ? before : entry);
  };
  const partly = new Set<string>();
  let [updated, deleted] = [0, 0];
  // Where the rows are now: people may have sorted them since the form was opened.
  const left = compared.inserted.filter(({ id }) => known.survey.bare.has(id));
  const inserted = compared.inserted.filter((row) => !left.includes(row));
  const mark = new Map([['s:removed', time.ofClock(atMs)] as const]);
  const existing: readonly Existing[] = [
    ...[...compared.updated, ...left].map((row) => ({ id: row.id, row, values: row.values })),
    ...compared.deleted.map((id) => ({ id, row: null, values: mark })),
  ];
  const isObstructed = laid.obstructed.obstacles.length > 0;
  let found = tab === undefined ? EMPTY_SURVEY : known.survey;
  let table: Table = new Map();
  if (existing.length > 0 && tab !== undefined) {
    // Obstacles to cells matter only if these differ.
    table = await file.table(tab, isObstructed ? undefined : OWN_COLUMNS);
    found = survey(table, known.entries);
  }
  const requests = [...laid.requests];
  const written: WrittenRow[] = laid.header === null ? [] : [laid.header];
  for (const { id, row, values } of existing) {
    const place = found.places.get(id) ?? found.bare.get(id);
    const now = rows.get(id);
    if (place === undefined || now === undefined) {
      // People removed the row since the form was opened.
      if (row === null) rows.delete(id);
      else inserted.push(row);
      continue;
    }
    const read = (key: ColumnKey): ReadValue => table.get(key)?.[place] ?? null;
    const changed = row !== null && isObstructed ? encoder.differences(row, read) : values;
    const met = split(laid.obstructed, place, changed);
    const because = `because of ${namesOf(met.by)}.`;
    if (met.blocked.length === 0 && row !== null) updated++;
    else if (met.blocked.length === 0) {
      deleted++;
      const deletedAt = new Date(atMs).toISOString();
      rows.set(id, { ...now, deletedAt, print: null });
    } else if (row === null)
      list(
        'undecided',
        now,
        `The source no longer has it, and its row cannot be marked ${because}`,
        met.blocked,
      );
    else {
      partly.add(id);
      // A row whose mark cannot be removed is still shown as removed. It is written again while the cells are protected.
      const before = met.blocked.includes('s:removed') ? (known.rows.get(id) ?? now) : now;
      rows.set(id, { ...now, deletedAt: before.deletedAt, print: null });
      const why = `Some cells of its row cannot be written ${because}`;
      const reasons = [...(compared.reasons.get(id) ?? []), why];
      list('rejected', source.get(id) as Row, reasons.join(' '), met.blocked);
    }
    if (met.free.size === 0) continue;
    // Together with the others, so that the announcement has few patterns.
    const { free } = split(laid.obstructed, place, values);
    requests.push(...writeRow(sheetId, place, free, columns));
    written.push({ id, values: free });
  }
  const grid = tab ?? { sheetId, rowCount: Infinity, laid: [], obstacles: [] };
  const at = Math.min(found.bottom, grid.rowCount);
  const by = insertionObstacles(laid.obstructed.obstacles, at);
  const waiting = new Set(by.length > 0 ? inserted.map(({ id }) => id) : []);
  if (waiting.size === 0) {
    const areFirst = found.places.size === 0;
    const inOrder = inserted.toSorted((a, b) => timeIn(a) - timeIn(b));
    requests.push(...insertRows(grid, inOrder, at, columns, areFirst));
  }
  for (const id of waiting) {
    rows.delete(id);
    stored.delete(id);
    const why = `No row can be inserted because of ${namesOf(by)}.`;
    const reasons = [...(compared.reasons.get(id) ?? []), why];
    list('rejected', source.get(id) as Row, reasons.join(' '), ['s:id']);
  }
  for (const [id, why] of compared.reasons)
    if (!partly.has(id) && !waiting.has(id)) list('rejected', source.get(id) as Row, why.join(' '));
  const added = inserted.length - waiting.size;
  const entries = entriesAfter(
    known.entries,
    { ...change, entries: [...(change.entries ?? []), ...listed.values()] },
    stored,
    digestOf,
  );
  const doubted = known.doubted.difference(stored).difference(new Set(change.deleted));
  const shifted = (row: number): number => (row >= at ? row + added : row);
  const isFilled = new Set(left.map(({ id }) => id));
  const bare = [...found.bare].filter(([id]) => !isFilled.has(id));
  const after = { fields: laid.fields, rows, entries, doubted };
  return {
    requests,
    after: {
      ...after,
      survey: {
        ...found,
        bare: new Map(bare.map(([id, row]) => [id, shifted(row)])),
        copies: found.copies.map(shifted),
        withoutId: found.withoutId.map(shifted),
        bottom: found.bottom + added,
      },
    },
    state: change.state,
    written: tab === undefined ? [] : written,
    run: change.run,
    result: {
      inserted: added,
      updated,
      unchanged: compared.rows.size - compared.inserted.length - compared.updated.length,
      deleted,
      rejected: source.size - compared.rows.size + partly.size + waiting.size,
    },
  };
}

/** Why new rows wait: an account that may not add rows cannot keep the form up to date (L6). Null: none waits. */
export function refusalOf(
  { state, entries, rows, survey: { bottom } }: Known,
  tab: FormTab,
  email: string | undefined,
): MirrorError | null {
  const waiting = blockedIn(entries).filter(({ id }) => !rows.has(id)).length;
  const by = insertionObstacles(tab.obstacles, Math.min(bottom, tab.rowCount));
  if (waiting === 0 || by.length === 0) return null;
  const remedies = [...new Set(by.map(({ kind }) => remedyOf(kind, email)))].join(' ');
  return new MirrorError(
    'TARGET_DENIED',
    `On the tab "${tab.title}" no row can be added for ${plural(waiting, 'new submission')} of form "${state.name}" (${state.formId}) ` +
      `because of ${namesOf(by)}. Everything else is written. ${remedies} The next run tries again.`,
  );
}
