import { plural } from '../base/format.ts';
import type { CallOptions } from '../forms/client.ts';
import { FormPages } from '../forms/form-pages.ts';
import { type Loss, lossSentence } from '../mirror/losses.ts';
import { ProofLedger } from '../mirror/proof.ts';
import { provenFor } from '../mirror/proven-for.ts';
import type { TargetNotice } from '../mirror/notices.ts';
import type { FormWindow } from '../mirror/window.ts';
import type { FormWriter, PrepareResult, Target, RowWriter } from '../mirror/target.ts';
import type { Checkpoint, Form, FormIdentity, PassKind } from '../mirror/types.ts';
import type { SyncContext } from './context.ts';
import type { PassSubject } from './events.ts';
import type { ScanParts } from './full-scan.ts';
import type { Proven } from './pass-checkpoint.ts';
import type { PassRequest } from './pass-request.ts';
import { PauseWatch } from './pause-watch.ts';
import { RowSink } from './row-sink.ts';

/** Makes the ledger of a pass, which says when it is proven; tests try a weaker one, to see that they notice. */
export type NewLedger = (oldestPlausible: string | null) => ProofLedger;

/** How a pass asks the source. */
export type StoppableCall = CallOptions & { readonly signal: AbortSignal };

/** What a pass is given. */
export interface PassSetup {
  readonly context: SyncContext;
  readonly target: Target;
  readonly request: PassRequest;
  readonly signal: AbortSignal;
  /** Unique to the pass, over all processes. */
  readonly passId: string;
  readonly newLedger: NewLedger;
}

/** A form that a pass holds for writing, with what the pass writes through. */
export interface OpenForm {
  readonly form: Form;
  readonly writer: FormWriter;
  readonly sink: RowSink;
}

/** What a list has shown: submissions, and further entries of them. */
interface Seen {
  readonly distinct: number;
  readonly doubles: number;
}

const plus = (a: Seen, b: Seen): Seen => ({
  distinct: a.distinct + b.distinct,
  doubles: a.doubles + b.doubles,
});

/** One pass while it runs: what it was given, and what it has learned. What it reads is in incremental-pass.ts and full-pass.ts. */
export class PassRun {
  readonly setup: PassSetup;
  /** For every request of the pass. */
  readonly call: StoppableCall;
  readonly startedMs: number;
  /** When it began to read (ISO), which it may have waited for: what it proves was so then, and need not be at its end. */
  since: string;
  /** Requests so far, retries included. */
  requests = 0;
  /** `total` as the source last reported it. */
  total: number | null = null;
  form: FormIdentity;
  /** The target had the form before this pass. */
  isHeld = false;
  /** The target held nothing of the form, not even a pass. */
  wasEmpty = false;
  notices: readonly TargetNotice[] = [];
  #kind: PassKind;
  #reason: string | null = null;
  #sink: RowSink | undefined;
  #ledger = new ProofLedger();
  /** Of the windows before, by their lower bounds: what a window showed in the reading that showed most. */
  #before = new Map<string | null, Seen>();
  /** The window that is read now; undefined: the form as one list. */
  #window: FormWindow | undefined;
  /** What the target had lost when the pass began. */
  lost: readonly Loss[] = [];
  /** Submissions in windows that a pass which was cut off has proven, and this one does not read. */
  takenOver = 0;
  readonly #pauses: PauseWatch;

  constructor(setup: PassSetup) {
    const { request, signal, context } = setup;
    this.setup = setup;
    this.call = { signal, onAttempt: () => this.requests++ };
    this.startedMs = context.clock.now();
    this.#pauses = new PauseWatch(setup.target, context.clock, this.startedMs);
    this.since = this.now();
    this.#kind = request.kind;
    this.form = { id: request.formId, slug: request.formId, name: request.formId };
  }

  /** What it is by now: an incremental pass may have become a full one. */
  get kind(): PassKind {
    return this.#kind;
  }

  /** Why it reads everything though it was not asked to, or what it did not read itself; null otherwise. */
  get reason(): string | null {
    return this.#reason;
  }

  get ledger(): ProofLedger {
    return this.#ledger;
  }

  /** Distinct submissions that it has seen, in all windows. */
  get distinct(): number {
    return this.#seen.distinct;
  }

  /** Entries of the list that repeat a submission, as far as it can tell. */
  get doubles(): number {
    return this.#seen.doubles;
  }

