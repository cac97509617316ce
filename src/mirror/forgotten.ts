import { createHmac, randomBytes } from 'node:crypto';
import type { Rejection, Row } from './types.ts';

/**
 * What is kept of a submission that was forgotten, so that no pass brings it back: a hash keyed by a random salt that
 * stands beside it. It shows nobody an ID, and can't be joined with another list; whoever has the target can still find
 * out whether an ID that they know was forgotten. No setting is the key: with another one the rows would come back.
 */
export function forgottenHash(salt: string, formId: string, submissionId: string): string {
  const id = JSON.stringify([formId, submissionId]);
  return createHmac('sha256', salt).update(id).digest('base64url');
}

/**
 * The IDs that a batch speaks of, some of them twice perhaps: those to be looked up before anything of it is stored. None is
 * made until it is asked for, as most forms have nothing to look them up in.
 */
export function* idsOfBatch(
  rows: readonly Row[],
  rejections: readonly Rejection[],
): Generator<string> {
  for (const { id } of rows) yield id;
  for (const { submissionId } of rejections) yield submissionId;
}

/** The salt of a form's first forgotten submission; later ones take the same. */
export const newSalt = (): string => randomBytes(16).toString('base64url');

/** A shorter ID may be part of any word: it is taken out where it stands alone. */
const TELLING_ID_LENGTH = 6;

/** A message with these IDs taken out, as they are and as they stand in a path. */
export function withoutIds(text: string, ids: Iterable<string>): string {
  let rest = text;
  for (const id of ids) {
    for (const form of new Set([id, encodeURIComponent(id.toWellFormed())])) {
      if (form === '') continue;
      const exact = form.replaceAll(/\W/g, String.raw`\$&`);
      const pattern = id.length < TELLING_ID_LENGTH ? `(?<![\\w-])${exact}(?![\\w-])` : exact;
      rest = rest.replaceAll(new RegExp(pattern, 'g'), '(forgotten)');
    }
  }
  return rest;
}
