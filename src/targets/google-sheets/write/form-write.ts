import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { MirrorError } from '../../../base/errors.ts';
import { plusCounts } from '../../../mirror/status-counts.ts';
import type { Row } from '../../../mirror/types.ts';
import { encodeCatalogue, type FieldCatalogue } from '../columns/field-catalogue.ts';
import type { Layout } from '../columns/layout.ts';
import { countStatuses } from '../rows/dated-rows.ts';
import type { RowChange } from '../rows/row-comparison.ts';
import { newContents, type SheetRow } from '../rows/row-values.ts';
import { blockedOf } from '../state/blocked.ts';
import { growthSince } from '../state/capacity.ts';
import { catalogueDigest, type FormSheet } from '../state/form-sheet.ts';
import type { FormState } from '../state/form-state.ts';
import { oddRowsOf } from '../state/notices.ts';
import { type OwnTabWrite, writeStateTab } from '../state/own-tabs.ts';
import {
  catalogueRequest,
  fitsIntoMetadata,
  type FormTab,
  stateRequest,
} from '../state/structure.ts';
import { writeRows } from './row-write.ts';
import type { WritableBatch } from './writable.ts';
import { spareRows } from './write-plan.ts';

/*
 * How a write goes, and what a crash leaves behind.
 *
 * A spreadsheet has neither transactions over several calls nor locks nor conditional writes; it has one thing that is
 * atomic, a `batchUpdate`. So every step of a pass is one batchUpdate (a large batch of rows is several, one after the
 * other), and whatever belongs together is in it: rows, the state on the form's tab, the state tab, the Mirror tab.
 *
 * A step goes through these states:
 *
 * 1. Admitted. Steps run one at a time in a process. No other process has written to the form since this writer read it
 *    and none asks for time; the commit log, read at most two minutes ago, says so. A crash leaves nothing.
 * 2. Read and planned. Columns are found by their metadata and rows by their ID, at one instant; what differs becomes a
 *    plan that names places in the grid. Nothing is written, so a crash leaves nothing.
 * 3. Committed. The batchUpdate first creates the next entry of the commit log under a fixed ID: Google refuses the whole
 *    batch when another process took that number. Then it copies the rows that it is about to change to the undo tab,
 *    writes cells, inserts new rows below the last one, and ends with the new state. A crash before Google applied it
 *    leaves nothing; a crash after leaves all of it, which the next pass finds done. When the answer is lost, the commit
 *    log shows which of the two it was.
 * 4. Verified. The answer shows where the columns were at that moment and whose rows were written. People may have sorted
 *    or moved something between 2 and 3; then cells are misplaced. A crash before the repair leaves them so: values of
 *    our own columns are corrected by the next full pass, which compares every row; what people had written in a place
 *    that was hit is in the undo tab until the next write, and in the spreadsheet's version history.
 * 5. Repaired, only if cells were misplaced: a write of the same kind (3 to 5) copies back from the undo tab what was
 *    overwritten. A crash leaves what step 4 leaves. Then the step begins again at 2.
 * 6. Noted. What is now in the sheet becomes what this process knows of it ({@link FormSheet}); the next step builds on
 *    that. Any failure makes the next step read everything again.
 *
 * The entry of the commit log is also a lease. After a crash others wait for its end, at most half a minute after
 * a batch and a minute after columns were made.
 */

type Request = sheets_v4.Schema$Request;

/** How long others wait after a write that is probably the pass's last. */
const LAST_LEASE_MS = 10_000;

/** A write to a form's tab: all of it holds together, none of it without the rest. */
export interface FormWrite {
  readonly changes?: readonly RowChange[];
  /** What rows hold after `changes`, where that is not in the index yet. */
  readonly changedRows?: readonly SheetRow[];
  readonly newRows?: readonly SheetRow[];
  /** Rows to be added at the grid's end before all else. */
  readonly growBy?: number;
  /** The form's state that goes with it; `inserted`: new rows written so far. */
  readonly state?: (inserted: number) => FormState;
  readonly catalogue?: FieldCatalogue | undefined;
  /** New columns: requests that go before all others, each small, and the tab as they leave it. */
  readonly columns?: {
    readonly requests: readonly Request[];
    readonly layout: Layout;
    readonly tab: FormTab;
    /** Characters that the columns' marks take. */
    readonly characters: number;
  };
  readonly ownTabs?: OwnTabWrite;
  /** Called as soon as something is written. */
  readonly onCommit?: () => void;
  /** How long others wait afterwards. */
  readonly leaseMs: number;
}

