import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Clock } from '../../../base/clock.ts';
import { MirrorError } from '../../../base/errors.ts';
import type { LookRecord } from '../../../mirror/look-record.ts';
import { type RetryPolicy, withRetry } from '../../../base/retry.ts';
import { browserAddress } from '../api/address.ts';
import type { ReadValue } from '../api/cell-value.ts';
import {
  COMMIT_LOG_FRESH_MS,
  type CommitEntry,
  type CommitLog,
  formTag,
  headOf,
  isUndone,
  leaseLeftMs,
  nextCommit,
  overtaken,
  readCommitLog,
} from './commit-log.ts';
import { decodeCatalogue, type FieldCatalogue } from '../columns/field-catalogue.ts';
import type { FormState } from './form-state.ts';
import type { KnownForm } from './known-forms.ts';
import { StateTab } from './state-tab.ts';
import type { SummaryMarks } from './summary-marks.ts';
import { metadataEntries, type MetadataEntry, type TabRole } from '../api/metadata.ts';
import type { SheetsApi } from '../api/sheets-api.ts';
import { overtakenMessage, SheetsError } from '../api/sheets-error.ts';
import type { Tab } from '../columns/layout.ts';
import {
  type FormTab,
  type OwnTab,
  placeOfFormTab,
  readStructure,
  type Structure,
} from './structure.ts';
import { readStateTab } from '../rows/tab-reading.ts';

type Request = sheets_v4.Schema$Request;

/** How often another process's lease is looked at while waiting for its end. */
const LEASE_POLL_MS = 5_000;
/** Tries of one write whose fate is unclear. */
const COMMIT_TRIES = 5;
/** One try more, which only looks the last write up. */
const COMMIT_RETRY: RetryPolicy = {
  attempts: COMMIT_TRIES + 1,
  baseDelayMs: 2_000,
  maxDelayMs: 64_000,
  maxServerDelayMs: 0,
  jitter: 'equal',
};
/** How long a writer in the middle of a pass waits for another process to finish with another form. */
const LEASE_WAIT_MS = 180_000;

/** One atomic write to the spreadsheet. */
export interface Commit {
  readonly formId: string;
  readonly requests: readonly Request[];
  /** A1 ranges to be answered with how they are after the write. */
  readonly responseRanges: readonly string[];
  /** How long other processes should wait afterwards. */
  readonly leaseMs: number;
}

/** The answer to a write. `lost`: it was applied, but its answer never came. */
export interface CommitAnswer {
  readonly lost: boolean;
  readonly spreadsheet: sheets_v4.Schema$Spreadsheet | undefined;
}

const LOST_ANSWER: CommitAnswer = { lost: true, spreadsheet: undefined };

const isTaken = (error: unknown): boolean =>
  error instanceof SheetsError && error.fault === 'taken';

/**
 * One spreadsheet as one process works on it, shared by all of its targets: what was last read of its structure, the
 * commit log, who writes to which form, and the state tab. All writes go through {@link commit}.
 */
