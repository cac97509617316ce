import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { MirrorError } from '../../base/errors.ts';
import type { FormIdentity } from '../../mirror/types.ts';
import {
  columnsDigest,
  EMPTY_CATALOGUE,
  encodeCatalogue,
  type FieldCatalogue,
} from './field-catalogue.ts';
import { EMPTY_STATE, encodeState, type FormState, MAX_STATE_CHARACTERS } from './form-state.ts';
import { layoutOf } from './layout.ts';
import type { RowIndex } from './row-index.ts';
import { RowEncoder } from './row-values.ts';
import {
  createMetadata,
  hashText,
  METADATA_CHARACTERS,
  METADATA_KEYS,
  updateMetadata,
} from './sheet-metadata.ts';
import { SheetTime } from './sheet-time.ts';
import type { Spreadsheet } from './spreadsheet.ts';
import {
  type FormTab,
  IN_LEDGER,
  type Layout,
  type Structure,
  type Tab,
  type TabRole,
} from './structure.ts';

type Request = sheets_v4.Schema$Request;

/** Characters left free on a tab, for the header's mark and for what people's own add-ons keep there. */
const SPARE_CHARACTERS = 1_000;

/** A form's tab as one writer or reader knows it: what was last read, and what it wrote since. */
export class FormSheet {
  readonly book: Spreadsheet;
  readonly form: FormIdentity;
  /** The newest write when this was read: a later one of another process to this form makes it void. */
  base = 0;
  tab: FormTab | undefined;
  state: FormState = EMPTY_STATE;
  catalogue: FieldCatalogue = EMPTY_CATALOGUE;
  layout: Layout | undefined;
  #index: RowIndex | undefined;
  #indexAtMs = 0;
  time: SheetTime;
  /** True when a read showed that somebody deleted the header row. */
  headerIsGone = false;
  /** IDs of the fields whose cells are written: those that were prepared. */
  prepared: ReadonlySet<string> = new Set();

  private constructor(book: Spreadsheet, form: FormIdentity, structure: Structure) {
    this.book = book;
    this.form = form;
    this.time = new SheetTime(structure.timeZone);
  }

  /** The form as the spreadsheet's structure shows it. One more read for a very wide form. */
  static async open(
    book: Spreadsheet,
    form: FormIdentity,
    structure: Structure,
  ): Promise<FormSheet> {
    const sheet = new FormSheet(book, form, structure);
    sheet.base = book.head;
    await sheet.#take(structure);
    return sheet;
  }

  /** Which row shows which submission, as far as it was read. */
  get index(): RowIndex | undefined {
    return this.#index;
  }

  set index(index: RowIndex | undefined) {
    this.#index = index;
    this.#indexAtMs = this.book.clock.now();
  }

  /** Milliseconds since the index was read. */
  get indexAgeMs(): number {
    return this.book.clock.now() - this.#indexAtMs;
  }

  /** The spreadsheet as it was last read, and as writes of this process left it. */
  get structure(): Structure {
    return this.book.known;
  }

  /** Reads the structure anew; which row is where has to be read again, too. */
  async reload(): Promise<void> {
    await this.#take(await this.book.refresh());
  }

