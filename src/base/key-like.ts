/** `fsk_9f8e7d6c5b4a39281706`, `sk_live_…`: a prefix, and a long part in which letters and digits mix, or are of both cases. */
const PREFIXED = /^[a-z][a-z0-9]{0,11}(?:[_-][a-z0-9]{1,8})?_([A-Za-z0-9+/-]{16,})$/i;
/** Letters and digits of one piece, a UUID, base64. */
const BARE = /^[A-Za-z0-9+_-][A-Za-z0-9+/_-]{19,}$/;
/** `field_1700000000001_email`, as the API names fields. */
const FIELD_ID = /^field_\d+_/;
/** Header, payload and signature of a token (RFC 7519). */
const WEB_TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;
/** In a random token, letters and digits alternate at least this often. In a name with a year or a number they do not. */
const LEAST_TURNS = 4;

/**
 * True for a text that may contain a key or a password: a prefix with a long random part, a long token of letters
 * and digits, a URL with a password, the text of a private key. Names, paths and addresses do not count; an ID that
 * is as random as a key may. Such a text is never shown (L15), because people paste keys into the wrong line.
 */
export function looksLikeKey(text: string): boolean {
  if (/-----BEGIN|"private_key"|:\/\/[^/\s]*:[^/\s]+@/.test(text)) return true;
  const parts = text.split(text.includes('://') ? /[\s,;="'?&#:@/]+/ : /[\s,;="'?&:@]+/);
  return parts.some((part) => WEB_TOKEN.test(part) || isRandom(part));
}

function isRandom(part: string): boolean {
  if (FIELD_ID.test(part)) return false;
  const [, long] = PREFIXED.exec(part) ?? [];
  if (long !== undefined && (turnsIn(long) > 0 || hasBothCases(long))) return true;
  return BARE.test(part) && turnsIn(part) >= LEAST_TURNS;
}

/** How often a digit follows a letter, or a letter a digit. */
const turnsIn = (text: string): number =>
  [...text.matchAll(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)].length;

const hasBothCases = (text: string): boolean => /[a-z][A-Z][a-z]?[A-Z]|[A-Z][a-z][A-Z]/.test(text);
