import type { Clock } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import type { FormOverview } from '../mirror/target.ts';
import type { PassKind, PassRecord } from '../mirror/types.ts';
import type { PassReport, SyncEvents } from '../sync/events.ts';
import { type FormInTarget, formKey } from './facts.ts';
import { type KeptFailure, keptPasses } from './kept-failures.ts';
import {
  type KnownPass,
  NO_PASSES,
  type PassSummary,
  addLook,
  addPass,
  completeWith,
  inOrder,
  summaryOf,
  withAbsent,
} from './pass-summary.ts';

/** A pass that has not ended. */
export interface RunningPass {
  readonly kind: PassKind;
  readonly startedAtMs: number;
  /** Last sign of life. */
  readonly heardAtMs: number;
  readonly seen: number;
  readonly total: number;
  /** On another worker: known by what it tells the queue. */
  readonly isElsewhere?: boolean;
}

/** A pass that has ended. */
export interface EndedPass extends FormInTarget {
  readonly pass: PassRecord;
}

/** See {@link PassTracker}. */
export interface PassListeners {
  /** Called once for each pass of the mirror, whichever worker ran it, except for those that ended before this process looked. */
  readonly onPass: (ended: EndedPass) => void;
  /** Called when a pass of this process has ended. Not when one only makes progress: that changes nobody's health. */
  readonly onEnd: () => void;
}

/** Two readings of one pass may differ by what a target's times are rounded to. */
const SAME_PASS_MS = 1_000;

/**
 * Follows every pass of the mirror: those of this process by its events, those of other workers by what the targets
 * record. Failures that no target could record (a target that is down) are known from events alone.
 */
export class PassTracker {
  readonly #clock: Clock;
  readonly #listeners: PassListeners;
  readonly #summaries = new Map<string, PassSummary>();
  /** Targets whose own records have been read. */
  readonly #readTargets = new Set<string>();
  readonly #running = new Map<string, RunningPass>();
  /** The newest pass of each form that was first heard of from its target. */
  readonly #readFirst = new Map<string, PassRecord>();
  readonly #unsubscribe: readonly (() => void)[];

  constructor(events: Events<SyncEvents>, clock: Clock, listeners: PassListeners) {
    this.#clock = clock;
    this.#listeners = listeners;
    this.#unsubscribe = [
      events.on('pass.started', (subject) => this.#started(subject)),
      events.on('pass.progress', (progress) => this.#progress(progress)),
      events.on('pass.ended', (report) => this.#ended(report)),
    ];
  }

  summary(target: string, formId: string): PassSummary {
    return this.#summaries.get(formKey(target, formId)) ?? NO_PASSES;
  }

  running(target: string, formId: string): RunningPass | null {
    return this.#running.get(formKey(target, formId)) ?? null;
  }

  /** Of these forms those of which the target records passes that are not known yet: their history is wanted. */
  withNewPasses(target: string, forms: readonly FormOverview[]): FormOverview[] {
    if (!this.#readTargets.has(target)) return [];
    return forms.filter(
      ({ formId, lastPass }) => lastPass !== null && this.#isNew(target, formId, lastPass),
    );
  }

  /**
   * Takes over what a target records of its forms: the notable passes, and the history (any order) of those
   * {@link withNewPasses}, and the failures that it could not record. What a target records when first read was before this process, and `onPass` is not called.
   */
  addRecorded(
    target: string,
    forms: readonly FormOverview[],
    histories: ReadonlyMap<string, readonly PassRecord[]> = new Map(),
    kept: readonly KeptFailure[] = [],
  ): void {
    const isFirst = !this.#readTargets.has(target);
    this.#readTargets.add(target);
    const nowMs = this.#clock.now();
    for (const form of forms) {
      const { formId: id, slug, name, lastPass, lastOk, lastFull } = form;
      const failed = keptPasses(kept, target, id);
      const known = [...failed, ...(histories.get(id) ?? []), lastOk, lastFull, lastPass];
      if (isFirst) this.#begin(formKey(target, id), summaryOf(known, nowMs));
      else this.#addNew({ form: { id, slug, name }, target }, inOrder(known, nowMs));
    }
    const held = new Set(forms.map(({ formId }) => formId));
    for (const { form } of kept.filter((one) => one.target === target && !held.has(one.form.id))) {
      const failed = keptPasses(kept, target, form.id);
      if (isFirst) this.#begin(formKey(target, form.id), summaryOf(failed, nowMs));
      else this.#addNew({ form, target }, inOrder(failed, nowMs));
    }
  }

  /** Ends the subscriptions. */
  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #isNew(target: string, formId: string, pass: PassRecord): boolean {
    const { notedUntilMs } = this.summary(target, formId);
    return Date.parse(pass.endedAt) > notedUntilMs + SAME_PASS_MS;
  }

  #begin(key: string, stored: PassSummary): void {
    this.#summaries.set(key, completeWith(this.#summaries.get(key) ?? NO_PASSES, stored));
  }

  #addNew(subject: FormInTarget, passes: readonly PassRecord[]): void {
    for (const pass of passes) {
      if (!this.#isNew(subject.target, subject.form.id, pass)) continue;
      this.#readFirst.set(formKey(subject.target, subject.form.id), pass);
      this.#add(subject, pass);
    }
  }

  #started(subject: FormInTarget & { kind: PassKind }): void {
    // A second one will find the form locked; the first one's progress is worth more.
    if (this.running(subject.target, subject.form.id) !== null) return;
    this.#progress({ ...subject, seen: 0, total: 0 });
  }