  async #take(structure: Structure): Promise<void> {
    this.time = new SheetTime(structure.timeZone);
    this.tab = structure.forms.get(this.form.id);
    this.index = undefined;
    this.headerIsGone = false;
    if (this.tab === undefined) {
      [this.state, this.catalogue, this.layout] = [EMPTY_STATE, EMPTY_CATALOGUE, undefined];
      return;
    }
    this.state = newer(this.tab.state, this.book.pending.get(this.form.id));
    this.catalogue = await this.#readCatalogue(this.tab);
    this.layout = layoutOf(this.tab, this.catalogue);
  }

  async #readCatalogue(tab: FormTab): Promise<FieldCatalogue> {
    const known = this.book.catalogueOf(tab);
    if (known !== undefined) return known;
    await this.book.ledger();
    return this.book.catalogueOf(tab) ?? EMPTY_CATALOGUE;
  }

  /** Reads the structure anew: true when a column is elsewhere, or gone. What this sheet knows stays as it is. */
  async columnsMovedSince(layout: Layout): Promise<boolean> {
    const tab = (await this.book.refresh()).forms.get(this.form.id);
    const now = tab === undefined ? undefined : layoutOf(tab, this.catalogue).columns;
    return [...layout.columns].some(([key, { index }]) => now?.get(key)?.index !== index);
  }

  /** The layout of a tab that is there and has its ID column. Throws with the remedy when somebody deleted that. */
  usableLayout(): Layout {
    const { layout } = this;
    if (layout === undefined) throw new MirrorError('INTERNAL', 'A form without a tab.');
    if (layout.columns.has('s:id')) return layout;
    throw new MirrorError(
      'TARGET_FAILED',
      `Somebody deleted the column with the submission IDs from the tab "${layout.title}" of ${this.book.address}, so that nobody can tell which row is which. Bring it back (File › Version history), or rename the tab's copy and delete the tab: the next pass then writes a new one.`,
      { retryable: false },
    );
  }

  /** Turns rows into what this writer's columns should hold. */
  encoder(): RowEncoder {
    const fields = this.catalogue.fields.filter((field) => this.prepared.has(field.id));
    const written = new Set<string>(fields.map((field) => `f:${field.id}`));
    const columns = [...this.usableLayout().columns.keys()].filter(
      (key) => key.startsWith('s:') || written.has(key),
    );
    return new RowEncoder(columns, fields, this.time);
  }

  /** Requests that keep a new state. The tab must be there. */
  stateRequests(state: FormState): Request[] {
    const tab = this.tab;
    if (tab === undefined) return [];
    const text = encodeState(state);
    if (tab.stateId !== undefined) return [updateMetadata(tab.stateId, text)];
    const stateId = this.book.newMetadataId();
    this.#amendTab({ stateId });
    return [createMetadata({ sheetId: tab.sheetId }, METADATA_KEYS.state, text, stateId)];
  }

  /** Notes that a state is in the sheet. */
  keptState(state: FormState): void {
    this.state = state;
    this.book.pending.delete(this.form.id);
    this.#amendTab({ state });
  }

  /**
   * Requests that keep a new catalogue: on the tab itself while it fits there, else in the ledger, which must have been
   * read. Its fingerprint belongs into the state. `otherCharacters`: what other metadata of the tab will take.
   */
  catalogueRequests(
    catalogue: FieldCatalogue,
    otherCharacters = this.tab?.otherCharacters ?? 0,
  ): Request[] {
    const tab = this.tab;
    const ledger = this.book.knownLedger;
    if (tab === undefined || ledger === undefined) return [];
    const text = encodeCatalogue(catalogue);
    const fits = fitsIntoMetadata(text, otherCharacters);
    ledger.setText(this.form.id, fits ? undefined : text);
    const value = fits ? text : IN_LEDGER;
    if (tab.fieldsId !== undefined) return [updateMetadata(tab.fieldsId, value)];
    const fieldsId = this.book.newMetadataId();
    this.#amendTab({ fieldsId });
    return [createMetadata({ sheetId: tab.sheetId }, METADATA_KEYS.fields, value, fieldsId)];
  }

  /** Notes that a catalogue is in the sheet. */
  keptCatalogue(catalogue: FieldCatalogue): void {
    this.catalogue = catalogue;
    this.book.keepCatalogue(this.form.id, catalogueDigest(catalogue), catalogue);
  }

  /** Takes a tab that is being made or changed. */
  adopt(tab: FormTab, layout: Layout): void {
    this.tab = tab;
    this.layout = layout;
    this.#amendTab({});
  }

  /** Notes a layout that a write or read found. */
  keepLayout(layout: Layout): void {
    this.layout = layout;
    const { rowCount, columnCount, title } = layout;
    this.#amendTab({ rowCount, columnCount, title });
  }

  /** Notes a tab of our own that a write made or resized. */
  keepRole(role: TabRole, tab: Tab): void {
    this.book.amend((structure) => ({
      ...structure,
      tabs: [...structure.tabs.filter((one) => one.sheetId !== tab.sheetId), tab],
      roles: new Map(structure.roles).set(role, tab),
    }));
  }

  #amendTab(change: Partial<FormTab>): void {
    if (this.tab === undefined) return;
    const tab: FormTab = { ...this.tab, ...change };
    this.tab = tab;
    this.book.amend((structure) => ({
      ...structure,
      tabs: [...structure.tabs.filter((one) => one.sheetId !== tab.sheetId), tab],
      forms: new Map(structure.forms).set(tab.formId, tab),
    }));
  }
}

/** The state that tells of the later pass: one that waits to be written may be newer than the one in the sheet. */
export function newer(written: FormState, pending: FormState | undefined): FormState {
  const ended = (state: FormState): string => state.passes[0]?.endedAt ?? '';
  return pending !== undefined && ended(pending) > ended(written)
    ? { ...written, passes: pending.passes, checkpoint: pending.checkpoint }
    : written;
}

/** True when a catalogue can be kept as metadata, beside that much else on its tab. */
export const fitsIntoMetadata = (text: string, otherCharacters: number): boolean =>
  otherCharacters +
    METADATA_KEYS.fields.length +
    text.length +
    MAX_STATE_CHARACTERS +
    SPARE_CHARACTERS <=
  METADATA_CHARACTERS;

/** Equal for equal catalogues. */
export const catalogueDigest = (catalogue: FieldCatalogue): string =>
  hashText(encodeCatalogue(catalogue), 12);

/** Fingerprint of the columns of ours that a tab has. */
export const layoutDigest = (layout: Layout): string => columnsDigest(layout.columns.keys());
