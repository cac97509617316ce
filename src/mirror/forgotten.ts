import { createHmac, randomBytes } from 'node:crypto';
import { printable } from '../base/printable.ts';

/* How a target remembers an erased submission without its ID (L18). */

/** What to do after the list of forgotten submissions was lost, for messages. */
export const FORGET_AGAIN =
  'Then run forms-mirror forget again for submissions that were erased on request.';

/**
 * The digest by which a target knows a forgotten submission, so that no run brings it back: a random salt, and a hash that it keys.
 * It does not show the ID, and cannot be joined with another list. A reader of the target can still find out whether a known ID was
 * forgotten. The salt is not a setting, because a changed setting would bring the rows back.
 */
export function forgottenDigest(salt: string, formId: string, submissionId: string): string {
  const id = JSON.stringify([formId, submissionId]);
  return salt + createHmac('sha256', salt).update(id).digest('base64url');
}

const SALT_BYTES = 16;
const SALT_CHARACTERS = Math.ceil((SALT_BYTES * 8) / 6);

/** The salt for all digests of a form: that of any of them, or a new one before the first. */
export const saltOf = (digest: string | undefined): string =>
  digest?.slice(0, SALT_CHARACTERS) ?? randomBytes(SALT_BYTES).toString('base64url');

/** Whether a message names one of these submissions: not as a part of a longer word. In a message, an ID is printable. */
export const namesAny = (message: string | null, ids: readonly string[]): boolean =>
  message !== null &&
  ids.some((id) =>
    new RegExp(
      String.raw`(?<![\p{L}\p{N}_-])${RegExp.escape(printable(id))}(?![\p{L}\p{N}_-])`,
      'u',
    ).test(message),
  );
