import type { TestEmulator } from '../../packages/google-sheets-emulator/test/support/emulator.ts';
import type { Copy, CopiedField, CopiedForm, CopiedRow, Rejected } from './copy.ts';
import type { Place } from './stores.ts';

/*
 * The copy as it stands in a spreadsheet: the values of its cells, and the metadata that says which tab is whose. Times are those
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

/** A spreadsheet of its own. */
export async function newSheet(): Promise<Place> {
  started ??= startEmulator();
  const emulator = await started;
  const { EMULATOR_EMAIL } = await import('../../src/targets/google/credentials.ts');
  const id = emulator.createSpreadsheet({ shares: { [EMULATOR_EMAIL]: 'writer' } });
  return {
    url: `sheets:${id}`,
    settings: { SHEETS_EMULATOR_URL: emulator.url.replace(/\/$/, '') },
    read: async () => readSheet(emulator, id),
    dispose: async () => {},
  };
}

export async function stopSheets(): Promise<void> {
  await (await started)?.stop();
  started = undefined;
}

function readSheet({ inspect }: TestEmulator, spreadsheetId: string): Copy {
  const metadata = inspect.metadata(spreadsheetId);
  const rejections = rejectedIn({ inspect } as TestEmulator, spreadsheetId);
  const copy = new Map<string, CopiedForm>();
  for (const { metadataKey, metadataValue, location } of metadata) {
    const sheetId = location?.sheetId;
    if (metadataKey !== 'fm.form' || typeof sheetId !== 'number') continue;
    const [formId, file, sheet] = JSON.parse(metadataValue ?? '[]') as unknown[];
    if (typeof formId !== 'string' || file !== spreadsheetId || sheet !== sheetId) continue;
    const columns = new Map<string, number>();
    let header = 0;
    for (const { metadataKey: key, metadataValue: mark, location: place } of metadata) {
      const range = place?.dimensionRange;
      if (range?.sheetId !== sheetId) continue;
      if (key === 'fm.col') columns.set(mark ?? '', range.startIndex ?? 0);
      if (key === 'fm.header') header = range.startIndex ?? 0;
    }
    const grid = inspect.grid(spreadsheetId, sheetId);
    copy.set(
      formId,
      formIn(formId, grid.slice(header), columns, rejections.get(formId) ?? new Map()),
    );
  }
  return copy;
}

function formIn(
  formId: string,
  [header = [], ...lines]: readonly (readonly Value[])[],
  columns: ReadonlyMap<string, number>,
  rejected: ReadonlyMap<string, Rejected>,
): CopiedForm {
  const cell = (line: readonly Value[], key: string): Value => {
    const at = columns.get(key);
    return at === undefined ? null : (line[at] ?? null);
  };
  const fields: CopiedField[] = [];
  for (const [key, at] of columns) {
    if (!key.startsWith('f:')) continue;
    const fieldId = key.slice(2);
    fields.push({ fieldId, column: key, textColumn: null, label: labelIn(header, at) });
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
  return { formId, table: formId, rows, twice, fields, statuses: null, rejected };
}

/** The text of a header, without the number that keeps it apart from an equal one. */
function labelIn(header: readonly Value[], at: number): string {
  const text = String(header[at] ?? '');
  const plain = text.replace(/ \(\d+\)$/, '');
  const others = header
    .filter((_, index) => index !== at)
    .map((each) => String(each).toLowerCase());
  return others.includes(plain.toLowerCase()) ? plain : text;
}

/** By form, what the hidden tab lists. */
function rejectedIn(
  { inspect }: TestEmulator,
  spreadsheetId: string,
): Map<string, Map<string, Rejected>> {
  const listed = new Map<string, Map<string, Rejected>>();
  for (const { sheetId } of inspect.tabs(spreadsheetId)) {
    for (const line of inspect.grid(spreadsheetId, sheetId)) {
      const [kind, formId, id, reason, ...data] = line.map(String);
      if (kind === 'entry') noteEntry(listed, formId ?? '', line.slice(3).join(''));
      if (kind !== 'rejection' || formId === undefined || id === undefined) continue;
      const ofForm = listed.get(formId) ?? new Map<string, Rejected>();
      listed.set(formId, ofForm.set(id, { reason: reason ?? '', isStored: data[0] === 'stored' }));
    }
  }
  return listed;
}

/** The same, as the core in src/core lists it. */
function noteEntry(listed: Map<string, Map<string, Rejected>>, formId: string, text: string): void {
  const { kind, id, reason } = JSON.parse(text) as { kind: string; id: string; reason: string };
  if (kind !== 'rejected' && kind !== 'undecided') return;
  const ofForm = listed.get(formId) ?? new Map<string, Rejected>();
  // Whether there is a row, too, is seen by the row.
  listed.set(formId, ofForm.set(id, { reason, isStored: true }));
}

const EPOCH_DAY = 25_569;
const DAY_MS = 86_400_000;

/** A date of a sheet is a number of days. */
function timeOf(value: Value): string | null {
  if (value === null || value === '') return null;
  if (typeof value !== 'number') return String(value);
  return new Date(Math.round((value - EPOCH_DAY) * DAY_MS)).toISOString();
}
