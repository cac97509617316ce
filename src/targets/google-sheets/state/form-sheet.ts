import { isDeepStrictEqual } from 'node:util';
import { MirrorError } from '../../../base/errors.ts';
import type { Loss } from '../../../mirror/losses.ts';
import type { FormIdentity } from '../../../mirror/types.ts';
import { keepsFromAll, type Obstacle, readProtections } from '../api/obstacles.ts';
import { protectedError, type SheetsError } from '../api/sheets-error.ts';
import { hashText, type TabRole } from '../api/metadata.ts';
import {
  columnsDigest,
  EMPTY_CATALOGUE,
  encodeCatalogue,
  type FieldCatalogue,
} from '../columns/field-catalogue.ts';
import { type Layout, layoutOf, type Tab } from '../columns/layout.ts';
import { type FirstLook, lookAt } from '../rows/row-comparison.ts';
import { readKeys, type RowIndex, type TabReading } from '../rows/row-index.ts';
import { RowEncoder, type SheetRow } from '../rows/row-values.ts';
import { SerialTime } from '../rows/serial-time.ts';
import type { ForgottenTally } from './forgotten-list.ts';
import type { FormState } from './form-state.ts';
import { stateWithoutTab } from './known-forms.ts';
import { withLostMarks } from './losses.ts';
import { headAreas, seenTab } from './mirror-area.ts';
import { idColumnDeleted } from './notices.ts';
import type { Spreadsheet } from './spreadsheet.ts';
import type { FormTab, Structure } from './structure.ts';

/** What is known of a form's tab at one moment: as last read, and as our own writes have left it since. */
export interface SheetView {
  /** Undefined while the form has no tab. */
  readonly tab: FormTab | undefined;
  readonly layout: Layout | undefined;
  readonly state: FormState;
  readonly catalogue: FieldCatalogue;
  /** Which row shows which submission; undefined until the key columns are read. */
  readonly index: RowIndex | undefined;
  /** True when a read showed that the header row is deleted or empty. */
  readonly headerIsGone: boolean;
  readonly time: SerialTime;
}

/** What a write has changed, once it is applied. */
export interface SheetChange {
  readonly tab?: FormTab;
  readonly layout?: Layout;
  readonly state?: FormState;
  readonly catalogue?: FieldCatalogue;
  /** What rows hold now, and rows added below the last one. */
  readonly rows?: { readonly changed: readonly SheetRow[]; readonly added: readonly SheetRow[] };
  /** Tabs of our own that it made or resized. */
  readonly ownTabs?: ReadonlyMap<TabRole, Tab>;
}

/** What is in the way on a form's tab, as far as it is known. */
export interface TabObstacles {
  /** Merged cells and heads of tables; once a write met a protection, also those. */
  readonly all: readonly Obstacle[];
  /** False once Google refused to insert rows, or to add some at the grid's end, where nothing was known to be in the way. */
  readonly mayInsert: boolean;
  readonly mayGrow: boolean;
}

/**
 * The one owner of what a writer or reader knows of a form's tab. Others get it as a value ({@link view}), and hand back
 * what a read found ({@link saw}) and what a write did ({@link wrote}).
 */
export class FormSheet {
  readonly spreadsheet: Spreadsheet;
  readonly form: FormIdentity;
  #view: SheetView;
  #openedAt = 0;
  #indexAtMs = 0;
  #look: FirstLook | undefined;
  #writtenFields: ReadonlySet<string> = new Set();
  #protections: readonly Obstacle[] | undefined;
  /** Writes that were refused though the protections were known. */
  #refusals = 0;
  readonly #inTheWay = new Set<string>();

  private constructor(spreadsheet: Spreadsheet, form: FormIdentity, view: SheetView) {
    this.spreadsheet = spreadsheet;
    this.form = form;
    this.#view = view;
  }

  /** The form as the spreadsheet's structure shows it. One more read for a very wide form. */
  static async open(
    spreadsheet: Spreadsheet,
    form: FormIdentity,
    structure: Structure,
  ): Promise<FormSheet> {
    const sheet = new FormSheet(spreadsheet, form, viewWithoutTab(structure, form.id));
    sheet.#openedAt = spreadsheet.head;
    await sheet.#take(structure);
    return sheet;
  }

