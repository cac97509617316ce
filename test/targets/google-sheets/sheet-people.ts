import { ApiError } from '../../../packages/google-sheets-emulator/src/api-error.ts';
import type {
  InspectedRanges,
  Stored,
} from '../../../packages/google-sheets-emulator/test/support/inspect.ts';
import type { Person } from '../../../packages/google-sheets-emulator/test/support/people.ts';
import { RANGE_DEEDS } from './sheet-people-ranges.ts';
import type { SheetView } from './sheet-view.ts';

const ZONES = ['Etc/GMT', 'Europe/Prague', 'America/New_York', 'Asia/Kathmandu'];

/** What a person who does something sees. */
export interface Scene {
  readonly person: Person;
  readonly sheetId: number;
  /** A number that decides what is not said. */
  readonly n: number;
  readonly grid: readonly Stored[][];
  /** Our columns: metadata value → index. */
  readonly columns: ReadonlyMap<string, number>;
  readonly idColumn: number;
  readonly width: number;
  readonly height: number;
  /** Rows that show submissions, and one of them. */
  readonly data: readonly number[];
  readonly some: number | undefined;
  /** Some column. */
  readonly column: number;
}

/** The people of a form's tab, and what is to be found of theirs afterwards. */
export class SheetPeople {
  /** Texts that people wrote beside submissions: of whom they speak, and under which header. */
  readonly notes = new Map<string, { readonly about: string; readonly header: string }>();
  /** Texts that people wrote elsewhere on the tab. */
  readonly texts = new Set<string>();
  /** Headers that people put in place of ours, by metadata value. */
  readonly headers = new Map<string, string>();
  /** Submissions whose ID was cleared in some row: what people wrote about them there stays without it. */
  readonly cleared = new Set<string>();
  timeZone: string;
  deeds = 0;
  readonly #view: SheetView;
  readonly #isSubmission: (id: string) => boolean;
  #tokens = 0;

  constructor(view: SheetView, timeZone: string, isSubmission: (id: string) => boolean) {
    this.#view = view;
    this.timeZone = timeZone;
    this.#isSubmission = isSubmission;
  }

