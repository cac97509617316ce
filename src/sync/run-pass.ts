import { randomUUID } from 'node:crypto';
import { toMirrorError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { withLogFields } from '../base/logger.ts';
import type { CallOptions } from '../forms/client.ts';
import { FormPages } from '../forms/form-pages.ts';
import { type Loss, lossSentence } from '../mirror/losses.ts';
import type { FieldPicks } from '../mirror/picks.ts';
import { ProofLedger } from '../mirror/proof.ts';
import { outdatedRows, provenFor } from '../mirror/proven-for.ts';
import type { TargetNotice } from '../mirror/notices.ts';
import type { FormWriter, PrepareResult, Target } from '../mirror/target.ts';
import type { Checkpoint, Form, FormIdentity, PassKind, PassRecord } from '../mirror/types.ts';
import type { SyncContext } from './context.ts';
import { markAbsent } from './deletions.ts';
import { dryRunWriter } from './dry-run-writer.ts';
import type { PassReport, PassSubject } from './events.ts';
import { fullScan, type ScanParts } from './full-scan.ts';
import { hashDeletedRows, type HashParts, hashUnmetRows } from './hash-unseen-rows.ts';
import { type IncrementalProof, incrementalScan, oldestPlausible } from './incremental-scan.ts';
import { deletionsReason, hiddenReason, mayReadInFull } from './known-deletions.ts';
import {
  codeOf,
  failed,
  KEEPS_RECORDS,
  messageOf,
  NOTHING,
  type PassResult,
} from './pass-result.ts';
import { fullResult, hiddenResult, incrementalResult, type Proven } from './pass-checkpoint.ts';
import { RowSink } from './row-sink.ts';

/** Which pass to run. */
export interface PassRequest {
  readonly formId: string;
  readonly kind: PassKind;
  readonly picks: FieldPicks;
  readonly hashKey: string | undefined;
  /** Throws while nothing of the form may be stored; asked with the form as the pass is going to store it. */
  readonly requireHashes?: (form: Form, signal: AbortSignal) => Promise<void>;
  /** Releases the brake of L8 for this pass. */
  readonly acceptDeletes?: boolean;
  /** Sheets: recreate columns that people deleted. */
  readonly restoreColumns?: boolean;
  /** Reads and compares, writes nothing. */
  readonly dryRun?: boolean;
  /** How long to wait for another pass on the same form and target. */
  readonly waitMs: number;
}

/**
 * One pass of one form into one target: scan, join, apply, checkpoint. Never throws: every failure is an outcome of the
 * report, recorded in the target where that is still possible, with `failure` for callers that decide whether to retry.
 */
export async function runPass(
  context: SyncContext,
  target: Target,
  request: PassRequest,
  signal: AbortSignal,
  newLedger: NewLedger = (oldest) => new ProofLedger(oldest),
): Promise<PassReport> {
  const passId = randomUUID();
  return withLogFields({ passId }, async () => {
    const pass = new Pass(context, target, request, signal, passId, newLedger);
    const report = await pass.run();
    context.events.emit('pass.ended', report);
    return report;
  });
}

/** Makes the ledger of a pass, which says when it is proven; tests try a weaker one, to see that they notice. */
type NewLedger = (oldestPlausible: string | null) => ProofLedger;

class Pass {
  readonly #context: SyncContext;
  readonly #target: Target;
  readonly #request: PassRequest;
  readonly #signal: AbortSignal;
  readonly #passId: string;
  readonly #call: CallOptions;
  readonly #startedMs: number;
  #kind: PassKind;
  #form: FormIdentity;
  #requests = 0;
  #total: number | null = null;
  #reason: string | null = null;
  #notices: readonly TargetNotice[] = [];
  #sink: RowSink | undefined;
  #isHeld = false;
  readonly #newLedger: NewLedger;
  #ledger = new ProofLedger();

  constructor(
    context: SyncContext,
    target: Target,
    request: PassRequest,
    signal: AbortSignal,
    passId: string,
    newLedger: NewLedger,
  ) {
    this.#passId = passId;
    this.#newLedger = newLedger;
    this.#context = context;
    this.#target = target;
    this.#request = request;
    this.#signal = signal;
    this.#call = { signal, onAttempt: () => this.#requests++ };
    this.#startedMs = context.clock.now();
    this.#kind = request.kind;
    this.#form = { id: request.formId, slug: request.formId, name: request.formId };
  }

  async run(): Promise<PassReport> {
    try {
      const form = await this.#readForm();
      if (form === null) return await this.#formIsGone();
      this.#form = form;
      this.#context.events.emit('pass.started', this.#subject);
      await this.#request.requireHashes?.(form, this.#signal);
      await using writer = await this.#openWriter(form);
      const result = await this.#attempt(form, writer);
      const record = this.#record(result);
      try {
        await writer.finish(record, {
          goneAt: result.outcome === 'gone' ? this.#now() : null,
          ...(result.checkpoint === undefined ? {} : { checkpoint: result.checkpoint }),
        });
      } catch (error) {
        // That a target which refuses rows refuses the record, too, is no second failure.
        if (result.failure?.code.startsWith('TARGET_') !== true) throw error;
      }
      return this.#report(record, result);
    } catch (error) {
      const result = failed(toMirrorError(error));
      return this.#report(this.#record(result), result);
    }
  }

  /** The form with its labels; null when it answers 404. A full pass reads them again. */
  #readForm(fresh = this.#kind === 'full'): Promise<Form | null> {
    return this.#context.labels.formOrNull(this.#request.formId, { fresh, call: this.#call });
  }

  async #isGone(): Promise<boolean> {
    return (await this.#readForm(true).catch(() => undefined)) === null;
  }

  async #openWriter(form: FormIdentity): Promise<FormWriter> {
    if (this.#request.dryRun) return dryRunWriter(await this.#target.reader(form.id));
    return this.#target.openWriter(form, { waitMs: this.#request.waitMs, signal: this.#signal });
  }

  /** The pass itself: a failure from here on can still be recorded in the target. */
  async #attempt(form: Form, writer: FormWriter): Promise<PassResult> {
    try {
      return await this.#scan(form, writer);
    } catch (error) {
      const failure = toMirrorError(error);
      if (failure.code.startsWith('TARGET_') && !KEEPS_RECORDS.has(failure.code)) throw failure;
      // A list that answers 404: has the form gone since its labels were cached?
      if (failure.code === 'FORMS_NOT_FOUND' && (await this.#isGone())) {
        return { ...NOTHING, outcome: 'gone' };
      }
      return failed(failure);
    }
  }

  async #scan(form: Form, writer: FormWriter): Promise<PassResult> {
    const sink = this.#openSink(form, writer);
    // Columns that are to be filled take the checkpoint away; what it said tells why.
    const stored = await writer.checkpoint();
    const columns = await sink.open(this.#request.restoreColumns ?? false);
    this.#emitColumns(columns);
    this.#isHeld = sink.wasKnown;
    // A checkpoint speaks of rows: it is read once the table is as it should be, and believed if nothing is lost.
    const lost = await writer.losses();
    const checkpoint = await writer.checkpoint();
    const newColumns = sink.wasKnown ? columns.added.length : 0;
    const { fields } = sink;
    // A full pass writes everything anyway.
    const isFull = this.#kind === 'full' || stored === undefined;
    const outdated = isFull
      ? []
      : outdatedRows(stored.provenFor, form, this.#request, { fields, newColumns });
    const losses = [...lost, ...outdated];
    this.#ledger = this.#newLedger(oldestPlausible(checkpoint));
    this.#chooseKind(checkpoint, newColumns, losses);
    if (this.#kind === 'full') await hashDeletedRows(this.#hashParts(writer, sink));
    const parts = {
      pages: new FormPages(this.#context.client, form.id, this.#call),
      sink,
      ledger: this.#ledger,
      readAhead: this.#context.readAhead,
      signal: this.#signal,
      history: checkpoint !== undefined,
      onTotal: (total: number) => void (this.#total = total),
    };
    const before = this.#kind === 'incremental' ? checkpoint : undefined;
    const proof = before === undefined ? null : await incrementalScan(parts, before);
    if (before !== undefined && proof !== null) await this.#followDeletions(proof, before, writer);
    const isRead = this.#kind === 'incremental' || proof?.whole === true;
    const proven = before !== undefined && isRead ? proof !== null : await fullScan(parts);
    await sink.flush();
    if (this.#kind === 'full')
      await hashUnmetRows(this.#hashParts(writer, sink), (id) => this.#ledger.has(id));
    this.#notices = await writer.notices();
    if (!proven) return { ...NOTHING, outcome: 'incomplete' };
    if (this.#kind === 'incremental' && before !== undefined && proof !== null)
      return incrementalResult(this.#proven(), before, proof);
    const { stands, ...found } = await this.#markAbsent(form, writer, parts);
    if (!stands) return hiddenResult(this.#ledger, checkpoint, found);
    return fullResult(this.#proven(), checkpoint, found);
  }

  /**
   * Counts tell that submissions were deleted, not which. An incremental pass that knows of some becomes a full one, if it
   * has read everything anyway or may do so now; otherwise they are remembered for the next full pass.
   */
  async #followDeletions(
    { whole, gone, pages }: IncrementalProof,
    before: Checkpoint,
    writer: FormWriter,
  ): Promise<void> {
    // What the brake withheld is a person's to decide: it is no reason to look again until the list changes.
    if (before.absent === 0 && before.hidden === 0 && gone === 0) return;
    const now = this.#context.clock.now();
    if (!whole && !(await mayReadInFull(writer, before, pages, now))) return;
    const known = before.absent + gone;
    this.#widen(known > 0 ? deletionsReason(known) : hiddenReason(before));
  }

  /** An incremental pass trusts that what a pass before it stored is there, in every column. */
  #chooseKind(
    checkpoint: Checkpoint | undefined,
    newColumns: number,
    losses: readonly Loss[],
  ): void {
    const lost = lossSentence(losses);
    if (lost !== null) this.#widen(`${lost}; everything is read again.`, losses);
    else if (newColumns > 0 && this.#kind === 'incremental') {
      this.#widen(
        `${plural(newColumns, 'column')} of new fields ${newColumns === 1 ? 'is' : 'are'} to be filled; everything is read again.`,
      );
    } else if (checkpoint === undefined) this.#widen(null);
  }

  /** Makes it a full pass; `reason` for people, null where there is nothing to explain. */
  #widen(reason: string | null, losses: readonly Loss[] = []): void {
    this.#kind = 'full';
    this.#reason = reason;
    if (reason === null) return;
    this.#context.events.emit('pass.widened', { ...this.#subject, reason, losses });
  }

  #openSink(form: Form, writer: FormWriter): RowSink {
    const { picks, hashKey } = this.#request;
    const ledger = (): ProofLedger => this.#ledger;
    this.#sink = new RowSink({
      form,
      writer,
      picks,
      hashKey,
      batchRows: this.#target.batchRows,
      labels: this.#context.labels,
      // The ledger of this pass is made when its columns are there, before the first item.
      get ledger() {
        return ledger();
      },
      call: this.#call,
      onBatch: () => this.#emitProgress(),
      onColumns: (columns) => this.#emitColumns(columns),
    });
    return this.#sink;
  }

  #hashParts(writer: FormWriter, { fields }: RowSink): HashParts {
    const { batchRows } = this.#target;
    return { writer, fields, hashKey: this.#request.hashKey, batchRows };
  }

  #markAbsent(
    form: Form,
    writer: FormWriter,
    parts: ScanParts & { readonly sink: RowSink },
  ): ReturnType<typeof markAbsent> {
    return markAbsent({
      formId: form.id,
      client: this.#context.client,
      writer,
      ledger: parts.ledger,
      readAgain: () => fullScan(parts),
      call: this.#call,
      signal: this.#signal,
      maxDeleteFraction: this.#context.maxDeleteFraction,
      acceptDeletes: this.#request.acceptDeletes ?? false,
      at: this.#now(),
      onFound: (items) => parts.sink.store(items),
      onUndecided: (listings) => parts.sink.list(listings),
    });
  }

  #proven(): Proven {
    const stored = provenFor(this.#form, this.#request, this.#sink?.fields ?? []);
    return { ledger: this.#ledger, at: this.#now(), provenFor: stored };
  }

  /** Records in the target that the form answers 404, if it was ever mirrored there; its table stays (L8). */
  async #formIsGone(): Promise<PassReport> {
    const known = (await this.#target.heldForms()).find(({ id }) => id === this.#form.id);
    const result: PassResult = { ...NOTHING, outcome: 'gone' };
    this.#isHeld = known !== undefined;
    const record = this.#record(result);
    if (known !== undefined && !this.#request.dryRun) {
      this.#form = { id: known.id, slug: known.slug, name: known.name };
      await using writer = await this.#openWriter(this.#form);
      await writer.finish(record, known.goneAt === null ? { goneAt: this.#now() } : {});
    }
    return this.#report(record, result);
  }

  get #subject(): PassSubject {
    const { id, slug, name } = this.#form;
    const form = { id, slug, name };
    return { form, target: this.#target.name, kind: this.#kind, passId: this.#passId };
  }

  #emitColumns(columns: PrepareResult): void {
    if (columns.added.length + columns.relabelled.length + columns.removed.length === 0) return;
    this.#context.events.emit('columns.changed', { ...this.#subject, ...columns });
  }

  #emitProgress(): void {
    const { inserted = 0, updated = 0, unchanged = 0 } = this.#sink ?? {};
    const seen = this.#ledger.distinct;
    const counts = { seen, total: this.#total ?? seen, inserted, updated, unchanged };
    this.#context.events.emit('pass.progress', { ...this.#subject, ...counts });
  }

  #record(result: PassResult): PassRecord {
    const { inserted = 0, updated = 0, unchanged = 0, rejected = 0 } = this.#sink ?? {};
    const { distinct, unclearDoubles, unclearEnd } = this.#ledger;
    const subject = { kind: this.#kind, form: this.#form, isHeld: this.#isHeld };
    const facts = { ...subject, total: this.#total, distinct, unclearDoubles, unclearEnd };
    return {
      kind: this.#kind,
      startedAt: new Date(this.#startedMs).toISOString(),
      endedAt: this.#now(),
      outcome: result.outcome,
      requests: this.#requests,
      total: this.#total,
      distinct,
      inserted,
      updated,
      unchanged,
      rejected,
      deleted: result.deleted,
      withheld: result.withheld,
      code: codeOf(result),
      error: messageOf(result, facts),
    };
  }

  #report(record: PassRecord, { failure, undecided, checkpoint }: PassResult): PassReport {
    const ms = this.#context.clock.now() - this.#startedMs;
    const { doubles } = this.#ledger;
    const absent = checkpoint?.absent ?? 0;
    const counts = { absent, undecided, doubles, marked: 0 };
    const found = { reason: this.#reason, notices: this.#notices, ...counts };
    return { ...this.#subject, ...record, ...found, ms, failure };
  }

  #now(): string {
    return new Date(this.#context.clock.now()).toISOString();
  }
}
