import type { TestEmulator } from '../../packages/google-sheets-emulator/test/support/emulator.ts';
import type { Stored } from '../../packages/google-sheets-emulator/test/support/inspect.ts';
import type { Person } from '../../packages/google-sheets-emulator/test/support/people.ts';
import type { Random } from './random.ts';
import type { PersonAct } from './stores.ts';

/**
 * People's actions on the tab of a form. They mark their additions with the submission of the row, so that the judge can check later
 * whether they are still there: with notes, which move with their row.
 */

/** The tab of a form, and the places of its columns. */
export interface FormTab {
  readonly sheetId: number;
  readonly columns: ReadonlyMap<string, number>;
  readonly grid: readonly (readonly Stored[])[];
}

/** The tabs of a spreadsheet, by their forms. */
export function formTabs({ inspect }: TestEmulator, spreadsheetId: string): Map<string, FormTab> {
  const metadata = inspect.metadata(spreadsheetId);
  const tabs = new Map<string, FormTab>();
  for (const { metadataKey, metadataValue, location } of metadata) {
    const sheetId = location?.sheetId;
    if (metadataKey !== 'fm.form' || typeof sheetId !== 'number') continue;
    const [formId, sheet] = JSON.parse(metadataValue ?? '[]') as unknown[];
    if (typeof formId !== 'string' || sheet !== sheetId) continue;
    const columns = new Map<string, number>();
    for (const { metadataKey: key, metadataValue: mark, location: place } of metadata) {
      const range = place?.dimensionRange;
      if (key === 'fm.col' && range?.sheetId === sheetId)
        columns.set(mark ?? '', range.startIndex ?? 0);
    }
    tabs.set(formId, { sheetId, columns, grid: inspect.grid(spreadsheetId, sheetId) });
  }
  return tabs;
}

/** The notes on the ID of a row that a person copied, and of one that a person cleared. */
export const [COPY, CLEARED] = ['a copy', 'its ID was cleared'];
/** The prefix of people's additions beside a submission. */
export const BESIDE = 'beside ';

/** One possible action of a person. */
interface Act {
  readonly text: string;
  /** 'order': a loss if there are copies of rows, which show former answers: the upper one is the row of its submission. */
  readonly effect?: PersonAct['effect'] | 'order' | undefined;
  readonly act: () => void;
}

const does = (text: string, act: () => void, effect?: Act['effect']): Act => ({
  text,
  act,
  effect,
});

/** The object of an act: a row of a form's tab, and one of its columns. */
interface Subject {
  readonly person: Person;
  readonly formId: string;
  readonly tab: FormTab;
  readonly row: number;
  readonly column: number;
  readonly random: Random;
}

const idIn = ({ tab: { grid, columns }, row }: Subject): string =>
  String(grid[row]?.[columns.get('s:id') ?? -1] ?? '');

/** Acts that lose nothing at any time. */
function harmless(subject: Subject): Act[] {
  const { person, formId, tab, row, column, random } = subject;
  const { columns, grid } = tab;
  const [ids, status] = [columns.get('s:id') ?? 0, columns.get('s:status') ?? 0];
  const id = idIn(subject);
  // Few names, so that one tab gets the former name of another.
  const title = `Renamed ${random.below(3)}`;
  const order = random.chance(0.5) ? 'ASCENDING' : 'DESCENDING';
  const own = Math.max(...columns.values()) + 1;
  const hidden = [random.pick(['NEW', 'DONE', 'PAID'])];
  const acts = [
    does(`sorts ${formId}`, () => person.sortSheet(column, order), 'order'),
    does(`moves a column of ${formId}`, () => person.moveColumns(column, 1, 0)),
    does(`inserts rows into ${formId}`, () => person.insertRows(row, 1 + random.below(2))),
    does(`inserts a column into ${formId}`, () => person.insertColumns(column)),
    does(`moves a row of ${formId}`, () => person.moveRows(row, 1, 1), 'order'),
    does(`renames the tab of ${formId} to "${title}"`, () => person.renameTab(title)),
    does(`filters ${formId}`, () => person.filter(status, hidden)),
    does(`makes a filter view of ${formId}`, () => person.addFilterView(status, hidden)),
    does(`makes a table of ${formId}`, () => person.convertToTable()),
    does(`colors the rows of ${formId}`, () =>
      person.band({ top: 0, bottom: grid.length, left: 0, right: own }),
    ),
  ];
  if (id === '') return acts;
  const beside = column === ids ? status : column;
  acts.push(
    does(`adds a note to ${id} of ${formId}`, () => person.note(row, beside, BESIDE + id)),
    does(`types beside ${id} of ${formId}`, () => person.type(row, own, BESIDE + id)),
  );
  // Below the last row it would be outside of filters and tables.
  if (row < grid.length - 1)
    acts.push(
      does(`copies the row of ${id} of ${formId}`, () => {
        person.duplicateRow(row);
        person.note(row + 1, ids, COPY);
      }),
    );
  return acts;
}

