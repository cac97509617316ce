import type { Stored } from '../../../packages/google-sheets-emulator/test/support/inspect.ts';
import type { Row } from '../../../src/mirror/types.ts';
import { COPY_NOTE } from '../../../src/targets/google-sheets/write/copy-notes.ts';
import { SerialTime } from '../../../src/targets/google-sheets/rows/serial-time.ts';
import type { SheetLife } from './sheet-life.ts';

/** A form's tab with what is known of it. */
interface Sight {
  readonly life: SheetLife;
  readonly sheetId: number;
  readonly grid: readonly Stored[][];
  readonly types: readonly string[][];
  readonly columns: ReadonlyMap<string, number>;
  readonly idColumn: number;
  /** Of two rows with one ID the upper one counts. */
  readonly rowOf: ReadonlyMap<string, number>;
}

/** What must hold after calm passes and does not. */
export function complaintsOf(life: SheetLife): string[] {
  const { view } = life;
  const { sheetId } = view;
  if (sheetId === undefined) return life.source.size === 0 ? [] : ['there is no tab'];
  const grid = view.grid(sheetId);
  const columns = view.columns(sheetId);
  const idColumn = columns.get('s:id');
  if (idColumn === undefined) return ['there is no ID column'];
  const rowOf = new Map<string, number>();
  for (const [index, cells] of grid.entries()) {
    const id = cells[idColumn];
    if (typeof id === 'string' && !rowOf.has(id)) rowOf.set(id, index);
  }
  const sight = { life, sheetId, grid, types: view.types(sheetId), columns, idColumn, rowOf };
  return [
    ...[...life.source.values()].flatMap((row) => rowComplaints(sight, row)),
    ...goneComplaints(sight),
    ...textComplaints(sight),
    ...peoplesRowComplaints(sight),
    ...remarkComplaints(sight),
    ...columnComplaints(sight),
    ...mirrorComplaints(life),
  ];
}

/** After a full pass the Mirror tab reads as it always does. */
function mirrorComplaints({ place }: SheetLife): string[] {
  const tab = place.sandbox.inspect
    .tabs(place.spreadsheetId)
    .find(({ title }) => title === 'Mirror');
  if (tab === undefined) return ['there is no Mirror tab'];
  const shown = place.sandbox.inspect.shown(place.spreadsheetId, 'Mirror');
  const words = shown.map(([first = '']) => first);
  const [headers, form] = [shown[5], shown[6]];
  const isRight =
    ['Health', '', 'Room', '', 'Forms', 'Form'].every((text, row) =>
      ['', words[row]].includes(text),
    ) &&
    headers?.join('|').startsWith('Form|State|Details|What to do|Rows|Removed|Problems|') ===
      true &&
    ['Problems', 'Form'].every((text, row) => words[8 + row] === text) &&
    words.filter((text) => text === 'Fields').length === 1 &&
    shown[0]?.[1] === form?.[1] &&
    form?.[1] !== '';
  return isRight ? [] : [`L17: the Mirror tab shows ${JSON.stringify(shown.slice(0, 12))}`];
}

function rowComplaints({ life, grid, types, columns, rowOf }: Sight, row: Row): string[] {
  const index = rowOf.get(row.id);
  if (index === undefined) return [`L1: ${row.id} has no row`];
  const time = new SerialTime(life.people.timeZone);
  const at = row.createdAt === null ? null : (time.toSerial(row.createdAt) ?? row.createdAt);
  const wanted = new Map<string, Stored>([
    ['s:status', row.status],
    ['s:at', at],
    ['s:removed', null],
    ...life.fields.map((field) => {
      const cell = row.cells.get(field.id) ?? null;
      return [`f:${field.id}`, cell === '' ? null : (cell as Stored)] as const;
    }),
  ]);
  return [...wanted].flatMap(([key, value]) => {
    const column = columns.get(key);
    if (column === undefined) return [];
    if (types[index]?.[column] === 'formula') return [`L10: ${row.id} ${key} is a formula`];
    const found = grid[index]?.[column] ?? null;
    const isClose =
      typeof found === 'number' && typeof value === 'number' && Math.abs(found - value) < 1e-9;
    return found === value || isClose
      ? []
      : [`L1/L10: ${row.id} ${key} is ${String(found)}, not ${String(value)}`];
  });
}

