import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Clock } from '../../base/clock.ts';
import { MirrorError, safeText } from '../../base/errors.ts';
import type { ReadValue } from './api/cell-value.ts';
import { warnBeforeEdits } from './api/formatting.ts';
import { type ColumnKey, createMetadata, METADATA_KEYS, tabMark } from './api/metadata.ts';
import type { SheetsApi } from './api/sheets-api.ts';
import { protectedError, SheetsError, type SheetsFault } from './api/sheets-error.ts';
import type { Table } from './rows.ts';
import {
  changeStateTab,
  documentKey,
  EMPTY_STATE_TAB,
  readStateTab,
  STATE_TITLE,
  type StateChange,
  type StateTab,
  textIn,
} from './state-tab.ts';
import {
  type FormTab,
  protectionsOf,
  readStructure,
  requireColumns,
  requireRevision,
  STATE,
  type Structure,
  type TabRole,
} from './structure.ts';

type Request = sheets_v4.Schema$Request;

/** The latest reading of the spreadsheet. */
export interface View {
  readonly structure: Structure;
  readonly stateTab: StateTab;
}

/** The changes of one write: in a form's tab, and in the hidden one. */
export interface Batch {
  readonly requests: readonly Request[];
  readonly put: readonly StateChange[];
  /** Updates the mirror's texts for people in the spreadsheet as well. */
  readonly isShown: boolean;
}

/** The part of a write that updates the tabs for people. */
export type Shown = Pick<Batch, 'requests' | 'put'>;

export const NOTHING: Shown = { requests: [], put: [] };

/** A write, planned over a view of the spreadsheet. */
export interface Plan<T> {
  /** Null: there is nothing to write. */
  readonly batch: Batch | null;
  readonly result: T;
}

/** The writer of a form, and the form's document as this writer knows it: every commit builds on that (L13). */
export interface Writer {
  readonly formId: string;
  readonly slug: string;
  text: string | null;
}

const MOST_TRIES = 6;
/** The age up to which a reader may get an earlier reading. Google allows 60 reads per minute. */
export const READ_MS = 5_000;
/** The age up to which a write to the hidden tab may be planned over an earlier reading. */
const HIDDEN_MS = 120_000;
const RETRIED = new Set<SheetsFault>(['taken', 'refused', 'unclear', 'protected']);
const STATE_COLUMNS = 40;
const STATE_ROWS = 200;

/**
 * One spreadsheet, as one process uses it. Its writes come one after the other. Each is one atomic batch that requires the revision
 * that was read and sets the next one. So if two processes build on the same state, only one of them gets through (L13).
 */
export class SheetFile {
  readonly api: SheetsApi;
  readonly clock: Clock;
  /** Forms that this process has open for writing. */
  readonly opened = new Set<string>();
  /** Updates the tabs for people if their text has changed. */
  show: (view: View) => Shown = () => NOTHING;
  #turn: Promise<unknown> = Promise.resolve();
  #view: View | null = null;
  #viewedAtMs = -Infinity;

  constructor(api: SheetsApi, clock: Clock) {
    [this.api, this.clock] = [api, clock];
  }

  /** Reads the spreadsheet: its structure, and the hidden tab if another process has written since. */
  async refresh(): Promise<View> {
    const structure = readStructure(await this.api.structure());
    const before = this.#view;
    const sheetId = structure.own.get(STATE)?.sheetId;
    const isSame =
      before !== null &&
      before.structure.revision === structure.revision &&
      before.structure.own.get(STATE)?.sheetId === sheetId;
    let stateTab = isSame ? before.stateTab : EMPTY_STATE_TAB;
    if (!isSame && sheetId !== undefined) {
      const [found] = await this.api.values([{ gridRange: { sheetId } }], 'ROWS');
      stateTab = readStateTab((found?.valueRange?.values ?? []) as ReadValue[][]);
    }
    this.#view = { structure, stateTab };
    this.#viewedAtMs = this.clock.now();
    return this.#view;
  }

  /** The latest reading of the spreadsheet, unless it is older than that, or the mirror has made a tab or column since. */
  async view(maxAgeMs: number): Promise<View> {
    const isRecent = this.clock.now() - this.#viewedAtMs < maxAgeMs;
    return this.#view !== null && isRecent ? this.#view : this.refresh();
  }

  /** The cells of our columns in a tab, found by their metadata wherever people have moved them. `only`: only these columns. */
  async table(tab: FormTab, only?: readonly ColumnKey[]): Promise<Table> {
    return (await this.tables([tab], only)).get(tab) ?? new Map();
  }

  /** The same for several tabs, with one call. */
  async tables(
    tabs: readonly FormTab[],
    only?: readonly ColumnKey[],
  ): Promise<Map<FormTab, Table>> {
    const places = new Map<number, readonly [tab: FormTab, key: ColumnKey]>();
    for (const tab of tabs)
      for (const [key, id] of tab.marks)
        if (only?.includes(key) !== false) places.set(id, [tab, key]);
    const filters = [...places.keys()].map((metadataId) => ({
      developerMetadataLookup: { metadataId },
    }));
    const ranges = filters.length === 0 ? [] : await this.api.values(filters, 'COLUMNS');
    const tables = new Map(tabs.map((tab) => [tab, new Map<ColumnKey, readonly ReadValue[]>()]));
    for (const { dataFilters, valueRange } of ranges) {
      const place = places.get(dataFilters?.[0]?.developerMetadataLookup?.metadataId ?? 0);
      if (place === undefined) continue;
      const [tab, key] = place;
      tables.get(tab)?.set(key, (valueRange?.values?.[0] ?? []) as ReadValue[]);
    }
    return tables;
  }

