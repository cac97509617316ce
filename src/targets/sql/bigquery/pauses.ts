import { z } from 'zod';
import type { Pause } from '../../../mirror/pauses.ts';

const PAUSES = z.object({
  pauses: z.array(
    z.object({
      formId: z.string().nullable(),
      since: z.string(),
      by: z.string(),
      reason: z.string().nullable(),
    }),
  ),
});

/** What people have paused, in the order of forms; none of a text that says nothing of it. */
export function pausesFrom(text: string | null): Pause[] {
  if (text === null) return [];
  try {
    const parsed = PAUSES.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data.pauses : [];
  } catch {
    return [];
  }
}

/** The reverse. */
export const pausesText = (pauses: readonly Pause[]): string =>
  JSON.stringify({
    pauses: pauses.toSorted((a, b) => ((a.formId ?? '') < (b.formId ?? '') ? -1 : 1)),
  });
