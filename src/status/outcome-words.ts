import type { PassOutcome } from '../mirror/types.ts';

const OUTCOMES: Readonly<Record<PassOutcome, string>> = {
  ok: 'complete',
  incomplete: 'not proven',
  withheld: 'deletions withheld',
  gone: 'form gone',
  busy: 'busy',
  failed: 'failed',
  cancelled: 'stopped',
};

/** How a pass ended, in a word or two. */
export const outcomeWords = (outcome: PassOutcome): string => OUTCOMES[outcome];
