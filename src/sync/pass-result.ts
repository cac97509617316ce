import type { ErrorCode, MirrorError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { shellOption } from '../base/shell.ts';
import type { Checkpoint, FormIdentity, PassKind, PassOutcome } from '../mirror/types.ts';

/** What a pass did, as far as it got. */
export interface PassResult {
  readonly outcome: PassOutcome;
  /** What the target is to remember with the rows; absent where nothing was proven or found out. */
  readonly checkpoint?: Checkpoint;
  readonly deleted: number;
  readonly withheld: number;
  readonly undecided: number;
  /** Submissions that the source shows when asked by ID, but not in its list: so the list proves nothing. */
  readonly unlisted: number;
  readonly failure: MirrorError | null;
  /** The pass is proven by windows: since when (ISO) all of them were. */
  readonly comparedSince?: string;
}

/** A pass that has nothing to tell. */
export const NOTHING: PassResult = {
  outcome: 'ok',
  deleted: 0,
  withheld: 0,
  undecided: 0,
  unlisted: 0,
  failure: null,
};

/** Failures of a target that may take the record of the pass all the same: it refused rows, and still is ours to write. */
export const KEEPS_RECORDS: ReadonlySet<ErrorCode> = new Set([
  'TARGET_DENIED',
  'TARGET_FAILED',
  'TARGET_FULL',
]);

/** The result of a pass that was ended by a failure. */
export function failed(failure: MirrorError): PassResult {
  const outcomes: Partial<Record<MirrorError['code'], PassOutcome>> = {
    TARGET_BUSY: 'busy',
    PAUSED: 'paused',
    CANCELLED: 'cancelled',
    PASS_INCOMPLETE: 'incomplete',
  };
  return { ...NOTHING, outcome: outcomes[failure.code] ?? 'failed', failure };
}

/** How a pass ended that found its proof. What the list hides, and what the brake withheld, stays so until a full pass settles it. */
export function outcomeOf({ hidden, withheld }: Checkpoint): PassOutcome {
  if (hidden > 0) return 'incomplete';
  return withheld > 0 ? 'withheld' : 'ok';
}

/** The code of an outcome that is not plain success. */
export function codeOf({ outcome, failure }: PassResult): ErrorCode | null {
  switch (outcome) {
    case 'incomplete':
      return 'PASS_INCOMPLETE';
    case 'withheld':
      return 'DELETES_WITHHELD';
    case 'gone':
      return 'FORM_GONE';
    case 'failed':
    case 'busy':
    case 'paused':
    case 'cancelled':
      return failure?.code ?? null;
    case 'ok':
      return null;
  }
}

/** What a message about a pass speaks of. */
export interface PassFacts {
  readonly kind: PassKind;
  readonly form: FormIdentity;
  /** The last `total` that the source reported; null when it reported none. */
  readonly total: number | null;
  /** Distinct submissions seen. */
  readonly distinct: number;
  /** Entries of the list that repeat a submission, where it is not known whether they hide another. */
  readonly unclearDoubles: number;
  /** The list may leave submissions out because of its double entries, and could not be read from its other end. */
  readonly unclearEnd: boolean;
  /** The target has rows of the form, or had some. */
  readonly isHeld: boolean;
}

/** For every outcome but `ok`: what happened, and what to do about it. */
export function messageOf(result: PassResult, facts: PassFacts): string | null {
  const { form, isHeld } = facts;
  const name = nameOf(form);
  switch (result.outcome) {
    case 'incomplete':
      return result.failure?.message ?? unprovenMessage(result, facts);
    case 'withheld':
      return (
        `${result.withheld} rows of ${name} are absent from the source, more than MAX_DELETE_FRACTION allows, so none was ` +
        `marked deleted. If that is right, run: forms-mirror sync --full --accept-deletes ${shellOption('--form', form.id)}`
      );
    case 'gone':
      return (
        `The ${name} answers 404: deleted, or the key is for another workspace. ` +
        (isHeld ? 'Its rows stay unchanged.' : 'It was never mirrored here.')
      );
    case 'failed':
    case 'busy':
    case 'paused':
    case 'cancelled':
      return result.failure?.message ?? null;
    case 'ok':
      return null;
  }
}

const nameOf = ({ name, id }: FormIdentity): string => `form "${name}" (${id})`;

function unprovenMessage({ unlisted, withheld }: PassResult, facts: PassFacts): string {
  const { form, total, distinct, unclearDoubles, unclearEnd } = facts;
  if (unlisted > 0 && (facts.kind === 'incremental' || withheld > 0)) {
    return (
      `An earlier full pass found ${plural(unlisted, 'submission')} of ${nameOf(form)} by ID that the list does not show: so the ` +
      'list is no proof of what exists. New submissions in it are stored; a full pass that finds the list whole ends this. ' +
      'Ask the service why its list leaves submissions out. To have all absent ones asked for again by ID, run: ' +
      `forms-mirror sync --full --accept-deletes ${shellOption('--form', form.id)}`
    );
  }
  if (unlisted > 0) {
    return (
      `The source shows ${plural(unlisted, 'submission')} of ${nameOf(form)} when asked by ID, but not in its list, which was ` +
      'read twice: so the list is no proof of what exists. The submissions seen either way are stored, and the next pass looks ' +
      'again. Ask the service why its list leaves submissions out.'
    );
  }
  if (unclearDoubles > 0) {
    return (
      `The source reports ${total ?? 'no'} submissions of ${nameOf(form)}, and ${distinct} were seen: its list shows some more ` +
      `than once, and of ${plural(unclearDoubles, 'such double entry', 'such double entries')} it is not known whether ` +
      'another submission is hidden behind it. The submissions that were seen are stored, and the next pass looks again. Ask the service why ' +
      'its list shows submissions more than once.'
    );
  }
  if (unclearEnd) {
    return (
      `The source reports ${total ?? 'no'} submissions of ${nameOf(form)}, and ${distinct} were seen: its list shows some more ` +
      'than once, and it is not known whether that number counts them, or they push others off its end, as the list could not be ' +
      'read from there: sortOrder=asc does not show it in the opposite order. The submissions that were seen are stored, and the next pass looks ' +
      'again. Ask the service why its list shows submissions more than once.'
    );
  }
  return (
    `The source reports ${total ?? 'no'} submissions of ${nameOf(form)}, and ${distinct} were seen, ` +
    'without proof that nothing was missed. The submissions that were seen are stored; the next pass continues from there.'
  );
}
