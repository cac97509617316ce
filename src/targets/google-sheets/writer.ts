import { idsOfBatch } from '../../mirror/forgotten.ts';
import type { Loss } from '../../mirror/losses.ts';
import type { TargetNotice } from '../../mirror/notices.ts';
import type { DescribeHealth } from '../../mirror/health-text.ts';
import { type Erasure, NOTHING_ERASED } from '../../mirror/erasure.ts';
import type { MarkingRecord } from '../../mirror/marking-record.ts';
import type {
  ApplyResult,
  FormWriter,
  PrepareResult,
  Refusal,
  RowOutcome,
  SentMark,
} from '../../mirror/target.ts';
import type { PassEnd, PassRecord, PickedField, Rejection, Row } from '../../mirror/types.ts';
import type { WindowRecord } from '../../mirror/window.ts';
import { fitText, type ReadValue } from './api/cell-value.ts';
import type { ColumnKey } from './api/metadata.ts';
import { movedError } from './api/sheets-error.ts';
import { SheetFormReader } from './reader.ts';
import { type ComparedRows, compareRows } from './rows/row-comparison.ts';
import type { RowIndex } from './rows/row-index.ts';
import type { RowEncoder, SheetRow } from './rows/row-values.ts';
import type { FormSheet } from './state/form-sheet.ts';
import { removedBefore } from './state/traces.ts';
import { forgetting, forgottenOf, notedOf, remembering } from './state/forgotten-list.ts';
import { type FormState, stateWithoutIds } from './state/form-state.ts';
import { type FoundLosses, lossesOf, needsLook } from './state/losses.ts';
import { unblockedOf } from './state/blocked.ts';
import { updateOwnTabs } from './state/own-tabs.ts';
import { endRefusals, noteRefusals, noteSentMarks } from './state/refusal-list.ts';
import { RejectionList } from './state/rejection-list.ts';
import {
  changeWindows,
  dropWindows,
  noteWindows,
  reopenWindows,
  windowsOf,
} from './state/window-list.ts';
import { SummaryKeeper } from './summary/summary-keeper.ts';
import { changedIds, cellChanges, idsOf, KEYS_FRESH_MS } from './write/cell-changes.ts';
import { isProvenFull, writeEndOfPass } from './write/end-of-pass.ts';
import {
  accountedNow,
  applyWrite,
  stateNow,
  writeBatchOfRows,
  writeCells,
} from './write/form-write.ts';
import { emptyFields, eraseSubmissions } from './write/erase.ts';
import { restoreHeader, returnHeader } from './write/header-row.ts';
import { prepareColumns } from './write/prepare-columns.ts';
import { writableBatch } from './write/writable.ts';
import { WriterTurns } from './write/writer-turns.ts';

/** Rows of one batch: some four writes of 2 MB. */
export const BATCH_ROWS = 5_000;
/** How long others wait after a batch that more will follow, and after one that was probably the pass's last. */
const BUSY_LEASE_MS = 30_000;
const LAST_LEASE_MS = 10_000;

export interface SheetWriterOptions {
  /** Puts a form's health into words for the Mirror tab. */
  readonly describe: DescribeHealth;
  /** SHEETS_SUMMARY; undefined: only in a spreadsheet that the mirror began. */
  readonly summary?: boolean | undefined;
  /** Called once, when the writer is disposed of. */
  readonly release: () => void;
}

/** {@link FormWriter} over a form's tab. */
export class SheetFormWriter extends SheetFormReader implements FormWriter {
  readonly #describe: DescribeHealth;
  readonly #turns: WriterTurns;
  readonly #rejections: RejectionList;
  readonly #summary: SummaryKeeper;
  readonly #shown: FormState;
  #picked: readonly PickedField[] = [];
  #found: FoundLosses | undefined;

  constructor(sheet: FormSheet, options: SheetWriterOptions) {
    super(sheet);
    this.#describe = options.describe;
    this.#summary = new SummaryKeeper(sheet, options.summary);
    this.#turns = new WriterTurns(sheet, options.release);
    this.#rejections = new RejectionList(sheet.form.id);
    this.#shown = sheet.view.state;
  }

