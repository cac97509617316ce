import { isAbort, MirrorError, toMirrorError } from '../base/errors.ts';
import { DEFAULT_RETRY, type RetryDecision, type RetryNotice, withRetry } from '../base/retry.ts';
import type { CallOptions, FormsClient, StatusChange } from '../forms/client.ts';
import { FormsApiError, orNull } from '../forms/errors.ts';
import { decideMark, isHopeless, readRefusal } from '../mirror/mark-rules.ts';
import type { MarkingLock, Refusal, SentMark } from '../mirror/target.ts';
import type { SyncContext } from './context.ts';

/** A status that was read longer ago may have changed since: it is read again before the PATCH (L7). */
const FRESH_MS = 10_000;
/** After so many failures with no success between them, the others are tried once each: they'd wait half a minute each. */
const PATIENT_FAILURES = 3;

/** Some sources show a change a moment after they made it: one that does not show it then did not make it. */
const LOOK_AGAIN_MS = 2_000;

/** What became of one submission. */
export type MarkResult =
  /** Not durable in every target yet, or listed as rejected; or the source answers 404. */
  | { readonly result: 'waiting' | 'gone' }
  /** `sent`: the source answered with success; whether its list shows the change is for a full pass to find. */
  | { readonly result: 'marked'; readonly status: string; readonly sent: SentMark | null }
  /** `adopted`: it has this status because someone else set it. `would-mark`: it is PATCHed from it, were this no dry run. */
  | { readonly result: 'adopted' | 'would-mark'; readonly status: string }
  /**
   * `certain`: refused for this very transition, whatever becomes of others; otherwise only if another goes through.
   * `isSilent`: not in words: the source answered with success and left the status as it was.
   */
  | {
      readonly result: 'refused';
      readonly refusal: Refusal;
      readonly certain: boolean;
      readonly isSilent: boolean;
    };

/** What the targets say of a submission that is to be marked. */
export interface MarkSubject {
  readonly id: string;
  /** Every target holds it, and none lists it as rejected. */
  readonly durable: boolean;
  /** This change was tried before: a success is not believed until it is seen. */
  readonly wasTried: boolean;
}

/**
 * Sources that were seen to have made a change: one request a process shows whether a body with the new status means anything.
 * A response that does not show it is never believed.
 */
const provenSources = new WeakSet<FormsClient>();

/** How submissions are marked. */
export interface MarkOrder {
  readonly formId: string;
  readonly markStatus: string;
  readonly markFrom: readonly string[];
  /** Asked before each PATCH; undefined in a dry run, which sends none. */
  readonly locks: readonly MarkingLock[] | undefined;
}

/** A PATCH that failed or was held back: to be retried, if at all, only after reading the status again. */
class FailedPatch extends Error {
  override readonly name = 'FailedPatch';
  /** Undefined: it was not even sent, because the status had been read too long ago. */
  readonly failure: MirrorError | undefined;

  constructor(failure?: MirrorError) {
    super();
    this.failure = failure;
  }
}

/** Counts how one kind of request fares. */
class Tally {
  succeeded = 0;
  failedInARow = 0;

  success(): void {
    this.succeeded++;
    this.failedInARow = 0;
  }

  failure(): void {
    this.failedInARow++;
  }
}

/** Marks submissions one by one, and notices when it is of no use to go on. */
export class SubmissionMarker {
  readonly #context: SyncContext;
  readonly #order: MarkOrder;
  readonly #signal: AbortSignal;
  readonly #reads = new Tally();
  readonly #patches = new Tally();
  #failures = 0;
  #list: Promise<ReadonlyMap<string, string>> | undefined;

  constructor(context: SyncContext, order: MarkOrder, signal: AbortSignal) {
    this.#context = context;
    this.#order = order;
    this.#signal = signal;
  }

