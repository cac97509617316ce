import { createHash } from 'node:crypto';
import type { TestEmulator } from '../../packages/google-sheets-emulator/test/support/emulator.ts';
import type { Copy, CopiedField, CopiedForm, CopiedRow, Rejected } from './copy.ts';
import {
  actOn,
  BESIDE,
  CLEARED,
  COPY,
  damage,
  type FormTab,
  formTabs,
  unprotect,
} from './sheet-acts.ts';
import type { Place } from './stores.ts';

/**
 * The copy in a spreadsheet: the values of its cells, and the metadata that assigns tabs to forms. Times are those of a
 * spreadsheet in UTC.
 */

type Value = string | number | boolean | null;

let started: Promise<TestEmulator> | undefined;

async function startEmulator(): Promise<TestEmulator> {
  // Only here, so that the simulation of a database needs no Google package.
  const { startTestEmulator } =
    await import('../../packages/google-sheets-emulator/test/support/emulator.ts');
  const { EMULATOR_EMAIL, EMULATOR_TOKEN } =
    await import('../../src/targets/google/credentials.ts');
  const emulator = await startTestEmulator();
  emulator.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  return emulator;
}

/** A separate spreadsheet. */
export async function newSheet(): Promise<Place> {
  started ??= startEmulator();
  const emulator = await started;
  const id = emulator.createSpreadsheet();
  return {
    url: `sheets:${id}`,
    settings: { SHEETS_EMULATOR_URL: emulator.url.replace(/\/$/, '') },
    read: async () => readSheet(emulator, id),
    damage: (deed, formId, random) => damage(emulator, id, deed, formId, random),
    mend: () => unprotect(emulator, id),
    act: (random) => actOn(emulator, id, random),
    dispose: async () => {},
  };
}

export async function stopSheets(): Promise<void> {
  await (await started)?.stop();
  started = undefined;
}

function readSheet(emulator: TestEmulator, spreadsheetId: string): Copy {
  const { rejections, fieldIds } = hiddenIn(emulator, spreadsheetId);
  return new Map(
    [...formTabs(emulator, spreadsheetId)].map(([formId, tab]) => {
      const rejected = rejections.get(formId) ?? new Map<string, Rejected>();
      return [formId, formIn(emulator, spreadsheetId, formId, tab, fieldIds, rejected)];
    }),
  );
}

function formIn(
  emulator: TestEmulator,
  spreadsheetId: string,
  formId: string,
  { sheetId, columns, grid }: FormTab,
  fieldIds: ReadonlyMap<string, string>,
  rejected: ReadonlyMap<string, Rejected>,
): CopiedForm {
  const ids = columns.get('s:id') ?? -1;
  const headerRow = Math.max(
    0,
    grid.findIndex((line) => line[ids] === 'Submission ID'),
  );
  const header = grid[headerRow] ?? [];
  const cell = (line: readonly Value[], key: string): Value => {
    const at = columns.get(key);
    return at === undefined ? null : (line[at] ?? null);
  };
  const fields: CopiedField[] = [];
  for (const [key, at] of columns) {
    if (!key.startsWith('f:')) continue;
    const fieldId = fieldIds.get(key) ?? key;
    fields.push({
      fieldId,
      column: key,
      textColumn: null,
      label: labelIn(String(header[at] ?? ''), fieldId),
    });
  }
  const marks = new Map<number, string>();
  const notes = emulator.inspect.notes(spreadsheetId, sheetId);
  for (const { row, column, note } of notes) if (column === ids) marks.set(row, note);
  const rows = new Map<string, CopiedRow>();
  const others: CopiedRow[] = [];
  const own = new Set<string>();
  const places: number[] = [];
  const twice: string[] = [];
  const astray: string[] = [];
  const misplaced: string[] = [];
  const isAnswer = new Set(fields.map(({ column }) => columns.get(column ?? '')));
  for (const [at, line] of grid.entries()) {
    if (at <= headerRow) continue;
    const id = String(cell(line, 's:id') ?? '');
    const removed = cell(line, 's:removed');
    const deletedAt = timeOf(removed);
    const row: CopiedRow = {
      id,
      status: String(cell(line, 's:status') ?? ''),
      createdAt: timeOf(cell(line, 's:at')) ?? '',
      changedAt: null,
      isDeleted: deletedAt !== null,
      deletedAt,
      cells: Object.fromEntries(fields.map(({ column }) => [column, cell(line, column ?? '')])),
    };
    const isCleared = marks.get(at) === CLEARED;
    // The texts in the column of a field begin with the ID of its submission.
    for (const [column, value] of line.entries()) {
      if (column === ids) continue;
      const [, beside] = /^beside (s\w+n\d+)$/.exec(String(value)) ?? [];
      if (beside !== undefined && beside !== id && !isCleared)
        misplaced.push(`"${value}" is in the row of ${id}`);
      const [, of] = /^(s\w+n\d+)\.\d/.exec(String(value)) ?? [];
      if (of !== undefined && !(isAnswer.has(column) && (of === id || isCleared))) astray.push(of);
    }
    // A row that only shows an ID stores no submission: nothing is left of it.
    const isBlank = Object.values(row.cells).every((value) => value === null || value === '');
    if (row.status === '' && row.createdAt === '' && !row.isDeleted && isBlank) continue;
    if (id === '') {
      // Without a time or a status it cannot be distinguished from a person's own row.
      if (isCleared && row.status !== '' && row.createdAt !== '') others.push(row);
      continue;
    }
    // Of two rows with one ID the upper one belongs to the submission.
    if (rows.has(id)) others.push(row);
    else rows.set(id, row);
    if (marks.get(at) === COPY) continue;
    if (own.has(id)) twice.push(id);
    own.add(id);
    places.push(at);
  }
  for (const { row, note } of notes) {
    const [, id] = new RegExp(`^${BESIDE}(.*)$`).exec(note) ?? [];
    const there = String(cell(grid[row] ?? [], 's:id') ?? '');
    if (id !== undefined && id !== there && marks.get(row) !== CLEARED)
      misplaced.push(`the note on ${id} is on ${there === '' ? 'a row without an ID' : there}`);
  }
  for (const line of grid.slice(headerRow + 1))
    for (const [at, value] of line.entries())
      if (at !== ids && rows.has(String(value))) astray.push(String(value));
  const outside = uncovered(emulator, spreadsheetId, sheetId, places);
  const people = { others, misplaced, outside };
  return { formId, table: formId, rows, twice, astray, fields, statuses: null, rejected, people };
}

