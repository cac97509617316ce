/** How a write-back treats one submission, given its status as read from the API just now (L7). */
export type MarkDecision =
  /** PATCH it. */
  | { readonly action: 'mark' }
  /** A person changed it: their status wins, and the mirror shows it. */
  | { readonly action: 'adopt'; readonly status: string }
  /** Not durable in every target of its form yet, or listed as rejected somewhere. */
  | { readonly action: 'wait' }
  /** The source answers 404; the next full run proves and marks the deletion. */
  | { readonly action: 'leave' };

/** The facts about one submission that {@link decideMark} goes by. */
export interface MarkFacts {
  /** Every target that mirrors the form holds it durably, and none lists it as rejected. */
  readonly durableEverywhere: boolean;
  /** Its status at the source, read just now; null when the source answers 404. */
  readonly status: string | null;
  /** MARK_FROM. */
  readonly allowed: readonly string[];
}

/** The rule of L7. */
export function decideMark({ durableEverywhere, status, allowed }: MarkFacts): MarkDecision {
  if (!durableEverywhere) return { action: 'wait' };
  if (status === null) return { action: 'leave' };
  return allowed.includes(status) ? { action: 'mark' } : { action: 'adopt', status };
}

/** For how long a submission whose change of status was refused is not tried again, unless it changes before: a day. */
export const REFUSAL_LASTS_MS = 24 * 3_600_000;

/**
 * What an HTTP status in answer to a PATCH says. `transition`: this submission may not go from the status it has to the
 * one that is wanted. `perhaps`: the same, if others may; otherwise it says nothing of this submission. `failure`: it
 * speaks of the key, the method, the server or the network, and may be mended at any time.
 */
export function readRefusal(httpStatus: number | null): 'transition' | 'perhaps' | 'failure' {
  if (httpStatus === 400 || httpStatus === 409) return 'transition';
  return httpStatus === 422 ? 'perhaps' : 'failure';
}

/** How a run has fared with one kind of request. */
export interface MarkTally {
  readonly succeeded: number;
  /** Failures, refusals included, since the last success. */
  readonly failedInARow: number;
}

/** So many failures without any success, and so many in a row after one, are not about single submissions. */
const HOPELESS_FROM_THE_START = 10;
const HOPELESS_IN_A_ROW = 100;

/** Whether going on would only repeat the same failure, for thousands of submissions and again at the next run. */
export function isHopeless({ succeeded, failedInARow }: MarkTally): boolean {
  return failedInARow >= (succeeded === 0 ? HOPELESS_FROM_THE_START : HOPELESS_IN_A_ROW);
}
