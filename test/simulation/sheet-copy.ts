import { createHash } from 'node:crypto';
import type { TestEmulator } from '../../packages/google-sheets-emulator/test/support/emulator.ts';
import type { Copy, CopiedField, CopiedForm, CopiedRow, Rejected } from './copy.ts';
import type { Random } from './random.ts';
import type { Place } from './stores.ts';

/*
 * The copy in a spreadsheet: the values of its cells, and the metadata that says which tab is whose. Times are those
 * of a spreadsheet in UTC.
 */

type Value = string | number | boolean | null;

let started: Promise<TestEmulator> | undefined;

async function startEmulator(): Promise<TestEmulator> {
  // Only here, so that the simulation of a database needs nothing of Google's.
  const { startTestEmulator } =
    await import('../../packages/google-sheets-emulator/test/support/emulator.ts');
  const { EMULATOR_EMAIL, EMULATOR_TOKEN } =
    await import('../../src/targets/google/credentials.ts');
  const emulator = await startTestEmulator();
  emulator.accounts.issue({ email: EMULATOR_EMAIL }, EMULATOR_TOKEN);
  return emulator;
}

/**
 * A spreadsheet of its own.
 */
export async function newSheet(): Promise<Place> {
  started ??= startEmulator();
  const emulator = await started;
  const { EMULATOR_EMAIL } = await import('../../src/targets/google/credentials.ts');
  const id = emulator.createSpreadsheet({ shares: { [EMULATOR_EMAIL]: 'writer' } });
  return {
    url: `sheets:${id}`,
    settings: { SHEETS_EMULATOR_URL: emulator.url.replace(/\/$/, '') },
    read: async () => readSheet(emulator, id),
    damage: (deed, formId, random) => damage(emulator, id, deed, formId, random),
    mend: () => unprotect(emulator, id),
    rearrange: (random) => rearrange(emulator, id, random),
    dispose: async () => {},
  };
}

/** The tab of a form, and where its columns are. */
function tabOf(
  { inspect }: TestEmulator,
  spreadsheetId: string,
  formId: string,
): { sheetId: number; columns: Map<string, number>; lines: number } | null {
  const metadata = inspect.metadata(spreadsheetId);
  const bound = metadata.find(
    ({ metadataKey, metadataValue }) =>
      metadataKey === 'fm.form' && (JSON.parse(metadataValue ?? '[]') as unknown[])[0] === formId,
  );
  const sheetId = bound?.location?.sheetId;
  if (typeof sheetId !== 'number') return null;
  const columns = new Map<string, number>();
  for (const { metadataKey, metadataValue, location } of metadata) {
    const range = location?.dimensionRange;
    if (metadataKey === 'fm.col' && range?.sheetId === sheetId)
      columns.set(metadataValue ?? '', range.startIndex ?? 0);
  }
  return { sheetId, columns, lines: inspect.grid(spreadsheetId, sheetId).length };
}

/** Things that people take away or write over. */
function damage(
  emulator: TestEmulator,
  spreadsheetId: string,
  deed: string,
  formId: string,
  random: Random,
): string | null {
  const tab = tabOf(emulator, spreadsheetId, formId);
  if (tab === null || tab.lines < 2) return null;
  const person = emulator.people.at(spreadsheetId, tab.sheetId);
  const row = 1 + random.below(tab.lines - 1);
  switch (deed) {
    case 'remove-rows':
      person.deleteRows(row, Math.min(1 + random.below(3), tab.lines - row));
      return `deletes rows of ${formId}`;
    case 'drop-table':
      try {
        person.deleteTab();
      } catch {
        // Google lets nobody delete the only visible tab.
        return null;
      }
      return `deletes the tab of ${formId}`;
    case 'drop-column': {
      const [key, column] = [...tab.columns].find(([each]) => each.startsWith('f:')) ?? [];
      if (column === undefined) return null;
      person.deleteColumns(column);
      return `deletes the column ${key} of ${formId}`;
    }
    case 'edit-cell':
      person.type(row, tab.columns.get('s:status') ?? 0, 'PAID');
      return `edits a status of ${formId}`;
    case 'refusing-trigger': {
      const column = random.pick([...tab.columns.values()]);
      const ofColumn = { left: column, right: column + 1 };
      const ofRows = { top: row, bottom: Math.min(row + 1 + random.below(3), tab.lines) };
      const range = random.pick([ofColumn, ofRows, { ...ofColumn, ...ofRows }]);
      person.protect(range);
      return `protects ${JSON.stringify(range)} of ${formId}`;
    }
    default:
      return null;
  }
}

/** Everything may be written again. */
function unprotect(emulator: TestEmulator, spreadsheetId: string): void {
  for (const { sheetId } of emulator.inspect.tabs(spreadsheetId)) {
    const { protectedRanges } = emulator.inspect.ranges(spreadsheetId, sheetId);
    const person = emulator.people.at(spreadsheetId, sheetId);
    for (const { protectedRangeId, warningOnly } of protectedRanges ?? [])
      if (warningOnly !== true) person.unprotect(protectedRangeId ?? 0);
  }
}