/** The rows of submissions that people's filters, tables and colors do not cover. */
function uncovered(
  { inspect }: TestEmulator,
  spreadsheetId: string,
  sheetId: number,
  rows: readonly number[],
): string[] {
  const { basicFilter, tables, filterViews, bandedRanges } = inspect.ranges(spreadsheetId, sheetId);
  const laid = [
    ...(basicFilter === undefined ? [] : [{ what: 'filter', range: basicFilter.range }]),
    ...tables.map(({ range }) => ({ what: 'table', range })),
    ...filterViews.map(({ range }) => ({ what: 'filter view', range })),
    ...bandedRanges.map(({ range }) => ({ what: 'alternating colors', range })),
  ];
  if (basicFilter === undefined && tables.length === 0) return ['the filter is gone'];
  return laid.flatMap(({ what, range }) => {
    const [start, end] = [range?.startRowIndex ?? 0, range?.endRowIndex ?? Infinity];
    // Nothing is left of it but the header, and so no row above which others could be added.
    if (end - start < 2) return [];
    const row = rows.find((each) => each < start || each >= end);
    return row === undefined ? [] : [`the ${what} (${start} to ${end}) does not cover row ${row}`];
  });
}

/** The label in a header; for a field without a label its ID. */
const labelIn = (text: string, fieldId: string): string =>
  text === `Unnamed question (…${fieldId.slice(-6)})` ? fieldId : text;

/**
 * The entries of the hidden tab by form, and the fields that columns are marked for, whose IDs the marks contain as a
 * hash.
 */
function hiddenIn(
  { inspect }: TestEmulator,
  spreadsheetId: string,
): { rejections: Map<string, Map<string, Rejected>>; fieldIds: Map<string, string> } {
  const rejections = new Map<string, Map<string, Rejected>>();
  const fieldIds = new Map<string, string>();
  for (const { sheetId } of inspect.tabs(spreadsheetId)) {
    for (const line of inspect.grid(spreadsheetId, sheetId)) {
      const [kind, formId = ''] = line.map(String);
      const text = line.slice(3).join('');
      if (kind === 'entry') noteEntry(rejections, formId, text);
      if (kind !== 'state') continue;
      for (const { id } of (JSON.parse(text) as { fields: { id: string }[] }).fields)
        fieldIds.set(`f:${createHash('sha256').update(id).digest('base64url').slice(0, 7)}`, id);
    }
  }
  return { rejections, fieldIds };
}

/** Records an entry if it reports that a submission is not stored unchanged. */
function noteEntry(listed: Map<string, Map<string, Rejected>>, formId: string, text: string): void {
  const { kind, id, reason, blocked } = JSON.parse(text) as {
    kind: string;
    id: string;
    reason: string;
    blocked?: object;
  };
  if (kind !== 'rejected' && kind !== 'undecided') return;
  const ofForm = listed.get(formId) ?? new Map<string, Rejected>();
  // The row shows whether it exists, too.
  listed.set(formId, ofForm.set(id, { reason, isStored: true, isBlocked: blocked !== undefined }));
}

const EPOCH_DAY = 25_569;
const DAY_MS = 86_400_000;

/** A date in a sheet is a number of days. */
function timeOf(value: Value): string | null {
  if (value === null || value === '') return null;
  if (typeof value !== 'number') return String(value);
  return new Date(Math.round((value - EPOCH_DAY) * DAY_MS)).toISOString();
}