/** A row that lost its status and its date, to a merge or with the column, is taken for one of theirs: only its ID is left. */
function goneComplaints({ life, grid, columns, rowOf }: Sight): string[] {
  const shown = (id: string, key: 's:removed' | 's:status' | 's:at'): Stored =>
    grid[rowOf.get(id) ?? -1]?.[columns.get(key) ?? -1] ?? null;
  if (!columns.has('s:removed')) return [];
  return [...life.gone.keys()]
    .filter((id) => rowOf.has(id))
    .filter((id) => shown(id, 's:status') !== null || shown(id, 's:at') !== null)
    .filter((id) => typeof shown(id, 's:removed') !== 'number')
    .map((id) => `L8: ${id} is not marked removed`);
}

function textComplaints({ life, grid, idColumn }: Sight): string[] {
  const { notes, texts } = life.people;
  const found = new Set<string>();
  const complaints: string[] = [];
  for (const cells of grid) {
    for (const cell of cells) {
      if (typeof cell !== 'string') continue;
      found.add(cell);
      const about = notes.get(cell)?.about;
      if (about === undefined || cells[idColumn] === about) continue;
      complaints.push(`"${cell}" speaks of ${about} and stands beside ${String(cells[idColumn])}`);
    }
  }
  const lost = [...notes.keys(), ...texts].filter((text) => !found.has(text));
  return complaints.concat(lost.map((text) => `"${text}" is lost`));
}

/**
 * A row of people's that is taken for a submission is marked removed at some point. One whose ID is cleared in the second
 * of the mark was a submission's: the mark stays where the tab is protected as a whole before it can be taken back.
 */
function peoplesRowComplaints({ life, grid, columns, idColumn }: Sight): string[] {
  const removed = columns.get('s:removed') ?? -1;
  return grid.flatMap((cells, index) => {
    const id = cells[idColumn];
    const isLost = (id ?? null) === null && life.people.cleared.size > 0;
    const isOurs = isLost || (typeof id === 'string' && (life.source.has(id) || life.gone.has(id)));
    const mark = cells[removed];
    return isOurs || typeof mark !== 'number' ? [] : [`row ${index} of people's is marked removed`];
  });
}

function remarkComplaints({ life, sheetId, grid, idColumn }: Sight): string[] {
  const { sandbox, spreadsheetId } = life.place;
  return sandbox.inspect.notes(spreadsheetId, sheetId).flatMap(({ row, note }) => {
    if (note === COPY_NOTE) return [];
    const about = note.replace('remark on ', '');
    if (life.people.cleared.has(about)) return [];
    return grid[row]?.[idColumn] === about ? [] : [`the remark on ${about} is elsewhere`];
  });
}

function columnComplaints({ life, sheetId, grid, columns, idColumn }: Sight): string[] {
  const header = life.view.headerRow(sheetId);
  if (header === undefined) return ['the header row is gone'];
  const isHeader = grid[header]?.[idColumn] === 'Submission ID';
  const renamed = [...life.people.headers].flatMap(([key, text]) => {
    const column = columns.get(key);
    if (column === undefined || !isHeader || grid[header]?.[column] === text) return [];
    return [`L9: the header "${text}" is lost`];
  });
  const outdated = life.fields.flatMap(({ id, label, inSchema }) => {
    const key = `f:${id}`;
    const text = String(grid[header]?.[columns.get(key) ?? -1] ?? '').replace(/ \(\d+\)$/, '');
    const isOutdated = text !== label && (life.labels.get(id)?.has(text) ?? false);
    if (!inSchema || !isHeader || !isOutdated || life.people.headers.has(key)) return [];
    return [`L9: the header "${text}" is not "${label}"`];
  });
  const marks = life.place.sandbox.inspect
    .metadata(life.place.spreadsheetId)
    .filter(({ metadataKey, location }) => {
      const range = location?.dimensionRange;
      return metadataKey === 'fm.col' && (range?.sheetId ?? 0) === sheetId;
    })
    .map(({ metadataValue }) => metadataValue);
  const twice = new Set(marks).size === marks.length ? [] : ['L9: two columns of one field'];
  return [...renamed, ...outdated, ...twice];
}
