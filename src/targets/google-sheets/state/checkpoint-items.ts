import { countsFrom, countsText, NO_COUNTS, sameCounts } from '../../../mirror/status-counts.ts';
import type { Checkpoint } from '../../../mirror/types.ts';

/** Characters that counts by status may take of a state. */
const MAX_COUNTS = 800;

/** A checkpoint as a list for a form's state. */
export function encodeCheckpoint(checkpoint: Checkpoint | null): unknown[] | null {
  if (checkpoint === null) return null;
  const { watermark, total, provenAt, fullProvenAt, absent, withheld, provenFor, hidden } =
    checkpoint;
  const proven = [watermark, total, provenAt, fullProvenAt, absent, withheld, provenFor, hidden];
  if (checkpoint.statuses === null) return [...proven, null, null, checkpoint.countsAt];
  const counts = [checkpoint.statuses, checkpoint.unstored].map(countsText);
  // Of statuses that are absurdly long or many, nothing is known the next time.
  const fits = counts.join('').length <= MAX_COUNTS;
  return [...proven, ...(fits ? counts : [null, null]), checkpoint.countsAt];
}

/** The reverse; null for a list that is none. */
export function decodeCheckpoint(items: unknown[]): Checkpoint | null {
  const [watermark, total, provenAt, fullProvenAt, absent, withheld, provenFor, hidden] = items;
  const [statuses, unstored, countsAt] = items.slice(8);
  if (typeof provenAt !== 'string') return null;
  return {
    watermark: textOrNull(watermark),
    total: number(total),
    absent: number(absent),
    withheld: number(withheld),
    hidden: number(hidden),
    provenAt,
    fullProvenAt: textOrNull(fullProvenAt),
    provenFor: textOrNull(provenFor) ?? '',
    statuses: countsFrom(textOrNull(statuses)),
    unstored: countsFrom(textOrNull(unstored)) ?? NO_COUNTS,
    countsAt: textOrNull(countsAt),
  };
}

/** True when both account for the same by status. When the source was last seen to agree may wait. */
export function hasSameCounts(before: Checkpoint | null, after: Checkpoint | null): boolean {
  const [was, is] = [before?.statuses ?? null, after?.statuses ?? null];
  if (was === null || is === null) return was === is;
  return (
    sameCounts(was, is) &&
    sameCounts(before?.unstored ?? NO_COUNTS, after?.unstored ?? NO_COUNTS) &&
    (before?.countsAt === null) === (after?.countsAt === null)
  );
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