export class Spreadsheet {
  readonly api: SheetsApi;
  readonly clock: Clock;
  /** Names this process in the commit log. */
  readonly holder: string;
  readonly address: string;
  readonly #random: () => number;
  readonly #writers = new Set<string>();
  readonly #deferredStates = new Map<string, FormState>();
  readonly #catalogues = new Map<string, { digest: string; catalogue: FieldCatalogue }>();
  /** The newest look, where it is not in the sheet yet. */
  deferredLook: LookRecord | undefined;
  /** What the Summary tab was to show when Google refused it: it is not tried again until that is something else. */
  refusedSummary: string | undefined;
  /** Header rows that Google did not let be moved, by form: where they stood, and what was around them. */
  readonly stuckHeaders = new Map<string, { isProtected: boolean; around: string }>();
  #structure: Structure | undefined;
  #structureAtMs = 0;
  #log: CommitLog | undefined;
  #logAtMs = 0;
  #lastOwn: CommitEntry | undefined;
  #stateTab: StateTab | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(api: SheetsApi, clock: Clock, random: () => number) {
    this.api = api;
    this.clock = clock;
    this.#random = random;
    this.holder = this.newId();
    this.address = browserAddress(api.spreadsheetId);
  }

  /** A short random name. */
  newId(): string {
    const number = Math.floor(this.#random() * 36 ** 7);
    return number.toString(36).padStart(7, '0');
  }

  /** A random ID for a new piece of metadata, below those of the commit log. */
  newMetadataId(): number {
    return 1 + Math.floor(this.#random() * 1_000_000_000);
  }

  /** A random ID for a new tab. */
  newSheetId(): number {
    return 1 + Math.floor(this.#random() * 2_000_000_000);
  }

  /** Claims a form for a writer of this process; false when another one has it. */
  claim(formId: string): boolean {
    if (this.#writers.has(formId)) return false;
    this.#writers.add(formId);
    return true;
  }

  /** Gives a form back. */
  unclaim(formId: string): void {
    this.#writers.delete(formId);
  }

  /** Does one thing at a time: rows of shared tabs are handed out by place. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** The structure, read now. */
  async refresh(signal?: AbortSignal): Promise<Structure> {
    const structure = readStructure(this.api.spreadsheetId, await this.api.structure(signal));
    if (headOf(structure.commits) !== this.head) this.#stateTab = undefined;
    if (isUndone(this.#log, structure.commits)) this.#deferredStates.clear();
    this.#structure = structure;
    this.#structureAtMs = this.clock.now();
    this.#log = structure.commits;
    this.#logAtMs = this.#structureAtMs;
    return structure;
  }

  /** The structure as last read, and as our own writes since then left it; read now when it is older than `maxAgeMs`. */
  async structure(maxAgeMs: number): Promise<Structure> {
    const known = this.#structure;
    return known !== undefined && this.clock.now() - this.#structureAtMs <= maxAgeMs
      ? known
      : this.refresh();
  }

  /** The structure as last read, and as our own writes since then left it. */
  get known(): Structure {
    if (this.#structure === undefined)
      throw new MirrorError('INTERNAL', 'The structure was used before it was read.');
    return this.#structure;
  }

  /** Notes a form's tab as a read or a write of ours left it. */
  keepFormTab(tab: FormTab): void {
    this.#amend((known) => ({
      tabs: withTab(known.tabs, tab, placeOfFormTab(known)),
      forms: new Map(known.forms).set(tab.formId, tab),
    }));
  }

  /** Notes a tab of our own that a write made or resized. */
  keepOwnTab(role: TabRole, tab: OwnTab): void {
    this.#amend((known) => ({
      tabs: withTab(known.tabs, tab),
      roles: new Map(known.roles).set(role, tab),
    }));
  }

  /** Notes that the empty tab that we had hidden is gone, or is people's from now on. */
  settleEmptyTab(gone: boolean): void {
    this.#amend(({ tabs, emptyTab }) => ({
      emptyTab: undefined,
      tabs: gone ? tabs.filter(({ sheetId }) => sheetId !== emptyTab?.tab.sheetId) : tabs,
    }));
  }

  /** Notes a form that a write made known. */
  keepKnownForm(form: KnownForm): void {
    this.#amend(({ knownForms }) => ({ knownForms: new Map(knownForms).set(form.id, form) }));
  }

  /** Notes the look that a write of ours left in the sheet. */
  keepLook(entry: MetadataEntry): void {
    this.#amend(({ looks }) => ({ looks: [...looks.filter(({ id }) => id !== entry.id), entry] }));
  }

  /** Notes what a write of ours left of the pauses. */
  keepPauses(pauses: readonly MetadataEntry[]): void {
    this.#amend(() => ({ pauses }));
  }

  /** Notes that a write of ours kept which form a slug names. */
  keepSlug(entry: MetadataEntry): void {
    this.#amend(({ slugs }) => ({ slugs: [...slugs, entry] }));
  }

  /** Notes what a write of ours left of the Summary tab's marks. */
  keepSummary(marks: Partial<SummaryMarks>): void {
    this.#amend(({ summary }) => ({ summary: { ...summary, ...marks } }));
  }

  #amend(change: (known: Structure) => Partial<Structure>): void {
    const known = this.#structure;
    if (known !== undefined) this.#structure = { ...known, ...change(known) };
  }

  /** The state of a form's last pass that brought nothing new and waits for the next write. */
  deferredState(formId: string): FormState | undefined {
    return this.#deferredStates.get(formId);
  }

  deferState(formId: string, state: FormState): void {
    this.#deferredStates.set(formId, state);
  }

  dropDeferredState(formId: string): void {
    this.#deferredStates.delete(formId);
  }

  /** The number of the newest write that we know of. */
  get head(): number {
    return this.#log === undefined ? 0 : headOf(this.#log);
  }

  /** Milliseconds for which another process holds a lease, as last read. */
  get leaseLeftMs(): number {
    return this.#log === undefined ? 0 : leaseLeftMs(this.#log, this.holder, this.clock.now());
  }

  /** Milliseconds for which our own last write keeps others off; 0 when another one came after it. */
  get ownLeaseLeftMs(): number {
    const own = this.#lastOwn;
    if (own === undefined || own.number !== this.head) return 0;
    return Math.max(0, own.atMs + own.leaseMs - this.clock.now());
  }

  /** True when another process wrote to the form after the write number `since`. */
  isOvertaken(formId: string, since: number): boolean {
    return this.#log !== undefined && overtaken(this.#log, since, formTag(formId), this.holder);
  }

  /**
   * Makes sure that a writer which built on the write number `since` may go on: no other process wrote to its form or
   * asks for time, and what we know of the commit log is young enough. Throws TARGET_LOST_LOCK, TARGET_BUSY.
   */
  async admit(formId: string, since: number): Promise<void> {
    if (this.#log === undefined || this.clock.now() - this.#logAtMs > COMMIT_LOG_FRESH_MS) {
      await this.refresh();
    }
    const deadline = this.clock.now() + LEASE_WAIT_MS;
    while (!this.isOvertaken(formId, since) && this.leaseLeftMs > 0) {
      if (this.clock.now() >= deadline) throw this.busy();
      await this.clock.sleep(Math.min(LEASE_POLL_MS, this.leaseLeftMs + 50));
      await this.refresh();
    }
    if (this.isOvertaken(formId, since)) {
      throw new MirrorError('TARGET_LOST_LOCK', overtakenMessage(this.address));
    }
  }

  /** Another process is writing. */
  busy(): MirrorError {
    return new MirrorError(
      'TARGET_BUSY',
      `Another process is writing to ${this.address}. One writes at a time; try again in a minute.`,
    );
  }

  /** The field catalogue of a form's tab, as far as it is in memory. */
  catalogueOf(tab: FormTab | undefined): FieldCatalogue | undefined {
    if (tab === undefined) return undefined;
    const known = this.#catalogues.get(tab.formId);
    if (known !== undefined && known.digest === tab.state.catalogue) return known.catalogue;
    const text = tab.fieldsText ?? this.#stateTab?.text(tab.formId);
    const catalogue = text === undefined ? undefined : decodeCatalogue(text);
    if (catalogue !== undefined) this.keepCatalogue(tab.formId, tab.state.catalogue, catalogue);
    return catalogue;
  }

  /** Notes a catalogue; `digest` is the one in the form's state. */
  keepCatalogue(formId: string, digest: string, catalogue: FieldCatalogue): void {
    this.#catalogues.set(formId, { digest, catalogue });
  }

  /** The state tab; read when it is not in memory. To be used inside {@link exclusively}. */
  async stateTab(): Promise<StateTab> {
    if (this.#stateTab !== undefined) return this.#stateTab;
    const tab = (await this.structure(Number.POSITIVE_INFINITY)).roles.get('state');
    const cells = tab === undefined ? [] : await readStateTab(this.api, tab.sheetId);
    this.#stateTab = new StateTab(cells);
    return this.#stateTab;
  }

  /** Takes the cells of the state tab that came along with another read. */
  keepStateTab(cells: readonly (readonly ReadValue[])[]): void {
    this.#stateTab ??= new StateTab(cells);
  }

  /** The state tab if it is in memory. */
  get knownStateTab(): StateTab | undefined {
    return this.#stateTab;
  }

  /** True when the state tab is there and has changes that wait to be written. */
  get stateTabChanged(): boolean {
    return this.#stateTab?.changed === true && this.known.roles.has('state');
  }

  /** After a failed write it is unknown which of its rows are in the sheet. */
  forgetStateTab(): void {
    this.#stateTab = undefined;
  }

  /**
   * Applies a write exactly once. A try whose fate is unclear (a timeout, a 503) is looked up in the commit log before it
   * is repeated, and the repetition takes the same number, so that the first one, should it still be on its way, can
   * never be applied as well. Throws SheetsError: `moved` when the sheet, or the log, is not as it was read.
   */
  async commit(commit: Commit): Promise<CommitAnswer> {
    const log = this.#log;
    if (log === undefined) throw new MirrorError('INTERNAL', 'A write before the first read.');
    const next = nextCommit(log, {
      nonce: this.newId(),
      holder: this.holder,
      form: formTag(commit.formId),
      atMs: this.clock.now(),
      leaseMs: commit.leaseMs,
    });
    const requests = [...next.requests, ...commit.requests];
    let unclear: unknown;
    const send = async (attempt: number): Promise<CommitAnswer> => {
      if (unclear !== undefined && (await this.#wasApplied(next.entry))) return LOST_ANSWER;
      if (attempt > COMMIT_TRIES) throw unclear;
      try {
        const answer = await this.api.update(requests, [...commit.responseRanges]);
        this.#applied(next.log, next.entry);
        return { lost: false, spreadsheet: answer.updatedSpreadsheet };
      } catch (error) {
        if (!isTaken(error)) throw (unclear = error);
        if (await this.#wasApplied(next.entry)) return LOST_ANSWER;
        throw await this.#behind();
      }
    };
    return withRetry(send, {
      policy: COMMIT_RETRY,
      clock: this.clock,
      random: this.#random,
      decide: (error) => ({ retry: error instanceof SheetsError && error.fault === 'unclear' }),
    });
  }

  /** Looks the write up in the commit log. Throws `moved` when another process wrote since. */
  async #wasApplied(entry: CommitEntry): Promise<boolean> {
    const found = await this.#lookUp();
    const isApplied = found.entries.some(({ nonce }) => nonce === entry.nonce);
    if (isApplied) this.#applied(found, entry);
    else if (headOf(found) >= entry.number) throw await this.#behind();
    return isApplied;
  }

  #applied(log: CommitLog, entry: CommitEntry): void {
    this.#log = log;
    this.#logAtMs = this.clock.now();
    this.#lastOwn = entry;
  }

  async #lookUp(): Promise<CommitLog> {
    const answer = await this.api.ownMetadata();
    return readCommitLog(metadataEntries(answer.developerMetadata));
  }

  /** Another process wrote: everything that this write was built on has to be read again. */
  async #behind(): Promise<SheetsError> {
    this.#stateTab = undefined;
    await this.refresh();
    return new SheetsError('moved', 'TARGET_BUSY', [this.busy().message, '']);
  }
}

/** The tabs with one of them as it is now, in its place; a new one comes before `place`, or last. */
const withTab = (tabs: readonly Tab[], tab: Tab, place = tabs.length): Tab[] =>
  tabs.some(({ sheetId }) => sheetId === tab.sheetId)
    ? tabs.map((one) => (one.sheetId === tab.sheetId ? tab : one))
    : tabs.toSpliced(place, 0, tab);
