import { throwIfAborted } from '../base/clock.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { DEFAULT_RETRY } from '../base/retry-delay.ts';
import { type RetryNotice, type RetryVerdict, withRetry } from '../base/retry.ts';
import type { CallOptions } from '../forms/client.ts';
import { FormsApiError } from '../forms/errors.ts';
import { decideMark } from '../mirror/mark-rules.ts';
import type { FormReader, Refusal, Target } from '../mirror/target.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { SyncContext } from './context.ts';
import { submissionOrNull } from './deletions.ts';

/** How many submissions are read, PATCHed and noted together. A crash in between costs asking for these again. */
const CHUNK = 50;
/** A status that was read longer ago may have changed since: it is read again before the PATCH (L7). */
const FRESH_MS = 10_000;
/** How long a note waits for a pass that is writing to the same form. */
const NOTE_WAIT_MS = 60_000;

/** What to mark. `targets`: every target that mirrors the form, whichever of them was just synchronised. */
export interface MarkRequest {
  readonly formId: string;
  readonly markStatus: string;
  readonly markFrom: readonly string[];
  /** Lists what would be marked, changes nothing. */
  readonly dryRun?: boolean;
}

/** What marking did; counts of submissions. */
export interface MarkReport {
  readonly form: FormIdentity;
  readonly marked: number;
  /** Whose status somebody else had changed: the mirror follows. */
  readonly adopted: number;
  readonly refused: number;
  /** Not yet in every target of the form, or listed as rejected. */
  readonly waiting: number;
  /** With `dryRun`: what would be marked. Otherwise empty. */
  readonly wouldMark: readonly { readonly id: string; readonly status: string }[];
}

/**
 * Marks the submissions of one form (L7). Nothing is remembered between runs: the targets are asked which rows are in
 * an allowed status and durable everywhere, the API is asked for each one's status, and only then it is PATCHed; the
 * targets note the new status afterwards. A crash anywhere costs a repeat: the next run finds DONE and only notes it.
 *
 * Throws MirrorError when the API or a target fails; what was done until then stands.
 */
export async function markForm(
  context: SyncContext,
  targets: readonly Target[],
  request: MarkRequest,
  signal: AbortSignal,
): Promise<MarkReport> {
  const marking = new Marking(context, targets, request, signal);
  const report = await marking.run();
  if (!request.dryRun) context.events.emit('mark.ended', report);
  return report;
}

/** What became of a chunk. */
interface Chunk {
  statuses: Map<string, string>;
  refusals: Refusal[];
}

/** A PATCH that failed or was held back: to be tried again, if at all, after another look at the status. */
class FailedPatch extends Error {
  override readonly name = 'FailedPatch';
  /** Undefined: it was not even sent, because the status had been read too long ago. */
  readonly failure: MirrorError | undefined;

  constructor(failure?: MirrorError) {
    super();
    this.failure = failure;
  }
}

class Marking {
  readonly #context: SyncContext;
  readonly #targets: readonly Target[];
  readonly #request: MarkRequest;
  readonly #signal: AbortSignal;
  readonly #call: CallOptions;
  readonly #counts = { marked: 0, adopted: 0, refused: 0, waiting: 0 };
  readonly #wouldMark = new Map<string, { id: string; status: string }>();
  #form: FormIdentity;

  constructor(
    context: SyncContext,
    targets: readonly Target[],
    request: MarkRequest,
    signal: AbortSignal,
  ) {
    this.#context = context;
    this.#targets = targets;
    this.#request = request;
    this.#signal = signal;
    this.#call = { signal };
    this.#form = { id: request.formId, slug: request.formId, name: request.formId };
  }