/** Applies a write, the changes of the state tab included, and hands what it did to the sheet. Throws as {@link writeRows}. */
export async function applyWrite(sheet: FormSheet, write: FormWrite): Promise<void> {
  const { spreadsheet } = sheet;
  const tab = write.columns?.tab ?? sheet.view.tab;
  if (tab === undefined) throw new MirrorError('INTERNAL', 'A write to a form without a tab.');
  const { catalogue, state, columns, changes = [], newRows = [], growBy = 0 } = write;
  const layout = columns?.layout ?? sheet.usableLayout();
  const stateId = tab.stateId ?? spreadsheet.newMetadataId();
  const fieldsId = tab.fieldsId ?? spreadsheet.newMetadataId();
  const keepCatalogue: Request[] = [];
  if (catalogue !== undefined) {
    const fits = await putIntoStateTab(
      sheet,
      catalogue,
      columns?.characters ?? tab.otherCharacters,
    );
    keepCatalogue.push(catalogueRequest(tab, catalogue, fits, fieldsId));
  }
  const stateTab = writeStateTab(sheet);
  const written = await writeRows(sheet, {
    layout,
    changes,
    newRows,
    ranges: tab.ranges,
    first: [
      ...(growBy > 0 ? spareRows(layout, layout.rowCount, growBy) : []),
      ...stateTab.requests,
      ...(columns?.requests ?? []),
      ...keepCatalogue,
      ...(write.ownTabs?.requests ?? []),
      ...(state !== undefined && tab.stateId === undefined
        ? [stateRequest(tab, state(0), stateId)]
        : []),
    ],
    each: (inserted) =>
      state === undefined ? [] : [stateRequest({ ...tab, stateId }, state(inserted), stateId)],
    leaseMs: write.leaseMs,
    onCommit: write.onCommit,
  });
  sheet.wrote({
    tab: {
      ...tab,
      stateId: state === undefined ? tab.stateId : stateId,
      fieldsId: catalogue === undefined ? tab.fieldsId : fieldsId,
      ranges: written.ranges,
    },
    layout: written.layout,
    ...(state !== undefined && { state: state(newRows.length) }),
    ...(catalogue !== undefined && { catalogue }),
    rows: { changed: write.changedRows ?? [], added: newRows },
    ownTabs: new Map([...(write.ownTabs?.tabs ?? []), ...stateTab.tabs, ...written.ownTabs]),
  });
  if (stateTab.tabs.size > 0) spreadsheet.knownStateTab?.written();
}

/**
 * Writes a form's state and tabs of our own, and nothing into the form's tab: what still can be written when the tab lacks
 * its ID column.
 */
export async function writeState(
  sheet: FormSheet,
  state: FormState,
  ownTabs: OwnTabWrite,
): Promise<void> {
  const { tab } = sheet.view;
  if (tab === undefined) throw new MirrorError('INTERNAL', 'A state of a form without a tab.');
  const stateId = tab.stateId ?? sheet.spreadsheet.newMetadataId();
  await sheet.spreadsheet.commit({
    formId: sheet.form.id,
    requests: [stateRequest(tab, state, stateId), ...ownTabs.requests],
    responseRanges: [],
    leaseMs: 0,
  });
  sheet.wrote({ tab: { ...tab, stateId }, state, ownTabs: ownTabs.tabs });
}

/** Keeps a catalogue in the state tab when it is too long for metadata; true when it is not. */
export async function putIntoStateTab(
  sheet: FormSheet,
  catalogue: FieldCatalogue,
  otherCharacters: number,
): Promise<boolean> {
  const text = encodeCatalogue(catalogue);
  const fits = fitsIntoMetadata(text, otherCharacters);
  const stateTab = await sheet.spreadsheet.stateTab();
  stateTab.setText(sheet.form.id, fits ? undefined : text);
  return fits;
}

/** A batch, compared, as far as it can be written. */
export interface BatchWrite extends Pick<
  WritableBatch,
  'compared' | 'placed' | 'growBy' | 'partly'
