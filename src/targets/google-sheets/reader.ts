import { isDeepStrictEqual } from 'node:util';
import { plural } from '../../base/format.ts';
import { isIn } from '../../mirror/accounting.ts';
import { forgottenDigest, saltOf } from '../../mirror/forgotten.ts';
import { countsOf, tallyOf } from './accounting.ts';
import { type FormState, liveRows } from '../../mirror/form-state.ts';
import type {
  Count,
  CountQuery,
  Entry,
  EntryKind,
  Grain,
  ReadForm,
  RowQuery,
  StoredField,
  StoredRow,
} from '../../mirror/port.ts';
import type { Known } from './commit.ts';
import { OWN, OWN_COLUMNS } from './own-columns.ts';
import { blockedIn, countedRows, obstaclesOf } from './obstacles.ts';
import { EMPTY_SURVEY, rowsIn, storedRow, survey, type Table } from './rows.ts';
import { SerialTime } from './serial-time.ts';
import { type SheetFile, type View } from './sheet-file.ts';
import { entriesIn, type FormDocument } from './state-tab.ts';
import type { FormTab } from './structure.ts';

/** The current parts of a form. */
export interface FoundForm extends Known {
  readonly tab: FormTab | undefined;
  /** What people removed or changed, one sentence each. */
  readonly losses: readonly string[];
  /** Its rows are not as the last write left them: people changed statuses, or added rows. */
  readonly isChanged: boolean;
  /** Cells that could not be written before can be written now. */
  readonly isFreed: boolean;
}

/** Finds a form in the cells of its tab; our own columns are enough. */
export function findForm(
  { structure, stateTab }: View,
  document: Pick<FormDocument, 'state' | 'fields' | 'doubted' | 'timeZone'>,
  table: Table,
): FoundForm {
  const { state, fields, doubted } = document;
  const { formId } = state;
  const tab = structure.forms.get(formId);
  const entries = entriesIn(stateTab, formId);
  const found = tab === undefined ? EMPTY_SURVEY : survey(table, entries);
  const rows = rowsIn(table, found.places, new SerialTime(structure.timeZone), null);
  const isFreed =
    tab !== undefined &&
    blockedIn(entries).some((entry) => obstaclesOf(entry, found, tab).length === 0);
  const counted = countedRows(rows, entries);
  const tally = tallyOf(counted, entries);
  return {
    tab,
    state: { ...state, tally },
    fields,
    rows: counted,
    entries,
    survey: found,
    doubted: new Set(doubted),
    losses: lossesOf(tab, document, liveRows(tally), structure.timeZone),
    isChanged: !isDeepStrictEqual(tally.rows, state.tally.rows),
    isFreed,
  };
}

/** What people removed or changed. `now`: the number of live rows. `timeZone`: the spreadsheet's. */
function lossesOf(
  tab: FormTab | undefined,
  document: Pick<FormDocument, 'state' | 'fields' | 'timeZone'>,
  now: number,
  timeZone: string,
): string[] {
  const { state, fields } = document;
  const before = liveRows(state.tally);
  if (tab === undefined)
    return before > 0 ? [`The tab of ${state.name} was deleted; it is filled again.`] : [];
  const lost = [
    ...OWN_COLUMNS.map((column) => ({ label: OWN[column].header, column })),
    ...fields,
  ].flatMap(({ label, column }) =>
    column !== null && !tab.columns.has(column)
      ? [`The column "${label}" of ${state.name} was deleted; the form is read again.`]
      : [],
  );
  if (now < before)
    lost.push(
      `${state.name} has ${plural(before - now, 'row')} fewer than after the last write; the form is read again.`,
    );
  if (before > 0 && timeZone !== document.timeZone)
    lost.push(
      `The time zone of the spreadsheet was changed; the times of ${state.name} are written again.`,
    );
  return lost;
}

const ROWS_AT_ONCE = 2_000;

/** One form of a spreadsheet, open for reading. Its rows and their answers are read when they are first requested. */
export class SheetReader implements ReadForm {
  protected readonly file: SheetFile;
  protected known: Known;
  /** The rows without their answers. */
  protected readonly readRows: () => Promise<Known['rows']>;
  #cells: Promise<Table> | null = null;
  readonly #salt: string;

  constructor(file: SheetFile, known: Known, readRows: () => Promise<Known['rows']>) {
    [this.file, this.known, this.readRows] = [file, known, readRows];
    const entries = known.entries.values();
    this.#salt = saltOf(entries.find(({ kind }) => kind === 'forgotten')?.id);
  }

  get state(): FormState {
    return this.known.state;
  }

  get fields(): readonly StoredField[] {
    return this.known.fields;
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** The cells of the tab; empty if the tab is gone. */
  protected readCells(): Promise<Table> {
    return (this.#cells ??= this.cellsNow());
  }

  protected async cellsNow(): Promise<Table> {
    const { structure } = await this.file.refresh();
    const tab = structure.forms.get(this.state.formId);
    return tab === undefined ? new Map() : this.file.table(tab);
  }

  async *rows(query: RowQuery, cells = false): AsyncIterable<readonly StoredRow[]> {
    const rows = await this.readRows();
    const ids = query.ids === undefined ? null : new Set(query.ids);
    const isDeleted = query.isDeleted === true;
    const { doubted } = this.known;
    const wanted = [...rows.values()].filter(
      (row) =>
        (row.deletedAt !== null) === isDeleted &&
        (ids === null || ids.has(row.id)) &&
        !(query.isSure === true && doubted.has(row.id)) &&
        isIn(row, query),
    );
    const table: Table = cells && wanted.length > 0 ? await this.readCells() : new Map();
    const { places } = survey(table, this.known.entries);
    for (let first = 0; first < wanted.length; first += ROWS_AT_ONCE)
      yield wanted
        .slice(first, first + ROWS_AT_ONCE)
        .map((row) => storedRow(row, places.get(row.id), table, this.known.fields));
  }

  async counts(query: CountQuery, grain: Grain): Promise<Count[]> {
    return countsOf(await this.readRows(), this.known.entries, query, grain);
  }

  async entries(kinds: readonly EntryKind[]): Promise<Entry[]> {
    return [...this.known.entries.values()].filter(({ kind }) => kinds.includes(kind));
  }

  async forgotten(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return new Map(
      ids.flatMap((id) => (this.isForgotten(id) ? [[id, this.digestOf(id)] as const] : [])),
    );
  }

  protected readonly isForgotten = (id: string): boolean =>
    this.state.tally.forgotten > 0 && this.known.entries.has(`forgotten ${this.digestOf(id)}`);

  protected readonly digestOf = (id: string): string =>
    forgottenDigest(this.#salt, this.state.formId, id);
}
