import { type MirrorError, toMirrorError } from '../base/errors.ts';
import type { CallOptions } from '../forms/client.ts';
import { FormPages } from '../forms/form-pages.ts';
import type { FieldPicks } from '../mirror/picks.ts';
import { ProofLedger } from '../mirror/proof.ts';
import type { FormWriter, PrepareResult, Target } from '../mirror/target.ts';
import type {
  Checkpoint,
  Form,
  FormIdentity,
  PassKind,
  PassOutcome,
  PassRecord,
} from '../mirror/types.ts';
import type { SyncContext } from './context.ts';
import { markAbsent } from './deletions.ts';
import { dryRunWriter } from './dry-run-writer.ts';
import type { PassReport, PassSubject } from './events.ts';
import { fullScan } from './full-scan.ts';
import { incrementalScan, oldestPlausible } from './incremental-scan.ts';
import { RowSink } from './row-sink.ts';

/** Which pass to run. */
export interface PassRequest {
  readonly formId: string;
  readonly kind: PassKind;
  readonly picks: FieldPicks;
  readonly hashKey: string | undefined;
  /** Releases the brake of L8 for this pass. */
  readonly acceptDeletes?: boolean;
  /** Sheets: make columns anew that people deleted. */
  readonly restoreColumns?: boolean;
  /** Reads and compares, writes nothing. */
  readonly dryRun?: boolean;
  /** How long to wait for another pass on the same form and target. */
  readonly waitMs: number;
}

/**
 * One pass of one form into one target: scan, join, apply, checkpoint. Never throws: every failure is an outcome of the
 * report, recorded in the target where that is still possible, with `failure` for callers that decide about a retry.
 */
export async function runPass(
  context: SyncContext,
  target: Target,
  request: PassRequest,
  signal: AbortSignal,
): Promise<PassReport> {
  const pass = new Pass(context, target, request, signal);
  const report = await pass.run();
  context.events.emit('pass.ended', report);
  return report;
}

/** What a pass did, as far as it got. */
interface Result {
  outcome: PassOutcome;
  checkpoint?: Checkpoint;
  deleted: number;
  withheld: number;
  failure: MirrorError | null;
}

class Pass {
  readonly #context: SyncContext;
  readonly #target: Target;
  readonly #request: PassRequest;
  readonly #signal: AbortSignal;
  readonly #call: CallOptions;
  readonly #startedMs: number;
  #kind: PassKind;
  #form: FormIdentity;
  #requests = 0;
  #total: number | null = null;
  #sink: RowSink | undefined;
  #ledger = new ProofLedger();