/** Things that people move about. None of it loses a submission or an answer. Null: it came to nothing. */
function rearrange(
  emulator: TestEmulator,
  spreadsheetId: string,
  random: Random,
): { formId: string; text: string } | null {
  const forms = [...readSheet(emulator, spreadsheetId).keys()];
  const formId = forms.length === 0 ? '' : random.pick(forms);
  const tab = tabOf(emulator, spreadsheetId, formId);
  if (tab === null || tab.lines < 2) return null;
  const person = emulator.people.at(spreadsheetId, tab.sheetId);
  const row = 1 + random.below(tab.lines - 1);
  const column = random.pick([...tab.columns.values()]);
  // Few names, so that one tab takes the former name of another.
  const title = `Renamed ${random.below(3)}`;
  const acts: [text: string, act: () => void][] = [
    [
      `sorts ${formId}`,
      () => person.sortSheet(column, random.chance(0.5) ? 'ASCENDING' : 'DESCENDING'),
    ],
    [`moves a column of ${formId}`, () => person.moveColumns(column, 1, 0)],
    [`inserts rows into ${formId}`, () => person.insertRows(row, 1 + random.below(2))],
    [`inserts a column into ${formId}`, () => person.insertColumns(column)],
    [`moves a row of ${formId}`, () => person.moveRows(row, 1, 1)],
    [`adds a note to ${formId}`, () => person.note(row, column, 'a note')],
    [`renames the tab of ${formId} to "${title}"`, () => person.renameTab(title)],
  ];
  const [text, act] = random.pick(acts);
  try {
    act();
    return { formId, text };
  } catch {
    // Google refused it, as it does a title that another tab has.
    return null;
  }
}

export async function stopSheets(): Promise<void> {
  await (await started)?.stop();
  started = undefined;
}

function readSheet({ inspect }: TestEmulator, spreadsheetId: string): Copy {
  const metadata = inspect.metadata(spreadsheetId);
  const { rejections, fieldIds } = hiddenIn({ inspect } as TestEmulator, spreadsheetId);
  const copy = new Map<string, CopiedForm>();
  for (const { metadataKey, metadataValue, location } of metadata) {
    const sheetId = location?.sheetId;
    if (metadataKey !== 'fm.form' || typeof sheetId !== 'number') continue;
    const [formId, file, sheet] = JSON.parse(metadataValue ?? '[]') as unknown[];
    if (typeof formId !== 'string' || file !== spreadsheetId || sheet !== sheetId) continue;
    const columns = new Map<string, number>();
    for (const { metadataKey: key, metadataValue: mark, location: place } of metadata) {
      const range = place?.dimensionRange;
      if (range?.sheetId !== sheetId) continue;
      if (key === 'fm.col') columns.set(mark ?? '', range.startIndex ?? 0);
    }
    const grid = inspect.grid(spreadsheetId, sheetId);
    const ids = columns.get('s:id') ?? -1;
    const header = Math.max(
      0,
      grid.findIndex((line) => line[ids] === 'Submission ID'),
    );
    copy.set(
      formId,
      formIn(formId, grid.slice(header), columns, fieldIds, rejections.get(formId) ?? new Map()),
    );
  }
  return copy;
}

function formIn(
  formId: string,
  [header = [], ...lines]: readonly (readonly Value[])[],
  columns: ReadonlyMap<string, number>,
  fieldIds: ReadonlyMap<string, string>,
  rejected: ReadonlyMap<string, Rejected>,
): CopiedForm {
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
  const rows = new Map<string, CopiedRow>();
  const twice: string[] = [];
  for (const line of lines) {
    const id = cell(line, 's:id');
    if (typeof id !== 'string' || id === '') continue;
    if (rows.has(id)) twice.push(id);
    const deletedAt = timeOf(cell(line, 's:removed'));
    rows.set(id, {
      id,
      status: String(cell(line, 's:status') ?? ''),
      createdAt: timeOf(cell(line, 's:at')) ?? '',
      changedAt: null,
      isDeleted: deletedAt !== null,
      deletedAt,
      cells: Object.fromEntries(fields.map(({ column }) => [column, cell(line, column ?? '')])),
    });
  }
  // Of a row that only shows an ID nothing is left: it stores no submission.
  for (const { id, status, createdAt, isDeleted, cells } of rows.values()) {
    const isBlank = Object.values(cells).every((value) => value === null || value === '');
    if (status === '' && createdAt === '' && !isDeleted && isBlank) rows.delete(id);
  }
  const ids = columns.get('s:id');
  // An ID beside its column, or an answer (which begins with its submission's ID) beside its row or the columns of fields.
  const own = new Set(fields.map(({ column }) => columns.get(column ?? '')));
  const astray = lines.flatMap((line) =>
    line.flatMap((value, at) => {
      const text = String(value);
      if (at !== ids && rows.has(text)) return [text];
      const [, of] = /^(s\w+n\d+)\.\d/.exec(text) ?? [];
      return of === undefined || (own.has(at) && cell(line, 's:id') === of) ? [] : [text];
    }),
  );
  return { formId, table: formId, rows, twice, astray, fields, statuses: null, rejected };
}

/** The label that a header shows; for a field without a label its ID. */
const labelIn = (text: string, fieldId: string): string =>
  text === `Unnamed question (…${fieldId.slice(-6)})` ? fieldId : text;

/** By form, what the hidden tab lists; and the fields that columns are marked for, whose IDs the marks hold as a hash. */
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

/** Notes an entry if it says that a submission is not stored unchanged. */
function noteEntry(listed: Map<string, Map<string, Rejected>>, formId: string, text: string): void {
  const { kind, id, reason, blocked } = JSON.parse(text) as {
    kind: string;
    id: string;
    reason: string;
    blocked?: object;
  };
  if (kind !== 'rejected' && kind !== 'undecided') return;
  const ofForm = listed.get(formId) ?? new Map<string, Rejected>();
  // Whether there is a row, too, is seen by the row.
  listed.set(formId, ofForm.set(id, { reason, isStored: true, isBlocked: blocked !== undefined }));
}

const EPOCH_DAY = 25_569;
const DAY_MS = 86_400_000;

/** A date of a sheet is a number of days. */
function timeOf(value: Value): string | null {
  if (value === null || value === '') return null;
  if (typeof value !== 'number') return String(value);
  return new Date(Math.round((value - EPOCH_DAY) * DAY_MS)).toISOString();
}
