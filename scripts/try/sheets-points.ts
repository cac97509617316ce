import {
  createMetadata,
  deleteMetadata,
  requireMetadata,
} from '../../src/targets/google-sheets/api/metadata.ts';
import { type Point, Refuted, see } from './points.ts';
import {
  cell,
  cells,
  columnOf,
  inserted,
  isRefusal,
  moved,
  ownSheet,
  placeOf,
  refusalOf,
  same,
  span,
  type TriedSheets,
  type TriedTab,
  write,
} from './tab-calls.ts';

const KEY = 'fm.try';
/** The beginning of the tab's name. */
export const TAB_TITLE = 'forms-mirror try';
/** Sheets' longest cell. */
const LONGEST = 50_000;

/** Makes a tab for the points. Nothing else in the spreadsheet is changed. */
export async function makeTab(api: TriedSheets, random: () => number): Promise<TriedTab> {
  const newId = (): number => 1 + Math.floor(random() * 2_000_000_000);
  const [sheetId, title] = [newId(), `${TAB_TITLE} ${newId().toString(36)}`];
  const gridProperties = { rowCount: 40, columnCount: 12 };
  await api.update([{ addSheet: { properties: { sheetId, title, gridProperties } } }]);
  return { api, sheetId, title, newId };
}

/** Removes the tab with all its content. */
export const removeTab = async ({ api, sheetId }: TriedTab): Promise<void> => {
  await api.update([{ deleteSheet: { sheetId } }]);
};

/** Assumptions of the target that are not recorded from the real service, in the order in which they are checked. */
export function sheetsPoints(tab: TriedTab): Point[] {
  return [...metadataPoints(tab), ...writePoints(tab), ...layoutPoints(tab)].map(told);
}

/** A refused call is a result as well. */
const told = ({ says, look }: Point): Point => ({
  says,
  look: () =>
    look().catch((error: unknown) => {
      throw isRefusal(error) ? new Refuted(error.message) : error;
    }),
});

function metadataPoints(tab: TriedTab): Point[] {
  const { api, sheetId, newId } = tab;
  const column = newId();
  return [
    {
      says: 'A column that developer metadata marks is read by a data filter, and a mark that is not there selects nothing.',
      async look() {
        await write(tab, 0, [
          ['ID', 'Name'],
          ['a', 'Ann'],
          ['b', 'Bob'],
        ]);
        await api.update([createMetadata({ sheetId, column: 1 }, KEY, 'name', column)]);
        see(
          same(await columnOf(tab, column), ['Name', 'Ann', 'Bob']),
          'The filter shows other cells.',
        );
        const none = await api.values(
          [{ developerMetadataLookup: { metadataId: newId() } }],
          'COLUMNS',
        );
        see(none.length === 0, 'A mark that is not there selects something.');
        return undefined;
      },
    },
    {
      says: 'The metadata of a column goes along when the column is moved, and when others are inserted before it.',
      async look() {
        await api.update([moved(sheetId, 'COLUMNS', 1, 4)]);
        see(
          same(await columnOf(tab, column), ['Name', 'Ann', 'Bob']),
          'It stays where the column was.',
        );
        see((await placeOf(tab, column)) === 3, 'The column was not moved.');
        await api.update([inserted(sheetId, 'COLUMNS', 0)]);
        see(
          same(await columnOf(tab, column), ['Name', 'Ann', 'Bob']),
          'It stays when a column is inserted.',
        );
        see((await placeOf(tab, column)) === 4, 'No column was inserted.');
        return undefined;
      },
    },
    {
      says: 'A piece of metadata whose number is taken makes the whole batch fail, so that two writers cannot both commit.',
      async look() {
        const taken = newId();
        const make = createMetadata({ sheetId }, KEY, 'one', taken);
        await api.update([make, cell(tab, 30, 0, 'before')]);
        const failure = await refusalOf(api.update([cell(tab, 30, 0, 'written'), make]));
        see(failure !== undefined, 'A second piece of the same number is taken.');
        see(failure?.fault === 'taken', `It fails, but not as taken: ${failure?.message ?? ''}`);
        see(
          same(await cells(tab, 30, 0, 1), ['before']),
          'It fails, and the rest of the batch is written.',
        );
        await api.update([deleteMetadata(taken)]);
        return undefined;
      },
    },
    {
      says: 'A mark that is deleted where it was read, and made again with its ID, makes the whole batch fail once its column has moved.',
      async look() {
        const at = await placeOf(tab, column);
        const mark = { id: column, key: KEY, value: 'name', place: { sheetId, column: at } };
        await api.update([...requireMetadata(mark), cell(tab, 32, 0, 'before')]);
        see((await placeOf(tab, column)) === at, 'The mark has another place afterwards.');
        await api.update([inserted(sheetId, 'COLUMNS', 0)]);
        const failure = await refusalOf(
          api.update([cell(tab, 32, 1, 'written'), ...requireMetadata(mark)]),
        );
        see(failure?.fault === 'taken', `It does not fail as taken: ${failure?.message ?? ''}`);
        see(
          same(await cells(tab, 32, 1, 1), ['before']),
          'It fails, and the rest of the batch is written.',
        );
        return undefined;
      },
    },
    {
      says: 'The metadata of a column goes when the column is deleted.',
      async look() {
        const at = await placeOf(tab, column);
        see(at >= 0, 'It is gone before.');
        await api.update([{ deleteDimension: { range: span(sheetId, 'COLUMNS', at) } }]);
        const left = await api.values(
          [{ developerMetadataLookup: { metadataId: column } }],
          'COLUMNS',
        );
        see(left.length === 0, 'It is still there.');
        return undefined;
      },
    },
  ];
}

