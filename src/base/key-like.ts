/** `fsk_9f8e7d6c5b4a39281706`, base64: a long word that mixes letters and digits, or has capitals between small letters. */
const LONG_WORD = /[A-Za-z0-9]{16,}/g;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
/** A path from its root, a host or a file with a dot, an e-mail address: they contain IDs, and people have to write them. */
const PLACE = /^\/|[.@\\]/;
/** A web token (RFC 7519), a private key, an address with a password. */
const OTHERS = /\beyJ[\w-]+\.[\w-]+\.|-----BEGIN|"private_key"|:\/\/[^/\s]*:[^/\s]+@/;

/**
 * Whether a text may contain a key or a password. Names, paths and addresses do not count; an ID that is as random as a key does.
 * Such a text is never shown (L15), because people paste keys into the wrong line.
 */
export const looksLikeKey = (text: string): boolean =>
  OTHERS.test(text) ||
  text
    // The path of a URL may be a key, as for webhooks.
    .split(text.includes('://') ? /[\s,;="'<>/]+/ : /[\s,;="'<>]+/)
    .filter((part) => !PLACE.test(part))
    .some((part) => UUID.test(part) || (part.match(LONG_WORD) ?? []).some(isRandom));

const isRandom = (word: string): boolean =>
  (/\d/.test(word) && /[A-Za-z]/.test(word)) || /[a-z][A-Z][a-z]?[A-Z]|[A-Z][a-z][A-Z]/.test(word);
