import type { FormOverview } from './target.ts';

/** What the newest look found of a form. */
export interface FormLook {
  /** When it was (ISO). */
  readonly at: string;
  /** It found the form to differ, or could not judge it: a pass is to. */
  readonly isOpen: boolean;
  /** Its counts by status differed, so that only a pass that compares settles it. */
  readonly isDiffering?: boolean;
  /** Where it did not count the form's statuses: when one last did and found them as accounted for (ISO), null where that is not known. */
  readonly countedAt?: string | null;
  /** The brake withholds deletions of it, and both sides were found as they were when a pass last left that to a person. */
  readonly isWithheld?: boolean;
}

/**
 * When a look last counted a form's statuses and found them as accounted for (ISO); null where that is not known, as it is of a
 * form whose deletions are withheld: nothing compares it with its copy.
 */
export function countedAt(look: FormLook | null): string | null {
  if (look === null || look.isOpen || look.isWithheld === true) return null;
  return look.countedAt === undefined ? look.at : look.countedAt;
}

/** What tells how a look and a form's passes stand to each other. */
type Looked = Pick<FormOverview, 'look' | 'checkpoint' | 'losses' | 'goneAt'>;

/**
 * When a look last found the form to be as it is accounted for (ISO), by its counts; what they say of statuses, {@link countedAt}
 * tells. Null where none did since the last proven pass, or where a look says nothing: of a form that is gone, was damaged,
 * or is proven with reservations, but for deletions that are withheld still.
 */
export function lookedAt({ look, checkpoint, losses, goneAt }: Looked): string | null {
  if (look === null || look.isOpen || checkpoint === null) return null;
  const { statuses, absent, withheld, hidden, provenAt } = checkpoint;
  const isAsWithheld = look.isWithheld === true && withheld > 0;
  const isWhole = (statuses !== null && withheld === 0) || isAsWithheld;
  if (!isWhole || absent + hidden !== 0 || losses.length > 0 || goneAt !== null) return null;
  return Date.parse(look.at) > Date.parse(provenAt) ? look.at : null;
}

/**
 * Since when a form is known, or suspected, to differ from the source, and no pass has settled it (ISO); null where that is not
 * so. Where counts by status differed, a pass has settled it whose own comparison agreed, or that read everything.
 */
export function differsSince({
  look,
  checkpoint,
}: Pick<Looked, 'look' | 'checkpoint'>): string | null {
  if (look === null || !look.isOpen || checkpoint === null) return null;
  const { provenAt, countsAt, fullProvenAt } = checkpoint;
  const settledAt = look.isDiffering === true ? [countsAt, fullProvenAt] : [provenAt];
  const isSettled = settledAt.some((at) => at !== null && Date.parse(at) >= Date.parse(look.at));
  return isSettled ? null : look.at;
}

/** When the statuses were last seen to agree with the source: by their counts, or row by row (ISO); null for never. */
export function statusesAt(overview: Looked): string | null {
  const { checkpoint } = overview;
  const times = [
    lookedAt(overview) === null ? null : countedAt(overview.look),
    checkpoint?.countsAt ?? null,
    checkpoint?.fullProvenAt ?? null,
  ];
  return times
    .filter((time) => time !== null)
    .reduce<string | null>((last, time) => (last !== null && last >= time ? last : time), null);
}
