import { createHmac, randomBytes } from 'node:crypto';

/**
 * What is kept of a submission that was forgotten, so that no pass brings it back: a hash keyed by a random salt that
 * stands beside it. It shows nobody an ID, and can't be joined with another list; whoever has the target can still find
 * out whether an ID that they know was forgotten. No setting is the key: with another one the rows would come back.
 */
export function forgottenHash(salt: string, formId: string, submissionId: string): string {
  const id = JSON.stringify([formId, submissionId]);
  return createHmac('sha256', salt).update(id).digest('base64url');
}

/** The salt of a form's first forgotten submission; later ones take the same. */
export const newSalt = (): string => randomBytes(16).toString('base64url');