> {
  readonly storable: readonly SheetRow[];
  readonly rows: readonly Row[];
  readonly leaseMs: number;
  /** ISO time. */
  readonly now: string;
}

/**
 * Writes a batch: its rows, what changed in the state tab, what its answers show of their columns' contents, and the new
 * counts. Nothing when nothing differs.
 */
export async function writeBatchOfRows(sheet: FormSheet, batch: BatchWrite): Promise<void> {
  const { compared, storable, placed, growBy, partly } = batch;
  const { changes, newRows } = compared;
  const catalogue = catalogueWith(sheet, batch.rows);
  const nothing = changes.length === 0 && newRows.length === 0 && catalogue === undefined;
  if (nothing && !sheet.spreadsheet.stateTabChanged) return;
  const now = stateNow(sheet, batch.now);
  const base = catalogue === undefined ? now : { ...now, catalogue: catalogueDigest(catalogue) };
  const restored = [...compared.outcomes.values()].filter((one) => one === 'restored').length;
  const after = (inserted: number): FormState => {
    const { counts } = base;
    const added = inserted + placed.length;
    const live = counts.live + restored + added;
    const stored = base.stored + added;
    return { ...base, stored, counts: { ...counts, live, removed: counts.removed - restored } };
  };
  const changed = new Set(changes.map(({ id }) => id));
  const changedRows = storable.filter(({ id }) => changed.has(id) && !partly.has(id));
  const { leaseMs } = batch;
  const state = after;
  await applyWrite(sheet, { changes, changedRows, newRows, growBy, state, catalogue, leaseMs });
  // What is in blank rows, or in a part of a row, has to be read again.
  if (placed.length + partly.size > 0) sheet.forgetRows();
}

/**
 * Writes changes of some cells, with what changed in the state tab. The index has to show them already: the counts of the
 * new state are taken from it.
 */
export async function writeCells(
  sheet: FormSheet,
  changes: readonly RowChange[],
  now: string,
  state = sheet.view.state,
): Promise<void> {
  if (changes.length === 0 && !sheet.spreadsheet.stateTabChanged) return;
  const after = stateNow(sheet, now, state);
  await applyWrite(sheet, { changes, state: () => after, leaseMs: LAST_LEASE_MS });
}

/** The form's state with rows counted as they are known now. */
export function stateNow(sheet: FormSheet, now: string, state = sheet.view.state): FormState {
  const { index } = sheet.view;
  const old = state.counts;
  const counts = {
    live: index === undefined ? old.live : index.size - index.removedCount,
    removed: index?.removedCount ?? old.removed,
    copies: index?.copies.length ?? old.copies,
    withoutId: index?.withoutId.length ?? old.withoutId,
    rejected: sheet.spreadsheet.knownStateTab?.rejections(sheet.form.id).length ?? old.rejected,
  };
  const oddRows = index === undefined ? state.oddRows : oddRowsOf(index);
  const listed = sheet.spreadsheet.knownStateTab?.rejections(sheet.form.id);
  const blocked =
    listed === undefined ? state.blocked : blockedOf(state.blocked, sheet.inTheWay, listed);
  const growth = growthSince(state.growth, counts.live + counts.removed, now);
  return { ...state, counts, oddRows, blocked, growth };
}

/** The state as it accounts for the statuses that its rows have now: what looks compare with, without reading rows. */
export function accountedNow({ view: { state, index } }: FormSheet): FormState {
  const { checkpoint } = state;
  if (checkpoint === null || checkpoint.statuses === null || index === undefined) return state;
  const statuses = plusCounts(countStatuses(index), checkpoint.unstored);
  return { ...state, checkpoint: { ...checkpoint, statuses } };
}

/** The catalogue with what these rows' answers show of their columns; undefined when that is nothing new. */
function catalogueWith(
  { view: { catalogue }, writtenFields }: FormSheet,
  rows: readonly Row[],
): FieldCatalogue | undefined {
  const written = catalogue.fields.filter((field) => writtenFields.has(field.id));
  const contents = newContents(rows, new Map(written.map((field) => [field.id, field.content])));
  if (contents.size === 0) return undefined;
  const fields = catalogue.fields.map((field) => {
    const content = contents.get(field.id);
    return content === undefined ? field : Object.assign({}, field, { content });
  });
  return { ...catalogue, fields };
}