  get view(): SheetView {
    return this.#view;
  }

  /** The number of the newest write when this was opened: a later one to this form by another process makes it void. */
  get openedAt(): number {
    return this.#openedAt;
  }

  /** The spreadsheet as it was last read, and as writes of this process left it. */
  get structure(): Structure {
    return this.spreadsheet.known;
  }

  /** IDs of the fields whose cells are written: those that were prepared. */
  get writtenFields(): ReadonlySet<string> {
    return this.#writtenFields;
  }

  /** What keeps cells of the form's tab from being written. */
  get obstacles(): TabObstacles {
    const sheetId = this.#view.layout?.sheetId;
    const all = [...(this.#protections ?? []), ...this.structure.overlays];
    return {
      all: all.filter((one) => one.sheetId === sheetId),
      mayInsert: this.#refusals === 0,
      mayGrow: this.#refusals <= 1,
    };
  }

  /** True once the protections were read. */
  get knowsProtections(): boolean {
    return this.#protections !== undefined;
  }

  /** True when a write met a protection, and one of those that there are lies on this tab. */
  isProtected({ sheetId }: Tab): boolean {
    return this.#protections?.some((one) => one.sheetId === sheetId) ?? false;
  }

  /** Names of what was met in the way of a submission's cells. */
  get inTheWay(): ReadonlySet<string> {
    return this.#inTheWay;
  }

  noteInTheWay(names: Iterable<string>): void {
    for (const name of names) this.#inTheWay.add(name);
  }

  /**
   * Reads what is protected, after a write was refused for that. False when the step need not be planned again: the tab is
   * protected as a whole, or there is nothing left that can be done otherwise.
   */
  async meetProtection(): Promise<boolean> {
    const before = this.#protections;
    this.keepProtections(readProtections(await this.spreadsheet.api.protections()));
    this.#refusals = isDeepStrictEqual(before, this.#protections) ? this.#refusals + 1 : 0;
    return this.#refusals <= 2 && !this.obstacles.all.some(keepsFromAll);
  }

  /** Reads again where things in the way are, if there were any: columns that were just made have moved them. */
  async findObstaclesAgain(): Promise<void> {
    if (this.obstacles.all.length === 0) return;
    await this.reload();
    if (this.#protections === undefined) return;
    this.keepProtections(readProtections(await this.spreadsheet.api.protections()));
  }

  /** What a write was refused for, as far as it is known: the protections on the form's tab and on tabs of our own. */
  protectionError(): SheetsError {
    const { roles } = this.structure;
    const tabs = [this.#view.layout, ...roles.values()].filter((tab) => tab !== undefined);
    const named = tabs.flatMap(({ sheetId, title }) =>
      (this.#protections ?? [])
        .filter((one) => one.sheetId === sheetId)
        .map(({ name }) => `${name} on the tab "${title}"`),
    );
    const { address, api } = this.spreadsheet;
    return protectedError(address, named, api.email);
  }

  /** Takes what was read of all obstacles: writes go around them from now on. */
  keepProtections(obstacles: readonly Obstacle[]): void {
    this.#protections = obstacles.filter(({ kind }) => kind === 'protection');
  }

  /** From now on the cells of these fields are written, and of no others. */
  writeFields(ids: Iterable<string>): void {
    this.#writtenFields = new Set(ids);
  }

  /** The layout of a tab that is there and has its ID column. Throws with the remedy when that is deleted. */
  usableLayout(): Layout {
    const { layout } = this.#view;
    if (layout === undefined) throw new MirrorError('INTERNAL', 'The form has no tab.');
    if (layout.columns.has('s:id')) return layout;
    const { message, remedy } = idColumnDeleted(layout);
    throw new MirrorError('TARGET_FAILED', `${message} ${remedy} (${this.spreadsheet.address})`, {
      retryable: false,
    });
  }

  /** Turns rows into what the columns that this writer writes should hold. */
  encoder(): RowEncoder {
    const { catalogue, time } = this.#view;
    const fields = catalogue.fields.filter((field) => this.#writtenFields.has(field.id));
    const written = new Set<string>(fields.map((field) => `f:${field.id}`));
    const columns = [...this.usableLayout().columns.keys()].filter(
      (key) => key.startsWith('s:') || written.has(key),
    );
    return new RowEncoder(columns, fields, time);
  }

  /** Reads the structure again; which row is where has to be read again, too. */
  async reload(): Promise<void> {
    await this.#take(await this.spreadsheet.refresh());
  }

  /** Reads the structure again: true when a column is elsewhere, or gone. The view stays as it is. */
  async columnsMovedSince(layout: Layout): Promise<boolean> {
    const tab = (await this.spreadsheet.refresh()).forms.get(this.form.id);
    const now = tab === undefined ? undefined : layoutOf(tab, this.#view.catalogue).columns;
    return [...layout.columns].some(([key, { index }]) => now?.get(key)?.index !== index);
  }

  /** The rows, if they are known and were read no longer ago than `maxAgeMs`. */
  knownRows(maxAgeMs: number): RowIndex | undefined {
    const isFresh = this.spreadsheet.clock.now() - this.#indexAtMs <= maxAgeMs;
    return isFresh ? this.#view.index : undefined;
  }

  /** The rows, read again when they were read longer ago than `maxAgeMs`. */
  async rows(maxAgeMs: number): Promise<RowIndex> {
    return this.knownRows(maxAgeMs) ?? this.readRows();
  }

  /** The rows, read now. */
  async readRows(): Promise<RowIndex> {
    const known = this.#view.index;
    const reading = await readKeys(this.spreadsheet.api, this.usableLayout(), { known });
    this.saw(reading);
    return reading.index;
  }

  /**
   * Takes a first look at the tab, for {@link takeLook}. The state tab, which the end of a full pass needs, comes along
   * where it is not in memory, and what shows whether the Mirror tab is as it was written.
   */
  async look(): Promise<RowIndex> {
    const { spreadsheet } = this;
    const tab = spreadsheet.knownStateTab ? undefined : this.structure.roles.get('state');
    const mirror = this.structure.roles.get('mirror');
    const also = { stateSheetId: tab?.sheetId, areas: mirror && headAreas(mirror) };
    const look = await lookAt(spreadsheet.api, this.usableLayout(), also);
    if (mirror !== undefined) spreadsheet.keepOwnTab('mirror', seenTab(mirror, look.areas));
    if (tab !== undefined) spreadsheet.keepStateTab(look.stateTab ?? []);
    this.saw(look);
    this.#look = look;
    return look.index;
  }

  /** The first look, once: undefined when it is older than `maxAgeMs`, or when something was written since. */
  takeLook(maxAgeMs: number): FirstLook | undefined {
    const look = this.knownRows(maxAgeMs) === this.#look?.index ? this.#look : undefined;
    this.#look = undefined;
    return look;
  }

  /** Takes what a read found. */
  saw({ layout, index, headerIsGone }: TabReading): void {
    this.#change({ layout, index, headerIsGone: headerIsGone ?? this.#view.headerIsGone });
    this.#indexAtMs = this.spreadsheet.clock.now();
    this.#amendTab(sizeOf(layout));
  }

  /** Rows or columns were inserted: which row is where has to be read again. */
  forgetRows(): void {
    this.#change({ index: undefined, headerIsGone: false });
  }

  /** Takes what a write has changed. */
  wrote({ tab, layout, state, catalogue, rows, ownTabs }: SheetChange): void {
    this.#look = undefined;
    if (tab !== undefined) this.#change({ tab });
    if (layout !== undefined) this.#change({ layout });
    if (tab !== undefined || layout !== undefined || state !== undefined) {
      this.#amendTab({
        ...(layout !== undefined && sizeOf(layout)),
        ...(state !== undefined && { state }),
      });
    }
    if (state !== undefined) {
      this.#change({ state });
      this.spreadsheet.dropDeferredState(this.form.id);
    }
    if (catalogue !== undefined) {
      this.#change({ catalogue });
      this.spreadsheet.keepCatalogue(this.form.id, catalogueDigest(catalogue), catalogue);
    }
    this.#view.index?.noteChanged(rows?.changed ?? []);
    this.#view.index?.noteAdded(rows?.added ?? []);
    for (const [role, own] of ownTabs ?? []) this.spreadsheet.keepOwnTab(role, own);
  }

  /** Takes a new index for a tab that this writer has made or rewritten. */
  startRows(index: RowIndex): void {
    this.#change({ index });
    this.#indexAtMs = this.spreadsheet.clock.now();
  }

  /** Notes what is about to be written into some rows. Should that fail, the next step reads the rows again. */
  expectRows(
    ids: Iterable<string>,
    change: (id: string) => { status?: string; removed?: boolean },
  ): void {
    for (const id of ids) {
      this.#view.index?.update(id, change(id));
      this.#view.index?.setFingerprint(id, Number.NaN);
    }
  }

  /** Keeps a state in memory that need not be in the sheet yet: it goes along with the next write. */
  deferState(state: FormState): void {
    this.#change({ state });
    this.spreadsheet.deferState(this.form.id, state);
  }

  /** Remembers the marks that are among what is lost. */
  noteLostMarks(found: readonly Loss[]): void {
    this.#change({ state: withLostMarks(this.#view.state, found) });
  }

  /** Notes what was forgotten, where the state does not say. */
  countForgotten(forgotten: ForgottenTally): void {
    this.#change({ state: { ...this.#view.state, forgotten } });
  }

  async #take(structure: Structure): Promise<void> {
    this.#look = undefined;
    const tab = structure.forms.get(this.form.id);
    this.#view = viewWithoutTab(structure, this.form.id);
    if (tab === undefined) return;
    const state = newer(tab.state, this.spreadsheet.deferredState(this.form.id));
    const catalogue = await this.#readCatalogue(tab);
    this.#change({ tab, state, catalogue, layout: layoutOf(tab, catalogue) });
  }

  async #readCatalogue(tab: FormTab): Promise<FieldCatalogue> {
    const known = this.spreadsheet.catalogueOf(tab);
    if (known !== undefined) return known;
    await this.spreadsheet.stateTab();
    return this.spreadsheet.catalogueOf(tab) ?? EMPTY_CATALOGUE;
  }

  #change(change: Partial<SheetView>): void {
    this.#view = { ...this.#view, ...change };
  }

  #amendTab(change: Partial<FormTab>): void {
    if (this.#view.tab === undefined) return;
    const tab: FormTab = { ...this.#view.tab, ...change };
    this.#change({ tab });
    this.spreadsheet.keepFormTab(tab);
  }
}

const viewWithoutTab = (structure: Structure, formId: string): SheetView => ({
  tab: undefined,
  layout: undefined,
  state: stateWithoutTab(structure.knownForms.get(formId)),
  catalogue: EMPTY_CATALOGUE,
  index: undefined,
  headerIsGone: false,
  time: new SerialTime(structure.timeZone),
});

const sizeOf = ({ rowCount, columnCount, title }: Layout): Partial<FormTab> => ({
  rowCount,
  columnCount,
  title,
});

/** The state of the later pass: one that waits to be written may be newer than the one in the sheet. */
export function newer(written: FormState, deferred: FormState | undefined): FormState {
  const ended = (state: FormState): string => state.passes[0]?.endedAt ?? '';
  return deferred !== undefined && ended(deferred) > ended(written)
    ? { ...written, passes: deferred.passes, checkpoint: deferred.checkpoint }
    : written;
}

/** Equal for equal catalogues. */
export const catalogueDigest = (catalogue: FieldCatalogue): string =>
  hashText(encodeCatalogue(catalogue), 12);

/** Fingerprint of the columns of ours that a tab has. */
export const layoutDigest = (layout: Layout): string => columnsDigest(layout.columns.keys());