  async run(): Promise<MarkReport> {
    const readers = await this.#readers();
    for (const reader of readers ?? []) {
      // A later target usually has none left; it has when a crash came between the notes of two targets.
      for await (const ids of reader.markCandidates(this.#request.markFrom)) {
        for (let start = 0; start < ids.length; start += CHUNK) {
          throwIfAborted(this.#signal);
          await this.#markChunk(ids.slice(start, start + CHUNK), readers ?? []);
        }
      }
    }
    return { form: this.#form, ...this.#counts, wouldMark: [...this.#wouldMark.values()] };
  }

  /** A reader of every target; undefined when one of them never mirrored the form, so that everything waits. */
  async #readers(): Promise<FormReader[] | undefined> {
    const readers: FormReader[] = [];
    for (const target of this.#targets) {
      const reader = await target.reader(this.#request.formId);
      if (reader === undefined) return undefined;
      readers.push(reader);
    }
    this.#form = await this.#context.labels
      .form(this.#request.formId, { fresh: false, call: this.#call })
      .then(({ id, slug, name }) => ({ id, slug, name }));
    return readers;
  }

  async #markChunk(ids: readonly string[], readers: readonly FormReader[]): Promise<void> {
    const durable = await durableEverywhere(ids, readers);
    const chunk: Chunk = { statuses: new Map(), refusals: [] };
    const failures: unknown[] = [];
    const queue = ids.values();
    const markOneByOne = async (): Promise<void> => {
      for (const id of queue) {
        // One that fails must not lose the notes of those that succeeded.
        await this.#markOne(id, durable.has(id), chunk).catch((error) => failures.push(error));
      }
    };
    // No more side by side than requests in flight: or one, already read, would wait for all others of its chunk.
    await Promise.all(Array.from({ length: this.#context.readAhead }, markOneByOne));
    if (!this.#request.dryRun) await this.#note(chunk);
    if (failures.length > 0) throw toMirrorError(failures[0]);
  }

  /** Before each try of a PATCH the status is read anew: a colleague may have changed it while we waited (L7). */
  async #markOne(id: string, durable: boolean, chunk: Chunk): Promise<void> {
    let tried = false;
    const once = async (): Promise<void> => {
      // Asked for even if it has to wait? No: a row that is not durable everywhere is left for the next run.
      const item = durable ? await submissionOrNull(this.#context.client, id, this.#call) : null;
      const status = item?.submission?.status ?? null;
      const allowed = this.#request.markFrom;
      const decision = decideMark({ durableEverywhere: durable, status, allowed });
      if (decision.action === 'wait') this.#counts.waiting++;
      if (decision.action === 'mark') {
        await this.#patch(id, status ?? '', chunk, () => (tried = true));
      }
      if (decision.action !== 'adopt') return;
      // What we tried to set, and heard nothing good of, was set all the same.
      const ours = tried && decision.status === this.#request.markStatus;
      this.#counts[ours ? 'marked' : 'adopted']++;
      chunk.statuses.set(id, decision.status);
    };
    await withRetry(once, {
      policy: DEFAULT_RETRY,
      clock: this.#context.clock,
      signal: this.#signal,
      judge: judgePatch,
      onRetry: (notice) => this.#tellRetry(notice),
    }).catch((error: unknown) => {
      throw error instanceof FailedPatch ? (error.failure ?? tooSlow(id)) : error;
    });
  }

  async #patch(id: string, status: string, chunk: Chunk, onSent: () => void): Promise<void> {
    const { markStatus, dryRun } = this.#request;
    if (dryRun) {
      this.#wouldMark.set(id, { id, status });
      return;
    }
    const { clock, client } = this.#context;
    const readAtMs = clock.now();
    const onAttempt = (): void => {
      if (clock.now() - readAtMs > FRESH_MS) throw new FailedPatch();
      onSent();
    };
    try {
      await client.setStatus(id, markStatus, { ...this.#call, once: true, onAttempt });
    } catch (error) {
      if (error instanceof FailedPatch) throw error;
      const failure = toMirrorError(error);
      if (failure.code === 'FORMS_NOT_FOUND') return;
      if (failure.retryable && failure.code !== 'CANCELLED') throw new FailedPatch(failure);
      if (failure.code !== 'FORMS_REFUSED') throw failure;
      this.#counts.refused++;
      chunk.refusals.push(this.#refusal(id, status, failure));
      return;
    }
    this.#counts.marked++;
    chunk.statuses.set(id, markStatus);
  }

  #tellRetry({ attempt, delayMs, error }: RetryNotice): void {
    const failure = error instanceof FailedPatch ? error.failure : undefined;
    if (!(failure instanceof FormsApiError)) return;
    const { request, reason } = failure;
    this.#context.events.emit('forms.retry', { request, attempt, delayMs, reason });
  }

  #refusal(submissionId: string, status: string, failure: MirrorError): Refusal {
    const at = new Date(this.#context.clock.now()).toISOString();
    return { submissionId, status, wanted: this.#request.markStatus, reason: failure.message, at };
  }

  /** Notes a chunk in every target. One that fails keeps the others from nothing: its rows are asked about again. */
  async #note({ statuses, refusals }: Chunk): Promise<void> {
    if (statuses.size === 0 && refusals.length === 0) return;
    const failures: unknown[] = [];
    for (const target of this.#targets) {
      try {
        await using writer = await target.openWriter(this.#form, {
          waitMs: NOTE_WAIT_MS,
          signal: this.#signal,
        });
        if (statuses.size > 0) await writer.setStatuses(statuses);
        if (refusals.length > 0) await writer.recordRefusals(refusals);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw toMirrorError(failures[0]);
  }
}

function judgePatch(error: unknown): RetryVerdict {
  if (!(error instanceof FailedPatch)) return { retry: false };
  const { failure } = error;
  return failure instanceof FormsApiError
    ? { retry: true, serverDelayMs: failure.retryAfterMs }
    : { retry: true };
}

const tooSlow = (id: string): MirrorError =>
  new MirrorError(
    'FORMS_FAILED',
    `The Forms API answers too slowly to mark submission ${id} by the status it had just now; the next run tries again.`,
  );

/** Of these IDs those that every target holds durably and none lists as rejected. */
async function durableEverywhere(
  ids: readonly string[],
  readers: readonly FormReader[],
): Promise<Set<string>> {
  let durable = new Set(ids);
  for (const reader of readers) durable = durable.intersection(await reader.confirm([...durable]));
  return durable;
}
