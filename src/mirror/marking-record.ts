import { errorCodeOrNull } from '../base/errors.ts';
import type { MarkingRecord } from './target.ts';

/** A record as it is kept as JSON; null for a text that is none. */
export function markingRecord(text: string): MarkingRecord | null {
  try {
    const { since, code, error, refused } = JSON.parse(text) as Record<string, unknown>;
    if (typeof since !== 'string' || typeof refused !== 'number') return null;
    const message = typeof error === 'string' ? error : null;
    return { since, code: errorCodeOrNull(code), error: message, refused };
  } catch {
    return null;
  }
}

/** True when the one says the same as the other, whatever submission it names. */
export const saysTheSame = (one: MarkingRecord | null, other: MarkingRecord | null): boolean =>
  one?.code === other?.code && one?.refused === other?.refused;