  async prepare(
    fields: readonly PickedField[],
    options?: { readonly restoreColumns?: boolean },
  ): Promise<PrepareResult> {
    let planned: PrepareResult | undefined;
    return this.#turns.take(async () => {
      this.sheet.writeFields(fields.map((field) => field.id));
      const result = await this.#prepareColumns(fields, {
        restoreColumns: options?.restoreColumns ?? false,
        // A repetition may find done what the first try did, which is reported all the same.
        onPlan: (plan) => (planned ??= plan),
      });
      this.#picked = fields;
      this.#summary.follow(fields);
      return planned ?? result;
    });
  }

  override async losses(): Promise<readonly Loss[]> {
    return this.#turns.take(async () => {
      const { sheet } = this;
      const { state, layout } = sheet.view;
      const zone = sheet.structure.timeZone;
      const index = layout && needsLook(state) ? await this.#look() : undefined;
      const present = index?.size ?? 0;
      const removed = layout?.columns.has('s:removed') ? index?.removedCount : undefined;
      const found = lossesOf(sheet.view.state, present, removed, zone);
      // Marks are counted as they are from now on: that others are lost later shows no other number.
      const now = lossesOf({ ...sheet.view.state, losses: [] }, present, removed, zone).losses;
      if (now.some(({ what }) => what === 'marks')) await reopenWindows(sheet);
      sheet.noteLostMarks(found.losses);
      this.#found = { ...found, sheetId: sheet.view.tab?.sheetId, zone };
      return [...found.losses, ...(await unblockedOf(sheet))];
    });
  }

  /** As this writer has seen the rows: it reads none for this. */
  override async notices(): Promise<readonly TargetNotice[]> {
    return this.noticesOf(this.sheet.view.index);
  }

  async apply(rows: readonly Row[], rejections: readonly Rejection[]): Promise<ApplyResult> {
    const outcomes = new Map<string, RowOutcome>();
    const newlyListed = new Set<string>();
    let gone: ReadonlySet<string> = new Set();
    this.#summary.see(rows);
    return this.#turns.take(async () => {
      await this.#ensureTab();
      const { sheet } = this;
      const encoder = sheet.encoder();
      gone = new Set((await forgottenOf(sheet, idsOfBatch(rows, rejections))).keys());
      const encoded = rows.flatMap((row) => (gone.has(row.id) ? [] : encoder.encode(row)));
      const own = encoded.flatMap((one) => one.rejections);
      const storable = encoded.flatMap((one) => one.row ?? []);
      const batch = await writableBatch(sheet, await this.#compare(encoder, storable));
      const { compared } = batch;
      for (const [id, outcome] of compared.outcomes) {
        if (!outcomes.has(id) || batch.outcomes.has(id)) outcomes.set(id, outcome);
      }
      own.push(...batch.rejections);
      const all = [...rejections, ...own].filter((one) => !gone.has(one.submissionId));
      const noted = { ids: storable.map((row) => row.id), all };
      for (const id of await this.#rejections.note(sheet, noted, this.#now())) newlyListed.add(id);
      await endRefusals(sheet, changedIds(compared));
      const leaseMs = rows.length >= BATCH_ROWS / 2 ? BUSY_LEASE_MS : LAST_LEASE_MS;
      await writeBatchOfRows(sheet, { ...batch, storable, rows, leaseMs, now: this.#now() });
      return {
        outcomes: rows.map(({ id }) =>
          gone.has(id) ? 'forgotten' : (outcomes.get(id) ?? 'rejected'),
        ),
        rejections: own,
        newlyListed,
        forgotten: gone,
        ...(batch.refused && { refused: batch.refused }),
      };
    });
  }

  async markDeleted(ids: readonly string[], at: string): Promise<number> {
    let marked: number | undefined;
    return this.#turns.take(async () => {
      const { sheet } = this;
      if (sheet.view.tab === undefined) return 0;
      if (!sheet.usableLayout().columns.has('s:removed')) await this.#makeColumn('s:removed');
      const value = sheet.view.time.toSerial(at) ?? at;
      const { changes, rejections } = await cellChanges(
        sheet,
        ids,
        (row) => !row.removed,
        () => ({ key: 's:removed', value, was: '' }),
      );
      await this.#rejections.add(sheet, rejections, this.#now());
      marked = rejections.length > 0 ? changes.length : (marked ?? changes.length);
      sheet.expectRows(idsOf(changes), () => ({ removed: true }));
      await writeCells(sheet, changes, this.#now());
      return marked;
    });
  }

  async setStatuses(
    statuses: ReadonlyMap<string, string>,
    sent: readonly SentMark[] = [],
  ): Promise<void> {
    const fitted = new Map([...statuses].map(([id, status]) => [id, fitText(status).text]));
    const statusOf = (id: string): string => fitted.get(id) ?? '';
    await this.#turns.take(async () => {
      const { sheet } = this;
      if (sheet.view.tab === undefined || !sheet.usableLayout().columns.has('s:status')) return;
      const { changes, rejections } = await cellChanges(
        sheet,
        [...fitted.keys()],
        (row) => row.status !== statusOf(row.id),
        ({ id, status }) => ({ key: 's:status', value: statusOf(id), was: status }),
      );
      await this.#rejections.add(sheet, rejections, this.#now());
      await noteSentMarks(sheet, idsOf(changes), sent);
      sheet.expectRows(idsOf(changes), (id) => ({ status: statusOf(id) }));
      await writeCells(sheet, changes, this.#now(), accountedNow(sheet));
    });
  }

  async recordMarking(marking: MarkingRecord | null, named: readonly string[] = []): Promise<void> {
    await this.#turns.take(async () => {
      await this.#ensureTab();
      const { sheet } = this;
      const now = this.#now();
      const gone = await notedOf(sheet, named);
      const said = stateWithoutIds({ ...sheet.view.state, marking }, gone);
      const after = stateNow(sheet, now, said);
      // The Mirror tab shows it, too.
      const ownTabs = await updateOwnTabs(sheet, { state: after, now }, this.#describe);
      await applyWrite(sheet, { state: () => after, ownTabs, leaseMs: 0 });
    });
  }

  async recordRefusals(refusals: readonly Refusal[]): Promise<void> {
    await this.#turns.take(async () => {
      if (refusals.length === 0) return;
      await this.#ensureTab();
      await noteRefusals(this.sheet, refusals);
      await writeCells(this.sheet, [], this.#now());
    });
  }

  async forget(ids: readonly string[], at: string): Promise<Erasure> {
    return this.#erase(ids, (some) => forgetting(this.sheet, some, at));
  }

  async remember(ids: readonly string[]): Promise<number> {
    let dropped = 0;
    return this.#turns.take(async () => {
      await this.#ensureTab();
      const state = await remembering(this.sheet, ids, (noted) => (dropped ||= noted));
      if (dropped > 0) await dropWindows(this.sheet);
      const after = stateNow(this.sheet, this.#now(), state);
      await applyWrite(this.sheet, { state: () => after, leaseMs: 0 });
      return dropped;
    });
  }

  async purgeDeleted(before: string): Promise<Erasure> {
    if (this.sheet.view.layout === undefined) return NOTHING_ERASED;
    const ids = await removedBefore(this.sheet, before);
    return ids.length === 0 ? NOTHING_ERASED : this.#erase(ids, async () => this.sheet.view.state);
  }

  async emptyFields(fieldIds: readonly string[], at: string): Promise<number> {
    if (this.sheet.view.layout === undefined) return 0;
    let emptied = 0;
    return this.#turns.take(async () => {
      await dropWindows(this.sheet);
      emptied = Math.max(emptied, await emptyFields(this.sheet, fieldIds, at));
      return emptied;
    });
  }

  override async windows(): Promise<readonly WindowRecord[]> {
    const { form, spreadsheet } = this.sheet;
    if (!spreadsheet.known.roles.has('state')) return [];
    return windowsOf(await spreadsheet.stateTab(), form.id);
  }

  async planWindows(windows: readonly WindowRecord[]): Promise<void> {
    await this.#turns.take(async () => {
      await this.#ensureTab();
      await noteWindows(this.sheet, windows);
      await writeCells(this.sheet, [], this.#now());
    });
  }

  async saveWindow(window: WindowRecord): Promise<void> {
    const { from, to } = window;
    await this.#turns.take(async () => {
      await changeWindows(this.sheet, (old) => (old.from === from && old.to === to ? window : old));
      await writeCells(this.sheet, [], this.#now());
    });
  }

  async finish(pass: PassRecord, changes: PassEnd): Promise<undefined> {
    await this.#turns.take(async () => {
      // People deleted the tab of a form that is gone: it does not come back.
      const { view, form, structure } = this.sheet;
      const isDeleted = view.tab === undefined && structure.knownForms.has(form.id);
      if (pass.outcome === 'gone' && isDeleted) return;
      await this.#ensureTab();
      const own = { describe: this.#describe, rejections: this.#rejections };
      const known = { found: this.#found, shown: this.#shown };
      await writeEndOfPass(this.sheet, { pass, changes, now: this.#now(), ...own, ...known });
    });
    await this.#summary.end(isProvenFull(pass, changes), (work) => this.#turns.take(work));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.end();
  }

  protected override async headers(): Promise<readonly ReadValue[] | undefined> {
    return undefined;
  }

  protected override keys(): Promise<RowIndex> {
    return this.sheet.rows(Number.POSITIVE_INFINITY);
  }

  protected override freshKeys(): Promise<RowIndex> {
    return this.keys();
  }

  protected override async refreshState(): Promise<void> {}

  /** `state`: what is written with the erasure of some, but for its counts; asked for once in each try. */
  async #erase(
    ids: readonly string[],
    state: (ids: readonly string[]) => Promise<FormState>,
  ): Promise<Erasure> {
    let first: Erasure | undefined;
    return this.#turns.take(async () => {
      await this.#ensureTab();
      const plan = { ids, state, now: this.#now(), describe: this.#describe };
      const erased = await eraseSubmissions(this.sheet, plan, (begun) => (first ??= begun));
      return first ?? erased;
    });
  }

  #now(): string {
    return new Date(this.sheet.spreadsheet.clock.now()).toISOString();
  }

  #prepareColumns(
    picked: readonly PickedField[],
    request: {
      restoreColumns?: boolean;
      needed?: readonly ColumnKey[];
      onPlan?: (plan: PrepareResult) => void;
    } = {},
  ): Promise<PrepareResult> {
    return prepareColumns(this.sheet, {
      restoreColumns: false,
      ...request,
      picked,
      now: this.#now(),
      describe: this.#describe,
    });
  }

  /** The rows as they are now, as far as a look just now can tell. */
  async #look(): Promise<RowIndex> {
    return this.sheet.knownRows(KEYS_FRESH_MS) ?? this.sheet.look();
  }

  /** Makes the form's tab again when people deleted it. */
  async #ensureTab(): Promise<void> {
    if (this.sheet.view.layout === undefined) await this.#prepareColumns(this.#picked);
  }

  async #makeColumn(key: ColumnKey): Promise<void> {
    await this.#prepareColumns(this.#picked, { needed: [key] });
  }

  /** Compares a batch with the sheet. A header row that was deleted is made again first; then all is read again. */
  async #compare(encoder: RowEncoder, rows: readonly SheetRow[]): Promise<ComparedRows> {
    const { sheet } = this;
    const layout = sheet.usableLayout();
    const look = sheet.takeLook(KEYS_FRESH_MS);
    const { index } = sheet.view;
    const compared = await compareRows(
      sheet.spreadsheet.api,
      { layout, index, look },
      encoder,
      rows,
    );
    if (compared.reading !== undefined) sheet.saw(compared.reading);
    const { index: now, headerIsGone } = sheet.view;
    const isReturned = now !== undefined && (await returnHeader(sheet, now, !headerIsGone));
    if (!isReturned && !headerIsGone) return compared;
    if (!isReturned) await restoreHeader(sheet);
    throw movedError(sheet.spreadsheet.address);
  }
}