  constructor(context: SyncContext, target: Target, request: PassRequest, signal: AbortSignal) {
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
      await using writer = await this.#openWriter(form);
      const result = await this.#attempt(form, writer);
      const record = this.#record(result);
      await writer.finish(record, {
        goneAt: result.outcome === 'gone' ? this.#now() : null,
        ...(result.checkpoint === undefined ? {} : { checkpoint: result.checkpoint }),
      });
      return this.#report(record, result.failure);
    } catch (error) {
      const failure = toMirrorError(error);
      return this.#report(this.#record(failed(failure)), failure);
    }
  }

  /** The form with its labels; null when it answers 404. A full pass reads them anew. */
  async #readForm(): Promise<Form | null> {
    return this.#formOrNull(this.#kind === 'full');
  }

  async #isGone(): Promise<boolean> {
    return (await this.#formOrNull(true).catch(() => undefined)) === null;
  }

  async #formOrNull(fresh: boolean): Promise<Form | null> {
    try {
      return await this.#context.labels.form(this.#request.formId, { fresh, call: this.#call });
    } catch (error) {
      if (toMirrorError(error).code === 'FORMS_NOT_FOUND') return null;
      throw error;
    }
  }

  async #openWriter(form: FormIdentity): Promise<FormWriter> {
    if (this.#request.dryRun) return dryRunWriter(await this.#target.reader(form.id));
    return this.#target.openWriter(form, { waitMs: this.#request.waitMs, signal: this.#signal });
  }

  /** The pass proper; what goes wrong from here on can still be recorded in the target. */
  async #attempt(form: Form, writer: FormWriter): Promise<Result> {
    try {
      return await this.#scan(form, writer);
    } catch (error) {
      const failure = toMirrorError(error);
      if (failure.code.startsWith('TARGET_')) throw failure;
      // A list that answers 404: has the form gone since its labels were cached?
      if (failure.code === 'FORMS_NOT_FOUND' && (await this.#isGone())) {
        return { ...NOTHING, outcome: 'gone' };
      }
      return failed(failure);
    }
  }

  async #scan(form: Form, writer: FormWriter): Promise<Result> {
    const checkpoint = await writer.checkpoint();
    this.#ledger = new ProofLedger(oldestPlausible(checkpoint));
    const sink = this.#openSink(form, writer);
    const columns = await sink.open(this.#request.restoreColumns ?? false);
    this.#tellColumns(columns);
    // A newly picked field has to be filled in for old submissions too.
    if (checkpoint === undefined || columns.added.length > 0) this.#kind = 'full';
    const parts = {
      pages: new FormPages(this.#context.client, form.id, this.#call),
      sink,
      ledger: this.#ledger,
      readAhead: this.#context.readAhead,
      signal: this.#signal,
      history: checkpoint !== undefined,
      onTotal: (total: number) => void (this.#total = total),
    };
    const proven =
      this.#kind === 'incremental' && checkpoint !== undefined
        ? await incrementalScan(parts, checkpoint)
        : await fullScan(parts);
    await sink.flush();
    if (!proven) return { ...NOTHING, outcome: 'incomplete' };
    if (this.#kind === 'incremental')
      return this.#provenResult(checkpoint, { deleted: 0, withheld: 0 });
    const found = await this.#markAbsent(form, writer, sink);
    return this.#provenResult(checkpoint, found);
  }

  #openSink(form: Form, writer: FormWriter): RowSink {
    const { picks, hashKey } = this.#request;
    this.#sink = new RowSink({
      form,
      writer,
      picks,
      hashKey,
      batchRows: this.#target.batchRows,
      labels: this.#context.labels,
      ledger: this.#ledger,
      call: this.#call,
      onBatch: () => this.#tellProgress(),
      onColumns: (columns) => this.#tellColumns(columns),
    });
    return this.#sink;
  }

  async #markAbsent(
    form: Form,
    writer: FormWriter,
    sink: RowSink,
  ): Promise<{ deleted: number; withheld: number }> {
    return markAbsent({
      formId: form.id,
      client: this.#context.client,
      writer,
      ledger: this.#ledger,
      call: this.#call,
      signal: this.#signal,
      maxDeleteFraction: this.#context.maxDeleteFraction,
      acceptDeletes: this.#request.acceptDeletes ?? false,
      at: this.#now(),
      onFound: async (items) => {
        await sink.take(items);
        await sink.flush();
      },
    });
  }

  #provenResult(
    before: Checkpoint | undefined,
    found: { deleted: number; withheld: number },
  ): Result {
    const provenAt = this.#now();
    const checkpoint: Checkpoint = {
      watermark: this.#ledger.baseNewest ?? before?.watermark ?? null,
      total: this.#ledger.accounted,
      provenAt,
      fullProvenAt: this.#kind === 'full' ? provenAt : (before?.fullProvenAt ?? null),
    };
    const outcome = found.withheld > 0 ? 'withheld' : 'ok';
    return { outcome, checkpoint, ...found, failure: null };
  }

  /** Notes in the target that the form answers 404, if it was ever mirrored there; its table stays (L8). */
  async #formIsGone(): Promise<PassReport> {
    const known = (await this.#target.overview()).find((form) => form.formId === this.#form.id);
    const record = this.#record({ ...NOTHING, outcome: 'gone' });
    if (known !== undefined && !this.#request.dryRun) {
      this.#form = { id: known.formId, slug: known.slug, name: known.name };
      await using writer = await this.#openWriter(this.#form);
      await writer.finish(record, known.goneAt === null ? { goneAt: this.#now() } : {});
    }
    return this.#report(record, null);
  }

  get #subject(): PassSubject {
    const { id, slug, name } = this.#form;
    return { form: { id, slug, name }, target: this.#target.name, kind: this.#kind };
  }

  #tellColumns(columns: PrepareResult): void {
    if (columns.added.length + columns.relabelled.length + columns.removed.length === 0) return;
    this.#context.events.emit('columns.changed', { ...this.#subject, ...columns });
  }

  #tellProgress(): void {
    const { inserted = 0, updated = 0, unchanged = 0 } = this.#sink ?? {};
    const seen = this.#ledger.distinct;
    const counts = { seen, total: this.#total ?? seen, inserted, updated, unchanged };
    this.#context.events.emit('pass.progress', { ...this.#subject, ...counts });
  }

  #record(result: Result): PassRecord {
    const { inserted = 0, updated = 0, unchanged = 0, rejected = 0 } = this.#sink ?? {};
    return {
      kind: this.#kind,
      startedAt: new Date(this.#startedMs).toISOString(),
      endedAt: this.#now(),
      outcome: result.outcome,
      requests: this.#requests,
      total: this.#total,
      distinct: this.#ledger.distinct,
      inserted,
      updated,
      unchanged,
      rejected,
      deleted: result.deleted,
      withheld: result.withheld,
      error: this.#explanation(result),
    };
  }

  /** What a person should know about an outcome that is not plain success. */
  #explanation({ outcome, withheld, failure }: Result): string | null {
    const name = `form "${this.#form.name}" (${this.#form.id})`;
    switch (outcome) {
      case 'incomplete':
        return (
          `The source reports ${this.#total ?? 'no'} submissions of ${name}, and ${this.#ledger.distinct} were seen, ` +
          'without proof that nothing was missed. What was seen is stored; the next pass takes it up.'
        );
      case 'withheld':
        return (
          `${withheld} rows of ${name} are absent from the source, more than MAX_DELETE_FRACTION allows, so none was ` +
          `marked deleted. If that is right, run: forms-mirror sync --full --accept-deletes --form ${this.#form.id}`
        );
      case 'gone':
        return `The ${name} answers 404: deleted, or the key is for another workspace. Its rows stay as they are.`;
      case 'failed':
      case 'busy':
      case 'cancelled':
        return failure?.message ?? null;
      case 'ok':
        return null;
    }
  }

  #report(record: PassRecord, failure: MirrorError | null): PassReport {
    const ms = this.#context.clock.now() - this.#startedMs;
    return { ...this.#subject, ...record, marked: 0, ms, failure };
  }

  #now(): string {
    return new Date(this.#context.clock.now()).toISOString();
  }
}

const NOTHING: Result = { outcome: 'ok', deleted: 0, withheld: 0, failure: null };

function failed(failure: MirrorError): Result {
  const outcomes: Partial<Record<MirrorError['code'], PassOutcome>> = {
    TARGET_BUSY: 'busy',
    CANCELLED: 'cancelled',
  };
  return { ...NOTHING, outcome: outcomes[failure.code] ?? 'failed', failure };
}
