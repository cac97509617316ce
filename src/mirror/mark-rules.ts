/** What marking does with one submission, given its status as read from the API just now (L7). */
export type MarkDecision =
  /** PATCH it. */
  | { readonly action: 'mark' }
  /** Somebody else changed it: their status wins, and the mirror shows it. */
  | { readonly action: 'adopt'; readonly status: string }
  /** Not durable in every target of its form yet, or listed as rejected somewhere. */
  | { readonly action: 'wait' }
  /** The source answers 404; the next full pass proves and marks the deletion. */
  | { readonly action: 'leave' };

/** Facts about one submission that {@link decideMark} judges. */
export interface MarkFacts {
  /** Every target that mirrors the form holds it durably, and none lists it as rejected. */
  readonly durableEverywhere: boolean;
  /** Its status at the source, read just now; null when the source answers 404. */
  readonly status: string | null;
  /** MARK_FROM. */
  readonly allowed: readonly string[];
}

/** The rule of L7, in one place. */
export function decideMark({ durableEverywhere, status, allowed }: MarkFacts): MarkDecision {
  if (!durableEverywhere) return { action: 'wait' };
  if (status === null) return { action: 'leave' };
  return allowed.includes(status) ? { action: 'mark' } : { action: 'adopt', status };
}
