import type { Notice } from '../notice.ts';

/** Why a chat did not take a message, though it answered with success. */
export interface Refusal {
  /** A few words, without anything secret or foreign (L15): `says invalid_payload`. */
  readonly why: string;
  /** Whether the same may be taken later. */
  readonly retry: boolean;
}

/** How one kind of chat is spoken to, as it documents. */
export interface Chat {
  /** As it calls itself. */
  readonly name: string;
  /** Whether an address is one of its webhooks. */
  readonly owns: (url: URL) => boolean;
  /** The body of a post. */
  readonly payload: (notice: Notice) => unknown;
  /** Where it is posted to; by default to the address itself. */
  readonly address?: (url: URL) => URL;
  /** What an answer with success says; undefined: taken. Absent: success is success. */
  readonly refusal?: (body: string) => Refusal | undefined;
  /** The word that a refusal's body holds, safe to show; undefined: none. */
  readonly wordOf?: (body: string) => string | undefined;
  /** The wait that a 429 asks for in its body, in ms; undefined: none. */
  readonly waitMs?: (body: string) => number | undefined;
  /** Why nothing can come from this address any more, as a sentence with what to do; undefined: it is fine. */
  readonly retired?: (url: URL) => string | undefined;
}

/** A word that a chat answers with, such as `channel_is_archived`; undefined for anything else: foreign text is not shown. */
export const wordIn = (body: string): string | undefined =>
  /^[a-z]+(?:_[a-z]+)*$/.exec(body.trim().slice(0, 60))?.[0];

/** For chats that answer a message that they took with `ok`. */
export function notOk(body: string): Refusal | undefined {
  if (body.trim() === 'ok') return undefined;
  const word = wordIn(body);
  return { why: word === undefined ? 'does not say ok' : `says ${word}`, retry: false };
}
