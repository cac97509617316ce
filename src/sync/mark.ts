import { throwIfAborted } from '../base/clock.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { REFUSAL_LASTS_MS } from '../mirror/mark-rules.ts';
import { saysTheSame } from '../mirror/marking-record.ts';
import type { MarkingRecord } from '../mirror/marking-record.ts';
import type { CopyReader, CopyWriter, Copy } from '../mirror/copy.ts';
import type { MarkingLock, RecentRefusals, Refusal, SentMark } from '../mirror/target.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { SyncContext } from './context.ts';
import type { MarkReport, UnmarkedSubmission } from './events.ts';
import { type MarkResult, type MarkSubject, SubmissionMarker } from './mark-submission.ts';
import { takeMarkingLocks } from './marking-locks.ts';
import { PauseWatch, refusePaused } from './pause-watch.ts';

/** How many submissions are read, PATCHed and stored together. A crash in between costs reading these again. */
const CHUNK = 50;
/** How long storing the new statuses waits for a pass that is writing to the same form. */
const STORE_WAIT_MS = 60_000;
/** How many of the submissions that could not be marked a report names. */
const MOST_NAMED = 10;
/** Failures that every further submission would meet as well. */
const ENDS_THE_RUN =
  /^(CANCELLED|PAUSED|FORMS_UNAUTHORIZED|SETTINGS|OTHER_SCHEMA|INTERNAL|TARGET_.*)$/;

/** What to mark. `targets`: every target that mirrors the form, not only the one that was just synchronised. */
export interface MarkRequest {
  readonly formId: string;
  readonly markStatus: string;
  readonly markFrom: readonly string[];
  /** Lists what would be marked, changes nothing. */
  readonly dryRun?: boolean;
}

/**
 * Marks the submissions of one form (L7). Nothing but what the source refused, or was not seen to do, is
 * remembered between runs: the targets are asked which
 * rows are in an allowed status and durable everywhere, the API is asked for each one's status, and only then it is
 * PATCHed; the new status is stored in the targets afterwards. A crash anywhere costs a repeat: the next run finds DONE
 * and only stores it.
 *
 * One submission that cannot be marked holds up no other. Where nothing succeeds at all, it stops after a few tries, and
 * where another process marks the form, it leaves it to that one. Never rejects: the report says how it ended, and what
 * was done stands.
 */
export async function markForm(
  context: SyncContext,
  targets: readonly Copy[],
  request: MarkRequest,
  signal: AbortSignal,
): Promise<MarkReport> {
  const marking = new Marking(context, targets, request, signal);
  const report = await marking.run();
  if (!request.dryRun && report.outcome !== 'paused') context.events.emit('mark.ended', report);
  return report;
}

/** The report of a marking that could not even begin. */
export function failedMarkReport(
  { id, slug, name }: FormIdentity,
  failure: MirrorError,
): MarkReport {
  const nothing = { marked: 0, adopted: 0, refused: 0, failed: 0, waiting: 0, remembered: 0 };
  const outcome = failure.code === 'CANCELLED' ? 'cancelled' : 'failed';
  return { form: { id, slug, name }, outcome, ...nothing, unmarked: [], wouldMark: [], failure };
}

/** What is to be stored in the targets after a chunk. */
interface ChunkResult {
  statuses: Map<string, string>;
  sent: SentMark[];
  refused: Extract<MarkResult, { result: 'refused' }>[];
}

class Marking {
  readonly #context: SyncContext;
  readonly #targets: readonly Copy[];
  readonly #request: MarkRequest;
  readonly #watches: readonly PauseWatch[];
  readonly #recent: RecentRefusals;
  readonly #signal: AbortSignal;
  readonly #counts = { marked: 0, adopted: 0, refused: 0, failed: 0, waiting: 0, remembered: 0 };
  readonly #unmarked: UnmarkedSubmission[] = [];
  readonly #wouldMark = new Map<string, { id: string; status: string }>();
  #firstFailure: MirrorError | undefined;
  /** What keeps every submission from being marked. */
  #end: MirrorError | undefined;
  #stopped = false;
  #elsewhere = false;
  /** False while the form's name is not known: a record would be written under another one. */
  #isNamed = false;
  #form: FormIdentity;

  constructor(
    context: SyncContext,
    targets: readonly Copy[],
    request: MarkRequest,
    signal: AbortSignal,
  ) {
    this.#context = context;
    this.#targets = targets;
    this.#request = request;
    const { clock } = context;
    this.#watches = targets.map((target) => new PauseWatch(target, clock, clock.now()));
    this.#signal = signal;
    this.#form = { id: request.formId, slug: request.formId, name: request.formId };
    const since = new Date(context.clock.now() - REFUSAL_LASTS_MS).toISOString();
    this.#recent = { wanted: request.markStatus, since };
  }

  async run(): Promise<MarkReport> {
    try {
      await this.#run();
    } catch (error) {
      this.#end ??= toMirrorError(error);
    }
    await this.#record().catch((error: unknown) => (this.#end ??= toMirrorError(error)));
    return this.#report();
  }