  #progress(event: FormInTarget & { kind: PassKind; seen: number; total: number }): void {
    const key = formKey(event.target, event.form.id);
    const { kind, seen, total } = event;
    const now = this.#clock.now();
    const startedAtMs = this.#running.get(key)?.startedAtMs ?? now;
    this.#running.set(key, { kind, seen, total, startedAtMs, heardAtMs: now });
  }

  #ended(report: PassReport): void {
    const { form, target } = report;
    const running = this.running(target, form.id);
    const isOther = report.outcome === 'busy' && running !== null && running.seen > 0;
    if (report.byLook === true) {
      const key = formKey(target, form.id);
      const atMs = Date.parse(report.startedAt);
      const isCounted = report.isUncounted !== true;
      const withheld = report.outcome === 'withheld' ? recordOf(report) : null;
      const summary = addLook(this.summary(target, form.id), atMs, isCounted, withheld);
      this.#summaries.set(key, summary);
      this.#listeners.onEnd();
      return;
    }
    if (!isOther) this.#running.delete(formKey(target, form.id));
    this.#addOwn({ form, target }, recordOf(report), report.absent);
    this.#listeners.onEnd();
  }

  /** A target may have been read between the moment when it recorded the pass and the one when the pass tells of its end. */
  #addOwn(subject: FormInTarget, pass: PassRecord, absent?: number): void {
    const key = formKey(subject.target, subject.form.id);
    const read = this.#readFirst.get(key);
    const summary = this.summary(subject.target, subject.form.id);
    if (read === undefined || !isSame(read, pass)) this.#add(subject, pass, absent);
    else this.#summaries.set(key, withAbsent(summary, pass, absent));
  }

  #add({ form, target }: FormInTarget, pass: PassRecord, absent?: number): void {
    const key = formKey(target, form.id);
    const known: KnownPass = absent === undefined ? pass : { ...pass, absent };
    this.#summaries.set(key, addPass(this.#summaries.get(key) ?? NO_PASSES, known));
    this.#listeners.onPass({ form, target, pass });
  }
}

const isSame = (one: PassRecord, other: PassRecord): boolean =>
  one.kind === other.kind &&
  one.outcome === other.outcome &&
  isNear(one.startedAt, other.startedAt) &&
  isNear(one.endedAt, other.endedAt);

const isNear = (one: string, other: string): boolean =>
  Math.abs(Date.parse(one) - Date.parse(other)) <= SAME_PASS_MS;

/** Only what a record has: a report carries an error object besides. */
function recordOf(report: PassReport): PassRecord {
  const { kind, startedAt, endedAt, outcome, requests, total, distinct } = report;
  const { inserted, updated, unchanged, deleted, rejected, withheld, code, error } = report;
  const counts = { inserted, updated, unchanged, deleted, rejected, withheld };
  const read = { requests, total, distinct };
  return { kind, startedAt, endedAt, outcome, ...read, ...counts, code, error };
}
