import { MirrorError } from '../base/errors.ts';
import type { CallOptions, FormsClient, SubmissionItem } from '../forms/client.ts';
import { FormsApiError } from '../forms/errors.ts';

/** After so many submissions that the API did not answer for, tries included, one try is made for each of the others. */
const IN_VAIN = 10;

/**
 * What the API says of one submission. `undecided`: neither that it is there nor that it is gone; `reason`: its answer, in
 * the same words each time and without what it says about fields.
 */
export type ByIdAnswer =
  | { readonly kind: 'shown'; readonly item: SubmissionItem }
  | { readonly kind: 'gone' }
  | { readonly kind: 'undecided'; readonly reason: string };

/**
 * Asks for submissions by their IDs. One that answers neither with the submission nor that it is gone holds up no other
 * (L6, L12), and many that do so take a bounded time: each costs all tries only while few have failed.
 */
export class ById {
  readonly #client: Pick<FormsClient, 'getSubmission'>;
  readonly #call: CallOptions;
  #inVain = 0;

  constructor(client: Pick<FormsClient, 'getSubmission'>, call: CallOptions) {
    this.#client = client;
    this.#call = call;
  }

  /** Throws what concerns all: a refused key, a stop, an error of ours. */
  async ask(id: string): Promise<ByIdAnswer> {
    const once = this.#inVain >= IN_VAIN;
    const answer = await this.#try(id, once);
    // Throttling is no answer about a submission, and passes.
    if (answer !== 'throttled') return answer;
    const patient = await this.#try(id, false);
    return patient === 'throttled' ? { kind: 'undecided', reason: 'answered 429' } : patient;
  }

  async #try(id: string, once: boolean): Promise<ByIdAnswer | 'throttled'> {
    try {
      return { kind: 'shown', item: await this.#client.getSubmission(id, { ...this.#call, once }) };
    } catch (error) {
      if (isGone(error)) return { kind: 'gone' };
      const aboutOne = error instanceof MirrorError && error.code.startsWith('FORMS_');
      if (!aboutOne || error.code === 'FORMS_UNAUTHORIZED') throw error;
      if (once && error instanceof FormsApiError && error.status === 429) return 'throttled';
      if (error.retryable) this.#inVain++;
      const reason = error instanceof FormsApiError ? answerOf(error) : 'it has no address';
      return { kind: 'undecided', reason };
    }
  }
}

/** 410 says what 404 says, and for ever (RFC 9110). */
function isGone(error: unknown): boolean {
  if (!(error instanceof MirrorError)) return false;
  return (
    error.code === 'FORMS_NOT_FOUND' || (error instanceof FormsApiError && error.status === 410)
  );
}

function answerOf({ code, status, reason }: FormsApiError): string {
  return code === 'FORMS_REFUSED' && status !== null ? `refused with ${status}` : reason;
}

/**
 * An item read by ID: an answer that leaves the status out says nothing of it, so what is known of it from elsewhere
 * stands. `known`: null where nothing is.
 */
export function withKnownStatus(item: SubmissionItem, known: string | null): SubmissionItem {
  const { submission, defects } = item;
  if (submission === null || submission.status !== '' || known === null) return item;
  return {
    ...item,
    submission: { ...submission, status: known },
    defects: defects.filter((defect) => !defect.startsWith('status ')),
  };
}
