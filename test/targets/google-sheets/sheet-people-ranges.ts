import type { Person } from '../../../packages/google-sheets-emulator/test/support/people.ts';
import type { Scene, SheetPeople } from './sheet-people.ts';

type Selection = Parameters<Person['merge']>[0];

/** What a column of a table may be said to hold; one of checkboxes would lose its texts at that moment. */
const TYPES = ['DOUBLE', 'DATE', 'TEXT'];

/** Where a protection lies: rows, a column, a block, all but a column, or all. */
function protectedPart({ column, data, n }: Scene): { what: Selection; except?: Selection } {
  const top = data[n % Math.max(1, data.length)] ?? 1;
  const [right, bottom] = [column + 1, top + 2];
  const parts = [
    { what: { left: column, right } },
    { what: { top, bottom } },
    { what: { top, bottom, left: column, right } },
    // The header row, as a rule.
    { what: { top: 0, bottom: 1 } },
    { what: {}, except: { left: column, right } },
    { what: { left: column, right } },
    { what: {} },
  ];
  return parts[(n >> 4) % parts.length] ?? { what: {} };
}

/** Two cells or four: in a row of a submission or in the header. */
function mergedPart(people: SheetPeople, scene: Scene): Required<Selection> {
  const { column, some = 1, n } = scene;
  const top = n % 5 === 0 ? (people.markedRow(scene) ?? 0) : some;
  const [isTall, isWide] = [(n >> 4) % 3 !== 0, (n >> 4) % 3 !== 1];
  return { top, bottom: top + (isTall ? 2 : 1), left: column, right: column + (isWide ? 2 : 1) };
}

/** Merges cells. All but the first of them lose what they hold; a row may so lose its ID. */
function merge(people: SheetPeople, scene: Scene): void {
  const { person, grid, columns, idColumn, data } = scene;
  const part = mergedPart(people, scene);
  const { top, bottom, left, right } = part;
  const isCovered = (row: number, column: number): boolean =>
    row >= top && row < bottom && column >= left && column < right && (row > top || column > left);
  const removed = columns.get('s:removed') ?? -1;
  const losing = data.filter((row) => isCovered(row, idColumn));
  if (losing.some((row) => typeof grid[row]?.[removed] === 'number')) return;
  const marked = people.markedRow(scene);
  person.merge(part);
  for (const [row, cells] of grid.entries()) {
    for (const [column, cell] of cells.entries()) if (isCovered(row, column)) people.forget(cell);
  }
  for (const row of losing) people.loseId(String(grid[row]?.[idColumn]), grid[row] ?? []);
  for (const [key, column] of columns) {
    if (marked !== undefined && isCovered(marked, column)) people.headers.delete(key);
  }
}

/** What people lay over cells of a tab: protections, merges, tables, filters, alternating colours. */
export const RANGE_DEEDS = {
  protect: (_, scene) => {
    const { what, except } = protectedPart(scene);
    const warningOnly = scene.n % 7 === 0;
    scene.person.protect(what, { warningOnly, ...(except !== undefined && { except }) });
  },
  unprotect: (people, { person, n }) => {
    const { protectedRanges } = people.ranges();
    const one = protectedRanges[n % Math.max(1, protectedRanges.length)];
    if (one !== undefined) person.unprotect(one.protectedRangeId ?? 0);
  },
  merge,
  unmerge: (people, { n }) => {
    const { merges } = people.ranges();
    people.unmerge(merges.slice(n % Math.max(1, merges.length)).slice(0, 1));
  },
  band: (_, { person, n, column, grid, width }) => {
    const all = { top: Math.max(0, (n % 3) - 1), bottom: Math.max(3, grid.length) };
    person.band(
      n % 4 === 0 ? { ...all, left: column, right: column + 1 } : { ...all, left: 0, right: width },
    );
  },
  filter: (_, { person, column, grid }) =>
    person.filter(column % Math.max(1, grid[0]?.length ?? 1), ['NEW', '42']),
  clearFilter: (_, { person }) => person.clearFilter(),
  /** Over all that is filled, whether the header row is the first of it or not. */
  makeTable: (_, scene) => {
    const { person, columns, n } = scene;
    if (n % 4 === 0) {
      person.freezeRows(0);
      person.sortSheet(columns.get('s:at') ?? 0);
    }
    const [, column = 0] = [...columns][n % Math.max(1, columns.size)] ?? [];
    person.convertToTable(
      n % 2 === 0 ? {} : { [column]: { columnType: TYPES[n % TYPES.length] ?? null } },
    );
  },
  revertTables: (_, { person }) => person.revertTables(),
  mirrorTab: ({ place }, { n }) => {
    const tab = place.sandbox.inspect
      .tabs(place.spreadsheetId)
      .find(({ title }) => title === 'Mirror');
    if (tab !== undefined) rearrange(place.sandbox.people.at(place.spreadsheetId, 'Mirror'), n);
  },
} satisfies Record<string, (people: SheetPeople, scene: Scene) => void>;

/** Somebody takes the Mirror tab for one of theirs. */
function rearrange(person: Person, n: number): void {
  const [from, to] = [(n >> 4) % 16, (n >> 3) % 20];
  const acts = [
    () => person.sortSheet(to % 9, n % 3 === 0 ? 'DESCENDING' : 'ASCENDING'),
    () => person.moveRows(from, 1 + (n % 3), to),
    () => person.moveColumns(from % 8, 1, to % 9),
    () => person.freezeRows(n % 7),
    () => void person.convertToTable(),
    () => person.merge({ top: from, bottom: from + 2, left: to % 8, right: (to % 8) + 2 }),
    () => person.insertRows(from, 1),
    () => person.deleteColumns(to % 8),
  ];
  acts[n % acts.length]?.();
}