  get #seen(): Seen {
    const windows = new Map(this.#before);
    if (this.#window !== undefined) windows.delete(this.#window.from);
    return [...windows.values()].reduce(plus, this.#seenHere);
  }

  /** Of the window that is read now, or of the list. */
  get #seenHere(): Seen {
    const { distinct, doubles } = this.#ledger;
    const before = this.#window && this.#before.get(this.#window.from);
    if (before === undefined) return { distinct, doubles };
    return {
      distinct: Math.max(before.distinct, distinct),
      doubles: Math.max(before.doubles, doubles),
    };
  }

  /** What it wrote, by outcome. */
  get written(): Pick<RowSink, 'inserted' | 'updated' | 'unchanged' | 'rejected'> {
    const { inserted = 0, updated = 0, unchanged = 0, rejected = 0 } = this.#sink ?? {};
    return { inserted, updated, unchanged, rejected };
  }

  get subject(): PassSubject {
    const { id, slug, name } = this.form;
    const { target, passId } = this.setup;
    return { form: { id, slug, name }, target: target.name, kind: this.#kind, passId };
  }

  /** The present time (ISO). */
  now(): string {
    return new Date(this.setup.context.clock.now()).toISOString();
  }

  /** The form with its labels; null when it answers 404. A full pass reads them again. */
  readForm(fresh = this.#kind === 'full'): Promise<Form | null> {
    const { context, request } = this.setup;
    return context.labels.formOrNull(request.formId, { fresh, call: this.call });
  }

  /** What the pass writes through; its ledger is made by {@link beginLedger}, before the first item. */
  openSink(form: Form, writer: RowWriter): RowSink {
    const { context, request, target } = this.setup;
    const ledger = (): ProofLedger => this.#ledger;
    this.#sink = new RowSink({
      form,
      writer,
      picks: request.picks,
      hashKey: request.hashKey,
      batchRows: target.batchRows,
      labels: context.labels,
      get ledger() {
        return ledger();
      },
      call: this.call,
      beforeBatch: () => this.refusePaused(),
      onBatch: () => this.tellProgress(),
      onColumns: (columns) => this.emitColumns(columns),
    });
    return this.#sink;
  }

  /** Throws PAUSED where people have the form left alone since the pass began; asks now and then. */
  async refusePaused(): Promise<void> {
    // A dry run only reads.
    if (this.setup.request.dryRun !== true) await this.#pauses.check(this.form);
  }

  /** What is counted begins anew, and nothing is read before. `oldestPlausible`: see {@link ProofLedger}. */
  beginLedger(oldestPlausible: string | null): void {
    this.since = this.now();
    [this.#before, this.#window] = [new Map(), undefined];
    this.takenOver = 0;
    this.#ledger = this.setup.newLedger(oldestPlausible);
  }

  /** The ledger of a window, which shows again what the list of the form, or an earlier reading of it, has shown. */
  beginWindow(oldestPlausible: string | null, window: FormWindow): ProofLedger {
    if (this.#window !== undefined) this.#before.set(this.#window.from, this.#seenHere);
    this.#window = window;
    this.#ledger = this.setup.newLedger(oldestPlausible);
    return this.#ledger;
  }

  /** A pass that is no full one trusts that what a pass before it stored is there, in every column. */
  chooseKind(
    checkpoint: Checkpoint | undefined,
    newColumns: number,
    losses: readonly Loss[],
  ): void {
    const lost = lossSentence(losses);
    if (lost !== null) this.widen(`${lost}; everything is read again.`, losses);
    else if (newColumns > 0 && this.#kind !== 'full') {
      this.widen(
        `${plural(newColumns, 'column')} of new fields ${newColumns === 1 ? 'is' : 'are'} to be filled; everything is read again.`,
      );
    } else if (checkpoint === undefined) this.widen(null);
  }

  /** Makes it a full pass; `reason` for people, null where there is nothing to explain. */
  widen(reason: string | null, losses: readonly Loss[] = []): void {
    this.#kind = 'full';
    this.#reason = reason;
    if (reason === null) return;
    this.setup.context.events.emit('pass.widened', { ...this.subject, reason, losses });
  }

  /** Adds a sentence to its reason. */
  explain(sentence: string): void {
    this.#reason = this.#reason === null ? sentence : `${this.#reason} ${sentence}`;
  }

  /** What a scan works with. `history`: a pass before this one has stored the form. */
  scanParts({ form, sink }: Pick<OpenForm, 'form' | 'sink'>, history: boolean): ScanParts {
    const { context, signal } = this.setup;
    return {
      pages: new FormPages(context.client, form.id, this.call),
      sink,
      ledger: this.#ledger,
      readAhead: context.readAhead,
      signal,
      history,
      onTotal: (total) => void (this.total = total),
    };
  }

  /** What the checkpoint of this pass, being proven, is made of. */
  proven(): Proven {
    const stored = provenFor(this.form, this.setup.request, this.#sink?.fields ?? []);
    return { ledger: this.#ledger, since: this.since, provenFor: stored };
  }

  emitColumns(columns: PrepareResult): void {
    if (columns.added.length + columns.relabelled.length + columns.removed.length === 0) return;
    this.setup.context.events.emit('columns.changed', { ...this.subject, ...columns });
  }

  /** Tells how far it has come. */
  tellProgress(): void {
    const { inserted, updated, unchanged } = this.written;
    const seen = this.#seen.distinct + this.takenOver;
    const counts = { seen, total: this.total ?? seen, inserted, updated, unchanged };
    this.setup.context.events.emit('pass.progress', { ...this.subject, ...counts });
  }
}