  /**
   * One atomic write. `plan` may read, and is called again if the spreadsheet was rearranged or another process was faster. Rejects
   * with TARGET_BUSY if another process has written the form. `writer` is null for a record that belongs to no form. `isHidden`:
   * the write concerns only the hidden tab, which people do not rearrange, so nothing is read before.
   */
  write<T>(
    writer: Writer | null,
    plan: (view: View) => Promise<Plan<T>>,
    isHidden = false,
  ): Promise<T> {
    const work = this.#turn.then(() => this.#write(writer, plan, isHidden));
    this.#turn = work.catch(() => {});
    return work;
  }

  async #write<T>(
    writer: Writer | null,
    plan: (view: View) => Promise<Plan<T>>,
    isHidden: boolean,
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      const view = await this.view(isHidden && tries === 1 ? HIDDEN_MS : -1);
      requireOwn(writer, view.stateTab);
      const { batch, result } = await plan(view);
      if (batch === null) return result;
      const { requests, structure, stateTab } = this.#withState(view, batch);
      const tab = writer === null ? undefined : view.structure.forms.get(writer.formId);
      const revision = Math.floor(Math.random() * 2 ** 40).toString(36);
      const required = [
        ...requireRevision(view.structure, revision),
        ...(tab === undefined || batch.requests.length === 0
          ? []
          : requireColumns(tab, this.newId())),
      ];
      const text = writer === null ? null : textIn(stateTab, documentKey(writer.formId));
      try {
        await this.api.update([...required, ...requests]);
        this.#view = { structure: { ...structure, revision }, stateTab };
        this.#viewedAtMs = requests.some(isStructural) ? -Infinity : this.clock.now();
      } catch (error) {
        if (!(error instanceof SheetsError)) throw error;
        // People may have protected something since it was read; one more reading is enough to see that.
        if (error.fault === 'protected' && tries > 1) {
          const tabs = [view.structure.own.get(STATE), tab].filter((each) => each !== undefined);
          throw protectedError(this.api, tabs.flatMap(protectionsOf));
        }
        if (tries >= MOST_TRIES) throw error;
        if (!RETRIED.has(error.fault)) throw error;
        // After a timeout or a 503 it may have been applied, and another write may have followed.
        const now = await this.refresh();
        const isStored =
          writer !== null &&
          text !== writer.text &&
          text === textIn(now.stateTab, documentKey(writer.formId));
        if (now.structure.revision !== revision && !isStored) continue;
      }
      if (writer !== null) writer.text = text;
      return result;
    }
  }

  /** The requests of a plan, plus those for the hidden tab, which is made if it is missing. */
  #withState(
    { structure, stateTab }: View,
    { requests, put, isShown }: Batch,
  ): View & { readonly requests: Request[] } {
    const made: Request[] = [];
    let place = structure.own.get(STATE);
    if (place === undefined) {
      const sheetId = this.newId();
      const title = freeTabTitle(STATE_TITLE, structure.titles);
      const gridProperties = { rowCount: STATE_ROWS, columnCount: STATE_COLUMNS };
      made.push(
        { addSheet: { properties: { sheetId, title, hidden: true, gridProperties } } },
        this.markTab(sheetId, STATE),
        // People can show the tab, and replace a text in all tabs.
        warnBeforeEdits(
          { sheetId },
          'Records of forms-mirror, which needs them. Do not edit them.',
        ),
      );
      place = { sheetId, title, ...gridProperties, obstacles: [], chartIds: [] };
    }
    const all = changeStateTab(stateTab, place, put);
    const shown = isShown ? this.show({ structure, stateTab: all.tab }) : NOTHING;
    const noted = changeStateTab(all.tab, { ...place, rowCount: all.rowCount }, shown.put);
    const after = { ...place, rowCount: noted.rowCount };
    return {
      requests: [...requests, ...made, ...all.requests, ...shown.requests, ...noted.requests],
      structure: { ...structure, own: new Map(structure.own).set(STATE, after) },
      stateTab: noted.tab,
    };
  }

  /** A request that marks a tab as one of our own. */
  markTab(sheetId: number, role: TabRole): Request {
    const mark = tabMark(role, sheetId);
    return createMetadata({ sheetId }, METADATA_KEYS.role, mark);
  }

  /** An ID for a new tab or a new piece of metadata that nothing else has. */
  newId(): number {
    return 1 + Math.floor(Math.random() * 2_000_000_000);
  }
}

/** Rejects if another process has written the form since this one last knew it. */
function requireOwn(writer: Writer | null, stateTab: StateTab): void {
  if (writer === null || textIn(stateTab, documentKey(writer.formId)) === writer.text) return;
  throw new MirrorError('TARGET_BUSY', `Another run has written form ${writer.slug} in the sheet.`);
}

/** The request makes tabs or columns, which are unknown before the next reading. */
const isStructural = (request: Request): boolean =>
  request.addSheet !== undefined ||
  request.insertDimension?.range?.dimension === 'COLUMNS' ||
  request.createDeveloperMetadata !== undefined;

/** Characters of a tab's title; Google takes 100. */
const MAX_TITLE = 80;

/**
 * A valid title for a new tab, as close to `wanted` as possible, that no tab in `taken` has (Google ignores case). Colons and
 * brackets are removed, because they confuse A1 notation in other tools.
 */
export function freeTabTitle(wanted: string, taken: Iterable<string>): string {
  const used = new Set([...taken].map((title) => title.toLowerCase()));
  const clean = wanted
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}[\]*?:\\/!]/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[' ]+|[' ]+$/g, '');
  const base = safeText(clean, MAX_TITLE) || 'Form';
  for (let number = 1; ; number++) {
    const title = number === 1 ? base : `${base} (${number})`;
    if (!used.has(title.toLowerCase())) return title;
  }
}