function writePoints(tab: TriedTab): Point[] {
  const { api, sheetId } = tab;
  return [
    {
      says: 'A batch of which one request is impossible changes nothing.',
      async look() {
        await api.update([cell(tab, 31, 0, 'before')]);
        const beyond = { insertDimension: { range: span(sheetId, 'ROWS', 5_000) } };
        const failure = await refusalOf(api.update([cell(tab, 31, 0, 'written'), beyond]));
        see(failure !== undefined, 'Rows can be inserted far beyond the end.');
        see(
          same(await cells(tab, 31, 0, 1), ['before']),
          'The requests before the impossible one are written.',
        );
        return undefined;
      },
    },
    {
      says: 'Text stays unchanged: formulas, leading zeros, apostrophes, accents, emoji and line breaks.',
      async look() {
        const texts = [
          '=1+1',
          '+49 30',
          '007',
          "'quoted",
          'Ærøskøbing',
          '👩‍👩‍👧',
          'one\ntwo',
          ' space ',
        ];
        await write(tab, 33, [texts]);
        see(same(await cells(tab, 33, 0, texts.length), texts), 'Some of it changed.');
        return undefined;
      },
    },
    {
      says: 'A cell takes 50,000 characters, and one more is refused.',
      async look() {
        await api.update([cell(tab, 34, 0, 'x'.repeat(LONGEST))]);
        see((await cells(tab, 34, 0, 1))[0]?.length === LONGEST, 'Fewer are stored.');
        const failure = await refusalOf(api.update([cell(tab, 35, 0, 'x'.repeat(LONGEST + 1))]));
        see(failure !== undefined, '50,001 are taken.');
        return undefined;
      },
    },
    {
      says: 'The result of a value for a cell under merged cells is known (the mirror writes none there).',
      async look() {
        const range = {
          sheetId,
          startRowIndex: 36,
          endRowIndex: 37,
          startColumnIndex: 0,
          endColumnIndex: 2,
        };
        await api.update([{ mergeCells: { range, mergeType: 'MERGE_ALL' } }]);
        see((await ownSheet(tab)).merges?.length === 1, 'They are not merged.');
        const failure = await refusalOf(api.update([cell(tab, 36, 1, 'under')]));
        if (failure !== undefined) return 'It is refused.';
        await api.update([{ unmergeCells: { range } }]);
        await api.update([cell(tab, 36, 2, 'beside')]);
        const [, under, beside] = await cells(tab, 36, 0, 3);
        see(beside === 'beside', 'The cells cannot be read.');
        return under === 'under'
          ? 'It is kept, and shows when they are unmerged.'
          : 'It is dropped.';
      },
    },
  ];
}

function layoutPoints(tab: TriedTab): Point[] {
  const { api, sheetId, newId } = tab;
  const area = {
    sheetId,
    startRowIndex: 10,
    endRowIndex: 13,
    startColumnIndex: 8,
    endColumnIndex: 10,
  };
  return [
    {
      says: 'A table takes in a row that is inserted before its last one.',
      async look() {
        await write(
          tab,
          10,
          [
            ['ID', 'Name'],
            ['a', 'Ann'],
            ['b', 'Bob'],
          ],
          8,
        );
        await api.update([{ addTable: { table: { name: `Try${newId()}`, range: area } } }]);
        await api.update([inserted(sheetId, 'ROWS', 12)]);
        const table = (await ownSheet(tab)).tables?.[0];
        see(table?.range?.endRowIndex === 14, 'It ends where it ended before.');
        return undefined;
      },
    },
    {
      says: 'A filter over a tab takes in a row that is inserted before its last one.',
      async look() {
        const range = {
          sheetId,
          startRowIndex: 18,
          endRowIndex: 21,
          startColumnIndex: 0,
          endColumnIndex: 2,
        };
        await api.update([{ setBasicFilter: { filter: { range } } }]);
        await api.update([inserted(sheetId, 'ROWS', 20)]);
        const filter = (await ownSheet(tab)).basicFilter;
        see(filter?.range?.endRowIndex === 22, 'It ends where it ended before.');
        return undefined;
      },
    },
    {
      says: 'A protected range says whether the account may edit it; its own it may.',
      async look() {
        const range = { sheetId, startRowIndex: 24, endRowIndex: 25 };
        await api.update([
          { addProtectedRange: { protectedRange: { range, description: 'try' } } },
        ]);
        await api.update([cell(tab, 24, 0, 'own')]);
        see(
          same(await cells(tab, 24, 0, 1), ['own']),
          'What the account protected it cannot write.',
        );
        const { sheets = [] } = await api.structure();
        const own = sheets
          .find(({ properties }) => properties?.sheetId === sheetId)
          ?.protectedRanges?.find(({ description }) => description === 'try');
        see(own !== undefined, 'It is not listed.');
        see(own?.requestingUserCanEdit === true, 'It does not say that the account may edit it.');
        return undefined;
      },
    },
  ];
}

/** Points that no program can see, for a person who looks at the spreadsheet. */
export const BY_HAND: readonly string[] = [
  'Undo: run `forms-mirror sync`, press Ctrl+Z in the tab of a form, and run it again. Expected: only what you did yourself is undone, or what the mirror wrote comes back with the next run.',
  'Protection: protect a column of a form only for yourself (Data › Protect sheets and ranges), and run `forms-mirror sync`. Expected: the report names the range, and writes the rest.',
  'Tables: Format › Convert to table over the tab of a form, submit an answer, sync. Expected: the new row lies in the table.',
  'Copies: File › Make a copy, share the copy with the account, set TARGET_URL to it, run `forms-mirror sync`. Expected: it goes on in the tabs of the copy, and makes none.',
  'Header: sort a tab of which you unfroze the header row, sync. Expected: the header is the first row again.',
];
