import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Clock } from '../../base/clock.ts';
import { MirrorError } from '../../base/errors.ts';
import { browserAddress } from './address.ts';
import {
  COMMIT_LOG_FRESH_MS,
  type CommitEntry,
  type CommitLog,
  formTag,
  headOf,
  leaseLeftMs,
  nextCommit,
  overtaken,
  readCommitLog,
} from './commit-log.ts';
import { decodeCatalogue, type FieldCatalogue } from './field-catalogue.ts';
import type { FormState } from './form-state.ts';
import { Ledger } from './ledger.ts';
import { metadataEntries } from './sheet-metadata.ts';
import type { SheetsApi } from './sheets-api.ts';
import { overtakenMessage, SheetsError } from './sheets-error.ts';
import { type FormTab, readStructure, type Structure } from './structure.ts';
import { readLedger } from './tab-reading.ts';

type Request = sheets_v4.Schema$Request;

/** How often another process's lease is looked at while waiting for its end. */
const LEASE_POLL_MS = 5_000;
/** Tries of one write whose fate was unclear. */
const COMMIT_TRIES = 5;
/** How long a writer in the middle of a pass waits for another process to finish with another form. */
const PATIENCE_MS = 180_000;

/** One atomic write to the spreadsheet. */
export interface Commit {
  readonly formId: string;
  readonly requests: readonly Request[];
  /** A1 ranges to be answered with how they are after the write. */
  readonly responseRanges: readonly string[];
  /** How long other processes should keep off afterwards. */
  readonly leaseMs: number;
}

/** What a write answered. `lost`: it is applied, but its answer never came. */
export interface CommitAnswer {
  readonly lost: boolean;
  readonly spreadsheet: sheets_v4.Schema$Spreadsheet | undefined;
}

/**
 * One spreadsheet as one process works on it, shared by all of its targets: what was last read of its structure, the
 * commit log, who writes to which form, and the ledger. All writes go through {@link commit}.
 */
export class Spreadsheet {
  readonly api: SheetsApi;
  readonly clock: Clock;
  /** Names this process in the commit log. */
  readonly holder: string;
  readonly address: string;
  /** States of passes that told nothing new and wait for the next write, by form ID. */
  readonly pending = new Map<string, FormState>();
  readonly #random: () => number;
  readonly #writers = new Set<string>();
  readonly #catalogues = new Map<string, { digest: string; catalogue: FieldCatalogue }>();
  #structure: Structure | undefined;
  #structureAtMs = 0;
  #log: CommitLog | undefined;
  #logAtMs = 0;
  #lastOwn: CommitEntry | undefined;
  #ledger: Ledger | undefined;
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
    return Math.floor(this.#random() * 36 ** 7)
      .toString(36)
      .padStart(7, '0');
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
    if (this.#log !== undefined && headOf(structure.commits) !== headOf(this.#log))
      this.#ledger = undefined;
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
      throw new MirrorError('INTERNAL', 'A look before the first read.');
    return this.#structure;
  }

  /** Notes what a write of ours made of the structure. */
  amend(change: (structure: Structure) => Structure): void {
    if (this.#structure !== undefined) this.#structure = change(this.#structure);
  }

  /** The number of the newest write that we know of. */
  get head(): number {
    return this.#log === undefined ? 0 : headOf(this.#log);
  }

  /** Milliseconds for which another process wants us to keep off, as last read. */
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
   * Makes sure that a writer which built on the write number `since` may go on: nobody else wrote to its form, nobody asks
   * us to keep off, and what we know of the commit log is young enough. Throws TARGET_LOST_LOCK, TARGET_BUSY.
   */
  async admit(formId: string, since: number): Promise<void> {
    if (this.#log === undefined || this.clock.now() - this.#logAtMs > COMMIT_LOG_FRESH_MS) {
      await this.refresh();
    }
    const deadline = this.clock.now() + PATIENCE_MS;
    while (!this.isOvertaken(formId, since) && this.leaseLeftMs > 0) {
      if (this.clock.now() >= deadline) throw this.busy();
      await this.clock.sleep(Math.min(LEASE_POLL_MS, this.leaseLeftMs + 50));
      await this.refresh();
    }
    if (this.isOvertaken(formId, since)) {
      throw new MirrorError('TARGET_LOST_LOCK', overtakenMessage(this.address));
    }
  }

  /** For somebody who has to wait. */
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
    const text = tab.fieldsText ?? this.#ledger?.text(tab.formId);
    const catalogue = text === undefined ? undefined : decodeCatalogue(text);
    if (catalogue !== undefined) this.keepCatalogue(tab.formId, tab.state.catalogue, catalogue);
    return catalogue;
  }

  /** Notes a catalogue; `digest` is the one in the form's state. */
  keepCatalogue(formId: string, digest: string, catalogue: FieldCatalogue): void {
    this.#catalogues.set(formId, { digest, catalogue });
  }

  /** The ledger; read when it is not in memory. Belongs to whoever runs {@link exclusively}. */
  async ledger(): Promise<Ledger> {
    if (this.#ledger !== undefined) return this.#ledger;
    const tab = (await this.structure(Number.POSITIVE_INFINITY)).roles.get('ledger');
    const cells = tab === undefined ? [] : await readLedger(this.api, tab.sheetId);
    this.#ledger = new Ledger(cells);
    return this.#ledger;
  }

  /** The ledger if it is in memory. */
  get knownLedger(): Ledger | undefined {
    return this.#ledger;
  }

  /** Takes a ledger that came with another read. */
  keepLedger(ledger: Ledger): void {
    this.#ledger ??= ledger;
  }

  /** After a failed write nobody knows which of its rows are in the sheet. */
  forgetLedger(): void {
    this.#ledger = undefined;
  }

  /**
   * Applies a write exactly once. A try whose fate is unclear (a timeout, a 503) is looked up in the commit log before it
   * is repeated, and the repetition takes the same number, so that the first one, should it still be on its way, can
   * never be applied as well. Throws SheetsError: `moved` when the sheet, or the log, is not as it was read.
   */
  async commit(commit: Commit): Promise<CommitAnswer> {
    const log = this.#log;
    if (log === undefined) throw new MirrorError('INTERNAL', 'A write before the first read.');
    const nonce = this.newId();
    const next = nextCommit(log, {
      nonce,
      holder: this.holder,
      form: formTag(commit.formId),
      atMs: this.clock.now(),
      leaseMs: commit.leaseMs,
    });
    const requests = [...next.requests, ...commit.requests];
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.api.update(requests, [...commit.responseRanges]);
        this.#applied(next.log, next.entry);
        return { lost: false, spreadsheet: answer.updatedSpreadsheet };
      } catch (error) {
        if (!(error instanceof SheetsError)) throw error;
        if (error.fault !== 'unclear' && error.fault !== 'taken') throw error;
        if (error.fault === 'unclear') await this.api.pause(attempt);
        const found = await this.#lookUp();
        if (found.entries.some((entry) => entry.nonce === nonce)) {
          this.#applied(found, next.entry);
          return { lost: true, spreadsheet: undefined };
        }
        if (error.fault === 'taken' || headOf(found) >= next.entry.number)
          throw await this.#behind();
        if (attempt >= COMMIT_TRIES) throw error;
      }
    }
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
    this.#ledger = undefined;
    await this.refresh();
    return new SheetsError('moved', 'TARGET_BUSY', [this.busy().message, '']);
  }
}