  /** One of the people does something, once there is a tab. */
  do({ kind, n }: Deed): void {
    const scene = this.#scene(n);
    // Once the column of IDs is gone, there is nothing to be done but to follow the remedy.
    if (scene === undefined || !scene.columns.has('s:id')) return;
    try {
      DEEDS[kind](this, scene);
      this.deeds++;
    } catch (error) {
      // Some things Sheets does not let people do: sort the header of a table, make one of merged cells.
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** Every cell may be edited again: no protections, no merged cells, no table but over the header row. */
  layOpen(): void {
    const { sheetId, place } = this.#view;
    if (sheetId === undefined) return;
    const { protectedRanges, merges, tables } = this.ranges();
    const person = place.sandbox.people.at(place.spreadsheetId, sheetId);
    for (const { protectedRangeId } of protectedRanges) person.unprotect(protectedRangeId ?? 0);
    this.unmerge(merges);
    // The mark stays where it is when people sort the header away.
    const header = this.#view.grid(sheetId).findIndex((cells) => cells.includes('Submission ID'));
    if (tables.some(({ range }) => (range?.startRowIndex ?? 0) !== header)) person.revertTables();
  }

  unmerge(merges: InspectedRanges['merges']): void {
    const { sheetId = 0, place } = this.#view;
    const person = place.sandbox.people.at(place.spreadsheetId, sheetId);
    for (const { startRowIndex, endRowIndex, startColumnIndex, endColumnIndex } of merges) {
      person.unmerge({
        top: startRowIndex ?? 0,
        left: startColumnIndex ?? 0,
        ...(typeof endRowIndex === 'number' && { bottom: endRowIndex }),
        ...(typeof endColumnIndex === 'number' && { right: endColumnIndex }),
      });
    }
  }

  /** What is laid over cells of the tab. */
  ranges(): InspectedRanges {
    const { sheetId = 0, place } = this.#view;
    return place.sandbox.inspect.ranges(place.spreadsheetId, sheetId);
  }

  frozenRows(): number {
    const { sheetId = 0, place } = this.#view;
    return place.sandbox.inspect.layout(place.spreadsheetId, sheetId).frozenRowCount;
  }

  /** Types into a cell. False where merged cells cover it: nobody can click on it. */
  type({ person }: Scene, row: number, column: number, text: string): boolean {
    const isCovered = this.ranges().merges.some((range) => {
      const [top, left] = [range.startRowIndex ?? 0, range.startColumnIndex ?? 0];
      const [bottom, right] = [range.endRowIndex ?? Infinity, range.endColumnIndex ?? Infinity];
      const isFirst = row === top && column === left;
      return row >= top && row < bottom && column >= left && column < right && !isFirst;
    });
    if (!isCovered) person.type(row, column, text);
    return !isCovered;
  }

  /** A text that stands nowhere else. */
  token(what: string): string {
    return `${what} #${this.#tokens++}`;
  }

  /** What people throw away is not missed. */
  forget(cell: Stored | undefined): void {
    if (typeof cell !== 'string') return;
    this.notes.delete(cell);
    this.texts.delete(cell);
  }

  /**
   * A whole column or row goes, and with it what people wrote there: also what a write of ours stands on for the second
   * that it takes to bring it back.
   */
  forgetNotes(gone: (note: { about: string; header: string }) => boolean): void {
    for (const [text, note] of this.notes) if (gone(note)) this.notes.delete(text);
  }

  /** All that people wrote on the tab is thrown away. */
  forgetAll(): void {
    this.notes.clear();
    this.texts.clear();
    this.headers.clear();
  }

  /** The remedy for a deleted column of IDs: the tab is deleted, and written anew. False while that column is there. */
  followRemedy(): boolean {
    const { sheetId } = this.#view;
    if (sheetId === undefined || this.#view.columns(sheetId).has('s:id')) return false;
    this.forgetAll();
    this.place.sandbox.people.at(this.place.spreadsheetId, sheetId).deleteTab();
    return true;
  }

  /** What a row that loses its ID holds no longer speaks of its submission. */
  loseId(id: string, cells: readonly Stored[]): void {
    this.cleared.add(id);
    for (const cell of cells) {
      if (typeof cell !== 'string' || !this.notes.delete(cell)) continue;
      this.texts.add(cell);
    }
  }

  /** The header row, as long as it is one: people may have sorted it into the rows. */
  headerRow({ sheetId, grid, idColumn }: Scene): number | undefined {
    const row = this.#view.headerRow(sheetId);
    return row !== undefined && grid[row]?.[idColumn] === 'Submission ID' ? row : undefined;
  }

  /** The row that carries the header's mark, whatever is in it. */
  markedRow({ sheetId }: Scene): number | undefined {
    return this.#view.headerRow(sheetId);
  }

  get place(): SheetView['place'] {
    return this.#view.place;
  }

  #scene(n: number): Scene | undefined {
    const { sheetId, place } = this.#view;
    if (sheetId === undefined) return undefined;
    const tab = place.sandbox.inspect
      .tabs(place.spreadsheetId)
      .find((one) => one.sheetId === sheetId);
    const grid = this.#view.grid(sheetId);
    const columns = this.#view.columns(sheetId);
    const idColumn = columns.get('s:id') ?? 0;
    const width = tab?.columns ?? 1;
    const data = grid.flatMap((cells, index) => {
      const id = cells[idColumn];
      return typeof id === 'string' && this.#isSubmission(id) ? [index] : [];
    });
    return {
      person: place.sandbox.people.at(place.spreadsheetId, sheetId),
      sheetId,
      n,
      grid,
      columns,
      idColumn,
      width,
      height: tab?.rows ?? 1,
      data,
      some: data[n % Math.max(1, data.length)],
      column: n % width,
    };
  }
}

/** A column goes, and what people wrote in it. */
function deleteColumn(people: SheetPeople, { person, grid, columns, column, width }: Scene): void {
  const key = [...columns].find(([, index]) => index === column)?.[0];
  if (key === 's:id' || width < 3) return;
  for (const cells of grid) people.forget(cells[column]);
  const headers = new Set(grid.map((cells) => cells[column]));
  people.forgetNotes(({ header }) => headers.has(header));
  if (key !== undefined) people.headers.delete(key);
  person.deleteColumns(column);
}

const DEEDS = {
  ...RANGE_DEEDS,
  sort: (_, { person, column, n }) =>
    person.sortSheet(column, n % 2 === 0 ? 'ASCENDING' : 'DESCENDING'),
  hideRows: (_, { person, n, height }) => person.hideRows(1 + (n % Math.max(1, height - 2))),
  hideColumns: (_, { person, column, width }) => {
    if (column < width - 1) person.hideColumns(column);
  },
  moveColumns: (_, { person, column, n, width }) =>
    person.moveColumns(column, 1, (n >> 3) % (width + 1)),
  noteColumn: (people, scene) => {
    const { person, grid, data, idColumn, n, width } = scene;
    const at = Math.max(0, (n % (width + 1)) - 1);
    const header = people.token('Our notes');
    const row = people.headerRow(scene);
    person.insertColumns(at, 1);
    if (row !== undefined) people.type(scene, row, at, header);
    for (const index of data.filter((_, place) => (place + n) % 3 !== 0)) {
      const text = people.token('note');
      if (!people.type(scene, index, at, text)) continue;
      people.notes.set(text, { about: String(grid[index]?.[idColumn]), header });
    }
  },
  formulaColumn: (people, scene) => {
    const { person, data, column, n, width } = scene;
    const at = Math.min(column, width - 1);
    person.insertColumns(at, 1);
    for (const index of data.filter((_, place) => (place + n) % 2 === 0)) {
      people.type(scene, index, at, `=ROW()+${n % 9}`);
    }
  },
  renameHeader: (people, scene) => {
    const named = [...scene.columns].filter(([key]) => key.startsWith('f:'));
    const [key, index] = named[scene.n % Math.max(1, named.length)] ?? [];
    const header = people.headerRow(scene);
    if (key === undefined || index === undefined || header === undefined) return;
    const text = people.token('My name for it');
    // What is typed into a column that has no header yet may make it one of theirs.
    const isBlank = (scene.grid[header]?.[index] ?? null) === null;
    if (!people.type(scene, header, index, text)) return;
    if (isBlank) people.texts.add(text);
    else people.headers.set(key, text);
  },
  blankRow: (_, { person, n, height }) =>
    person.insertRows(1 + (n % Math.max(1, height - 1)), 1 + (n % 2)),
  titleRow: (people, scene) => {
    const { person, n, height, width } = scene;
    const text = people.token('Title');
    person.insertRows(n % height, 1);
    if (people.type(scene, n % height, (n >> 4) % width, text)) people.texts.add(text);
  },
  deleteRows: (people, { person, grid, idColumn, some }) => {
    if (some === undefined) return;
    for (const cell of grid[some] ?? []) people.forget(cell);
    const id = grid[some]?.[idColumn];
    const copies = grid.filter((cells) => cells[idColumn] === id).length - 1;
    if (copies === 0) people.forgetNotes(({ about }) => about === id);
    person.deleteRows(some);
  },
  duplicateRow: (_, { person, some }) => {
    if (some !== undefined) person.duplicateRow(some);
  },
  deleteColumn,
  deleteIdColumn: (_, { person, idColumn, n, width }) => {
    // Rarer than all else: nothing remains of the tab.
    if (n % 4 === 0 && width > 2) person.deleteColumns(idColumn);
  },
  deleteStatusColumn: (people, scene) => {
    const column = scene.columns.get('s:status');
    if (column !== undefined && scene.width > 2) deleteColumn(people, { ...scene, column });
  },
  clearId: (people, scene) => {
    const { grid, columns, idColumn, some } = scene;
    const cells = grid[some ?? -1];
    const isRemoved = typeof cells?.[columns.get('s:removed') ?? -1] === 'number';
    if (some === undefined || cells === undefined || isRemoved) return;
    if (people.type(scene, some, idColumn, '')) people.loseId(String(cells[idColumn]), cells);
  },
  copyBelow: (_, { person, grid, some, height }) => {
    if (some !== undefined && grid.length < height) person.copyRow(some, grid.length);
  },
  emptyTab: (people, { person, sheetId, grid, n, height, width }) => {
    const { inspect } = people.place.sandbox;
    const remarks = inspect.notes(people.place.spreadsheetId, sheetId);
    people.forgetAll();
    if (n % 2 === 0 || remarks.length > 0) {
      person.clearFilter();
      if (height > 3) person.deleteRows(1, height - 2);
      return;
    }
    const blank = Array.from({ length: width }, () => '');
    person.pasteValues(
      0,
      0,
      grid.map(() => blank),
    );
  },
  typeOver: (people, scene) => {
    const { columns, some, n } = scene;
    const ours = [...columns].filter(([key]) => key !== 's:id' && key !== 's:removed');
    const [, at] = ours[n % Math.max(1, ours.length)] ?? [];
    if (some === undefined || at === undefined) return;
    people.type(scene, some, at, n % 3 === 0 ? '' : '=1+1');
  },
  typeBelow: (people, scene) => {
    const { grid, height, column, n } = scene;
    const below = Math.min(height - 1, grid.length + (n % 3));
    if ((grid[below]?.[column] ?? null) !== null) return;
    const text = people.token('Total');
    if (people.type(scene, below, column, text)) people.texts.add(text);
  },
  cellNote: (_, { person, grid, idColumn, some, column }) => {
    if (some !== undefined)
      person.note(some, column, `remark on ${String(grid[some]?.[idColumn])}`);
  },
  looks: (_, { person, column, n }) => {
    person.format({ left: column, right: column + 1 }, { textFormat: { bold: true } });
    person.setWidth(column, 50 + (n % 200));
  },
  renameTab: (_, { person, n }) => person.renameTab(`It's "${n}"!`),
  moveTab: (_, { person, n }) => person.moveTab(n % 3),
  duplicateTab: (_, { person }) => void person.duplicateTab(),
  addTab: (people, { person }) => void person.addTab(people.token('Mine')),
  timeZone: (people, { person, n }) => {
    people.timeZone = ZONES[n % ZONES.length] ?? 'Etc/GMT';
    person.setTimeZone(people.timeZone);
  },
  deleteHeader: (people, scene) => {
    const marked = people.markedRow(scene);
    if (marked === undefined || scene.height < 4) return;
    for (const cell of scene.grid[marked] ?? []) people.forget(cell);
    for (const [key, text] of people.headers) {
      if (scene.grid[marked]?.includes(text)) people.headers.delete(key);
    }
    scene.person.deleteRows(marked);
  },
  deleteOwnTab: ({ place }, { n }) => {
    const title = ['Mirror', 'Mirror state', 'Mirror undo'][n % 3] ?? '';
    const { inspect, people } = place.sandbox;
    const isThere = inspect.tabs(place.spreadsheetId).some((one) => one.title === title);
    if (isThere) people.at(place.spreadsheetId, title).deleteTab();
  },
} satisfies Record<string, (people: SheetPeople, scene: Scene) => void>;

/** What people do to a sheet, as often as they do it. */
export const ACTIONS = [
  ...(Object.keys(DEEDS) as (keyof typeof DEEDS)[]),
  'sort',
  'moveColumns',
  'noteColumn',
  'protect',
  'merge',
  'merge',
] as const;

/** Something that people do, with a number that decides what is not said. */
export interface Deed {
  readonly kind: keyof typeof DEEDS;
  readonly n: number;
}