  /** True when every further try would most likely end like the last ones. */
  get isHopeless(): boolean {
    return isHopeless(this.#reads) || isHopeless(this.#patches);
  }

  /** True when the source has set the wanted status in this run: what it refuses then is about single submissions. */
  get hasMarked(): boolean {
    return this.#patches.succeeded > 0;
  }

  /**
   * Marks one submission. The status is read again before each PATCH: a person may have changed it while we waited (L7).
   * Rejects with a MirrorError when it could be neither read nor marked.
   */
  async mark({ id, durable, wasTried }: MarkSubject): Promise<MarkResult> {
    if (!durable) return { result: 'waiting' };
    const patient = this.#failures < PATIENT_FAILURES;
    let sent = false;
    let waited: string | undefined;
    try {
      return await withRetry(
        () => this.#once({ id, wasTried }, { patient, wasSent: sent }, () => (sent = true)),
        {
          policy: patient ? DEFAULT_RETRY : { ...DEFAULT_RETRY, attempts: 1 },
          clock: this.#context.clock,
          signal: this.#signal,
          decide: decideRetry,
          onRetry: (notice) => {
            waited = this.#emitRetry(notice) ?? waited;
          },
        },
      );
    } catch (error) {
      const failure = error instanceof FailedPatch ? (error.failure ?? tooSlow(id)) : error;
      if (error instanceof FailedPatch) this.#patches.failure();
      this.#failures++;
      throw toMirrorError(failure);
    } finally {
      if (waited !== undefined) this.#context.events.emit('forms.settled', { request: waited });
    }
  }

  async #once(
    { id, wasTried }: Pick<MarkSubject, 'id' | 'wasTried'>,
    { patient, wasSent }: { patient: boolean; wasSent: boolean },
    onSent: () => void,
  ): Promise<MarkResult> {
    const status = await this.#read(id, patient);
    const { markStatus, markFrom, locks } = this.#order;
    const decision = decideMark({ durableEverywhere: true, status, allowed: markFrom });
    // The PATCH seemed to fail, but took effect: this status is ours.
    if (decision.action === 'adopt' && wasSent && decision.status === markStatus) {
      return this.#marked(null);
    }
    if (decision.action === 'adopt') {
      const isOurs = wasTried && decision.status === markStatus;
      const listed = isOurs ? (await this.#listed()).get(id) : undefined;
      if (listed !== undefined && markFrom.includes(listed)) return this.#contradiction(id, listed);
      return { result: 'adopted', status: decision.status };
    }
    if (decision.action !== 'mark' || status === null) return { result: 'gone' };
    if (locks === undefined) return { result: 'would-mark', status };
    return this.#patch({ id, status, wasTried }, onSent);
  }

  /**
   * The statuses that the list shows of the newest submissions in an allowed status, by ID; read once a run. None where it
   * cannot be read: it only explains what the submissions themselves say.
   */
  #listed(): Promise<ReadonlyMap<string, string>> {
    this.#list ??= this.#readList().catch((error: unknown) => {
      if (isAbort(error)) throw error;
      return new Map<string, string>();
    });
    return this.#list;
  }

  async #readList(): Promise<Map<string, string>> {
    const { formId, markFrom } = this.#order;
    const statuses = new Map<string, string>();
    for (const status of markFrom) {
      const query = { formId, status, page: 1 };
      const call = { signal: this.#signal };
      for (const { submission } of (await this.#context.client.listSubmissions(query, call))
        .items) {
        if (submission !== null) statuses.set(submission.id, submission.status);
      }
    }
    return statuses;
  }

  /**
   * We changed the status, a pass met the one before in the list, which still shows it, and the submission itself shows
   * ours. Passes go by the list: to adopt ours would change the row with each pass and back.
   */
  #contradiction(id: string, listed: string): MarkResult {
    const { markStatus } = this.#order;
    const reason = `The source contradicts itself: its list shows submission ${id} with the status ${listed}, and GET /submissions/${id} with ${markStatus}.`;
    const refusal = { ...this.#sentMark(id, listed), reason };
    return { result: 'refused', refusal, certain: true, isSilent: true };
  }

  /** The status that the source has now; null when it answers 404. An answer without one is a failure: nobody set that. */
  async #read(id: string, patient: boolean): Promise<string | null> {
    const call: CallOptions = { signal: this.#signal, once: !patient };
    try {
      const item = await orNull(this.#context.client.getSubmission(id, call));
      const status = item === null ? null : (item.submission?.status ?? '');
      if (status?.trim() === '') throw withoutStatus(id);
      this.#reads.success();
      return status;
    } catch (error) {
      this.#reads.failure();
      throw error;
    }
  }

  async #patch(
    { id, status, wasTried }: { id: string; status: string; wasTried: boolean },
    onSent: () => void,
  ): Promise<MarkResult> {
    const { clock, client } = this.#context;
    const readAtMs = clock.now();
    for (const lock of this.#order.locks ?? []) await lock.assertHeld();
    const onAttempt = (): void => {
      if (clock.now() - readAtMs > FRESH_MS) throw new FailedPatch();
    };
    let change: StatusChange;
    try {
      const call = { signal: this.#signal, once: true, onAttempt };
      change = await client.setStatus(id, this.#order.markStatus, call);
    } catch (error) {
      if (error instanceof FailedPatch) throw error;
      return this.#afterFailure(id, status, toMirrorError(error), onSent);
    }
    const isProven = change.isShown && !wasTried && provenSources.has(client);
    if (!isProven) return this.#afterSuccess(id, status, change.httpStatus);
    return this.#marked(this.#sentMark(id, status));
  }

  /** A success that is not believed yet: did the source make the change? */
  async #afterSuccess(id: string, status: string, httpStatus: number): Promise<MarkResult> {
    const { client, clock } = this.#context;
    let now = await this.#read(id, true);
    if (now === status) {
      await clock.sleep(LOOK_AGAIN_MS, this.#signal);
      now = await this.#read(id, true);
    }
    if (now === null) return { result: 'gone' };
    if (now === this.#order.markStatus) {
      provenSources.add(client);
      return this.#marked(this.#sentMark(id, status));
    }
    if (!this.#order.markFrom.includes(now)) return { result: 'adopted', status: now };
    // A person was faster by a moment, or changed it right after.
    if (now !== status) throw new FailedPatch();
    provenSources.delete(client);
    this.#patches.failure();
    const reason = `The source answers ${httpStatus} to PATCH /submissions/${id}/status but leaves the status at ${status}.`;
    const refusal = { ...this.#sentMark(id, status), reason };
    return { result: 'refused', refusal, certain: true, isSilent: true };
  }

  #sentMark(id: string, status: string): SentMark {
    const at = new Date(this.#context.clock.now()).toISOString();
    return { submissionId: id, status, wanted: this.#order.markStatus, at };
  }

  async #afterFailure(
    id: string,
    status: string,
    failure: MirrorError,
    onSent: () => void,
  ): Promise<MarkResult> {
    if (failure.code === 'CANCELLED') throw failure;
    if (failure.code === 'FORMS_NOT_FOUND') return { result: 'gone' };
    if (failure.retryable) {
      onSent();
      throw new FailedPatch(failure);
    }
    const httpStatus = failure instanceof FormsApiError ? failure.status : null;
    if (httpStatus !== null && httpStatus < 300) return this.#afterContradiction(id, failure);
    const reading = readRefusal(httpStatus);
    if (reading === 'failure') {
      this.#patches.failure();
      throw failure;
    }
    // Was it refused for the status that we read, or had a person changed it before our PATCH arrived?
    const now = await this.#read(id, true);
    if (now === null) return { result: 'gone' };
    if (now !== status) {
      if (this.#order.markFrom.includes(now)) throw new FailedPatch(failure);
      return { result: 'adopted', status: now };
    }
    this.#patches.failure();
    const refusal = { ...this.#sentMark(id, status), reason: failure.message };
    return { result: 'refused', refusal, certain: reading === 'transition', isSilent: false };
  }

  /** A PATCH answered 2xx, but its body says otherwise; some servers show what was there before. What holds now decides. */
  async #afterContradiction(id: string, failure: MirrorError): Promise<MarkResult> {
    const now = await this.#read(id, true);
    if (now === null) return { result: 'gone' };
    if (now === this.#order.markStatus) return this.#marked(null);
    if (!this.#order.markFrom.includes(now)) return { result: 'adopted', status: now };
    this.#patches.failure();
    throw failure;
  }

  #marked(sent: SentMark | null): MarkResult {
    this.#patches.success();
    this.#failures = 0;
    return { result: 'marked', status: this.#order.markStatus, sent };
  }

  /** Returns the request that is waited for: whoever was told of it has to be told when it has ended. */
  #emitRetry({ attempt, delayMs, error }: RetryNotice): string | undefined {
    const failure = error instanceof FailedPatch ? error.failure : undefined;
    if (!(failure instanceof FormsApiError)) return undefined;
    const { request, reason } = failure;
    this.#context.events.emit('forms.retry', { request, attempt, delayMs, reason });
    return request;
  }
}

function decideRetry(error: unknown): RetryDecision {
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

const withoutStatus = (id: string): MirrorError =>
  new MirrorError(
    'FORMS_FAILED',
    `The Forms API shows submission ${id} without a usable status (GET /submissions/${id}), so it is not known whether it may be marked; the next run tries again.`,
  );