/** Acts that remove mirrored cells, or write over them. */
function harmful(subject: Subject): Act[] {
  const { person, formId, tab, row, column, random } = subject;
  const { columns, grid } = tab;
  const [ids, status] = [columns.get('s:id') ?? 0, columns.get('s:status') ?? 0];
  const id = idIn(subject);
  const rows = Math.min(1 + random.below(3), grid.length - row);
  const clear = (some: Iterable<number>): void => {
    for (const each of some) if (each !== ids) person.type(row, each, '');
  };
  const harms = (text: string, act: () => void): Act => does(text, act, 'loss');
  const acts = [
    harms(`deletes rows of ${formId}`, () => person.deleteRows(row, rows)),
    harms(`types a status into the row of ${id} of ${formId}`, () =>
      person.type(row, status, 'PAID'),
    ),
    harms(`clears a cell of ${id} of ${formId}`, () => clear([column])),
    harms(`clears all of ${id} of ${formId} but its ID`, () => clear(columns.values())),
  ];
  if (id !== '')
    acts.push(
      harms(`clears the ID of ${id} of ${formId}`, () => {
        person.type(row, ids, '');
        person.note(row, ids, CLEARED);
      }),
    );
  return acts;
}

/** Protects a column, some rows, or their intersection. */
function protection({ person, formId, tab, row, column, random }: Subject): Act {
  const ofColumn = { left: column, right: column + 1 };
  const bottom = Math.min(row + 1 + random.below(3), tab.grid.length);
  const ofRows = { top: row, bottom };
  const range = random.pick([ofColumn, ofRows, { ...ofColumn, ...ofRows }]);
  const text = `protects ${JSON.stringify(range)} of ${formId}`;
  return does(text, () => person.protect(range), 'protection');
}

function subjectOf(
  { people }: TestEmulator,
  spreadsheetId: string,
  formId: string,
  tab: FormTab | undefined,
  random: Random,
): Subject | null {
  if (tab === undefined || tab.grid.length < 2) return null;
  const row = 1 + random.below(tab.grid.length - 1);
  const column = random.pick([...tab.columns.values()]);
  return { person: people.at(spreadsheetId, tab.sheetId), formId, tab, row, column, random };
}

/** The share of people's actions that remove something. */
const HARM = 0.06;

/** A person does something to a tab. Null: nothing happened. */
export function actOn(
  emulator: TestEmulator,
  spreadsheetId: string,
  random: Random,
): PersonAct | null {
  const tabs = formTabs(emulator, spreadsheetId);
  if (tabs.size === 0) return null;
  const [formId, tab] = random.pick([...tabs]);
  const subject = subjectOf(emulator, spreadsheetId, formId, tab, random);
  if (subject === null) return null;
  const draw = random.next();
  const acts =
    draw < HARM ? harmful(subject) : draw < 1.2 * HARM ? [protection(subject)] : harmless(subject);
  const { text, effect = 'none', act } = random.pick(acts);
  try {
    act();
  } catch {
    // Google refused it, such as a title that another tab has.
    return null;
  }
  if (effect !== 'order') return { formId, text, effect };
  const notes = emulator.inspect.notes(spreadsheetId, tab.sheetId);
  return { formId, text, effect: notes.some(({ note }) => note === COPY) ? 'loss' : 'none' };
}

/** The cells that people remove from a tab, or write over. */
export function damage(
  emulator: TestEmulator,
  spreadsheetId: string,
  deed: string,
  formId: string,
  random: Random,
): string | null {
  const tab = formTabs(emulator, spreadsheetId).get(formId);
  const subject = subjectOf(emulator, spreadsheetId, formId, tab, random);
  if (subject === null) return null;
  const { person, row } = subject;
  switch (deed) {
    case 'remove-rows':
      person.deleteRows(row, Math.min(1 + random.below(3), subject.tab.grid.length - row));
      return `deletes rows of ${formId}`;
    case 'drop-table':
      try {
        person.deleteTab();
      } catch {
        // Google does not allow the only visible tab to be deleted.
        return null;
      }
      return `deletes the tab of ${formId}`;
    case 'drop-column': {
      const [key, column] = [...subject.tab.columns].find(([each]) => each.startsWith('f:')) ?? [];
      if (column === undefined) return null;
      person.deleteColumns(column);
      return `deletes the column ${key} of ${formId}`;
    }
    case 'edit-cell':
    case 'refusing-trigger': {
      const { text, act } =
        deed === 'edit-cell' ? random.pick(harmful(subject)) : protection(subject);
      act();
      return text;
    }
    default:
      return null;
  }
}

/** Everything may be written again. */
export function unprotect(emulator: TestEmulator, spreadsheetId: string): void {
  for (const { sheetId } of emulator.inspect.tabs(spreadsheetId)) {
    const { protectedRanges } = emulator.inspect.ranges(spreadsheetId, sheetId);
    const person = emulator.people.at(spreadsheetId, sheetId);
    for (const { protectedRangeId, warningOnly } of protectedRanges ?? [])
      if (warningOnly !== true) person.unprotect(protectedRangeId ?? 0);
  }
}