  /** Keeps in the targets how it ended, where that is another thing than before: `status` and the page show it. */
  async #record(): Promise<void> {
    const { outcome, failure } = this.#report();
    if (this.#request.dryRun || !this.#isNamed) return;
    if (outcome === 'elsewhere' || outcome === 'paused' || outcome === 'cancelled') return;
    for (const target of this.#targets) {
      const reader = await target.reader(this.#request.formId);
      if (reader === undefined) continue;
      const refused = await reader.countRefused(this.#recent);
      const before = await reader.marking();
      const record = this.#recordOf(failure, refused, before);
      if (saysTheSame(before, record)) continue;
      await using writer = await this.#openWriter(target);
      await writer.recordMarking(
        record,
        this.#unmarked.map(({ submissionId }) => submissionId),
      );
    }
  }

  #recordOf(
    failure: MirrorError | null,
    refused: number,
    before: MarkingRecord | null,
  ): MarkingRecord | null {
    if (failure === null && refused === 0) return null;
    const code = failure?.code ?? null;
    const now = new Date(this.#context.clock.now()).toISOString();
    const since = before !== null && before.code === code ? before.since : now;
    return { since, code, error: failure?.message ?? null, refused };
  }

  #openWriter(target: Copy): Promise<CopyWriter> {
    const options = { waitMs: STORE_WAIT_MS, signal: this.#signal };
    return target.openWriter(this.#form, options);
  }

  async #run(): Promise<void> {
    const readers = await this.#readers();
    if (readers === undefined) return;
    for (const target of this.#targets) await refusePaused(target, this.#form);
    for (const reader of readers) {
      const remembered = await reader.countRefused(this.#recent);
      this.#counts.remembered = Math.max(this.#counts.remembered, remembered);
    }
    if (this.#request.dryRun) return this.#markAll(readers, undefined);
    if (!(await this.#hasCandidates(readers))) return;
    await using locks = await takeMarkingLocks(this.#targets, this.#form.id, this.#signal);
    if (locks === undefined) this.#elsewhere = true;
    else await this.#markAll(readers, locks.all);
  }

  /** A reader of every target; undefined when one of them never mirrored the form, so that everything waits. */
  async #readers(): Promise<CopyReader[] | undefined> {
    const readers: CopyReader[] = [];
    for (const target of this.#targets) {
      const reader = await target.reader(this.#request.formId);
      if (reader === undefined) return undefined;
      readers.push(reader);
    }
    this.#form = await this.#context.labels
      .form(this.#request.formId, { fresh: false, call: { signal: this.#signal } })
      .then(({ id, slug, name }) => ({ id, slug, name }));
    this.#isNamed = true;
    return readers;
  }

  async #hasCandidates(readers: readonly CopyReader[]): Promise<boolean> {
    for (const reader of readers) {
      for await (const ids of this.#candidates(reader)) if (ids.length > 0) return true;
    }
    return false;
  }

  #candidates(reader: CopyReader): AsyncIterable<string[]> {
    return reader.markCandidates(this.#request.markFrom, this.#recent);
  }

  async #markAll(
    readers: readonly CopyReader[],
    locks: readonly MarkingLock[] | undefined,
  ): Promise<void> {
    const { markStatus, markFrom } = this.#request;
    const marker = new SubmissionMarker(
      this.#context,
      { formId: this.#request.formId, markStatus, markFrom, locks },
      this.#signal,
    );
    for (const reader of readers) {
      // A later target usually has no candidates left, unless a crash came between storing in two targets.
      for await (const inOrder of this.#candidates(reader)) {
        const ids = shuffled(inOrder);
        const tried = await this.#triedBefore(ids, readers);
        for (let start = 0; start < ids.length; start += CHUNK) {
          throwIfAborted(this.#signal);
          for (const watch of this.#watches) await watch.check(this.#form);
          const chunk = ids.slice(start, start + CHUNK);
          const durable = await durableEverywhere(chunk, readers);
          const subjects = chunk.map((id) => {
            return { id, durable: durable.has(id), wasTried: tried.has(id) };
          });
          await this.#markChunk(subjects, marker);
          if (this.#end !== undefined || this.#stopped) return;
        }
      }
    }
  }

  /** Of these IDs those for which any target remembers this change. */
  async #triedBefore(
    ids: readonly string[],
    readers: readonly CopyReader[],
  ): Promise<ReadonlySet<string>> {
    let tried = new Set<string>();
    for (const reader of readers) {
      tried = tried.union(await reader.triedBefore(ids, this.#request.markStatus));
    }
    return tried;
  }

  async #markChunk(subjects: readonly MarkSubject[], marker: SubmissionMarker): Promise<void> {
    const chunk: ChunkResult = { statuses: new Map(), sent: [], refused: [] };
    const queue = subjects.values();
    const markOneByOne = async (): Promise<void> => {
      for (const subject of queue) {
        // One failure must neither lose what is to be stored about the others nor hold them up.
        await marker.mark(subject).then(
          (result) => this.#count(subject.id, result, chunk),
          (error: unknown) => this.#failed(subject.id, toMirrorError(error)),
        );
        this.#stopped ||= marker.isHopeless;
        if (this.#end !== undefined || this.#stopped) return;
      }
    };
    // Not more at a time than requests in flight: otherwise one, already read, would wait for all others of its chunk.
    await Promise.all(Array.from({ length: this.#context.readAhead }, markOneByOne));
    const refusals = this.#lastingRefusals(chunk, marker);
    if (!this.#request.dryRun) await this.#store(chunk, refusals);
  }

  #count(id: string, result: MarkResult, chunk: ChunkResult): void {
    switch (result.result) {
      case 'waiting':
        this.#counts.waiting++;
        return;
      case 'gone':
        return;
      case 'would-mark':
        this.#wouldMark.set(id, { id, status: result.status });
        return;
      case 'refused':
        this.#counts.refused++;
        chunk.refused.push(result);
        return;
      case 'marked':
      case 'adopted':
        this.#counts[result.result]++;
        chunk.statuses.set(id, result.status);
        if (result.result === 'marked' && result.sent !== null) chunk.sent.push(result.sent);
    }
  }

  #failed(id: string, failure: MirrorError): void {
    if (ENDS_THE_RUN.test(failure.code)) {
      this.#end ??= failure;
      return;
    }
    this.#counts.failed++;
    this.#name(id, failure);
  }

  #name(id: string, failure: MirrorError): void {
    this.#firstFailure ??= failure;
    if (this.#unmarked.length < MOST_NAMED) {
      this.#unmarked.push({ submissionId: id, reason: failure.message });
    }
  }

  /**
   * The refusals that speak of their submissions, to be remembered. Where everything was refused, they speak of the key,
   * the settings or the server instead, which may be mended at any time: then they are failures of the run.
   */
  #lastingRefusals({ refused }: ChunkResult, marker: SubmissionMarker): Refusal[] {
    const lasting: Refusal[] = [];
    for (const { refusal, certain, isSilent } of refused) {
      const lasts = marker.hasMarked || (certain && !this.#stopped);
      if (lasts) lasting.push(refusal);
      // Nobody expects a success that is none.
      if (!lasts || isSilent) {
        this.#name(refusal.submissionId, new MirrorError('FORMS_REFUSED', refusal.reason));
      }
    }
    return lasting;
  }

  /** Stores the statuses and refusals in every target, even if one fails; the next run repeats that one. */
  async #store({ statuses, sent }: ChunkResult, refusals: readonly Refusal[]): Promise<void> {
    if (statuses.size === 0 && refusals.length === 0) return;
    const failures: unknown[] = [];
    for (const target of this.#targets) {
      try {
        await using writer = await this.#openWriter(target);
        // A row that has left these statuses while the writer was waited for was read later than it was marked.
        const rows = await writer.rows([...statuses.keys()]);
        const own = [...statuses].filter(([id]) =>
          this.#request.markFrom.includes(rows.get(id)?.status ?? ''),
        );
        if (own.length > 0) await writer.setStatuses(new Map(own), sent);
        if (refusals.length > 0) await writer.recordRefusals(refusals);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw toMirrorError(failures[0]);
  }

  #report(): MarkReport {
    const failure = this.#end ?? this.#failure();
    return {
      form: this.#form,
      outcome: this.#outcome(failure),
      ...this.#counts,
      unmarked: this.#unmarked,
      wouldMark: [...this.#wouldMark.values()],
      failure,
    };
  }

  #outcome(failure: MirrorError | null): MarkReport['outcome'] {
    if (failure === null) return this.#elsewhere ? 'elsewhere' : 'done';
    if (failure.code === 'CANCELLED') return 'cancelled';
    if (failure.code === 'PAUSED') return 'paused';
    return this.#end === undefined && this.#counts.marked > 0 && !this.#stopped
      ? 'partial'
      : 'failed';
  }

  /** Why not everything was marked that could be; null when it was. */
  #failure(): MirrorError | null {
    const first = this.#firstFailure;
    if (first === undefined) return null;
    const unmarked = this.#counts.failed + this.#counts.refused;
    const what = this.#stopped
      ? `Marking stopped: ${plural(unmarked, 'submission')} could not be set to ${this.#request.markStatus} and the others were not tried.`
      : `${plural(unmarked, 'submission')} could not be set to ${this.#request.markStatus}; no other was held up.`;
    // The next run tries again anyway.
    return new MirrorError(first.code, `${what} The first: ${first.message}`, {
      cause: first,
      retryable: false,
    });
  }
}

/** In random order: where a run stops early, the next one begins elsewhere, and none is left behind for ever. */
function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** Of these IDs those that every target holds durably and none lists as rejected. */
async function durableEverywhere(
  ids: readonly string[],
  readers: readonly CopyReader[],
): Promise<Set<string>> {
  let durable = new Set(ids);
  for (const reader of readers) durable = durable.intersection(await reader.confirm([...durable]));
  return durable;
}
