import { parseExactJson } from '../mirror/json.ts';
import type { Json } from '../mirror/types.ts';

/**
 * The size of a piece (bytes). V8 maps memory for each text of more than 128 kB, with two bytes per character. For a page of 100
 * submissions, a virtual machine can take longer to provide this memory than V8 to parse the page.
 */
const PIECE_BYTES = 24 * 1_024;
/** In place of the items. */
const PLACEHOLDER = 'the items, parsed in pieces';
const QUOTED = Buffer.from(JSON.stringify(PLACEHOLDER));
const [OPEN, CLOSE] = [Buffer.from('['), Buffer.from(']')] as const;

/**
 * JSON in UTF-8, with a byte order mark or not. Not fatal: one broken byte in one answer must not stop a whole page. Rounds no
 * number (L10). Throws SyntaxError for anything but JSON.
 */
export const parseBody = (body: Buffer): Json => parseInPieces(body) ?? parse(body);

/**
 * A large list whose items are parsed a few at a time. The items, and the list with a placeholder for them, are JSON only if the whole
 * is. Undefined if the body is small or looks different; it may still be JSON.
 */
function parseInPieces(body: Buffer): Json | undefined {
  const start = body.indexOf('[{') + 1;
  const end = body.lastIndexOf('}]') + 1;
  if (start === 0 || end - start < 2 * PIECE_BYTES) return undefined;
  // Items usually begin with the same property, and objects in answers with another one.
  const beginning = body.subarray(start, body.indexOf(':', start) + 1);
  const between = Buffer.concat([Buffer.from('},'), beginning]);
  const items: Json[] = [];
  try {
    for (let at = start; at < end;) {
      const cut = body.indexOf(between, at + PIECE_BYTES) + 1;
      const to = cut === 0 || cut > end ? end : cut;
      items.push(...(parse(OPEN, body.subarray(at, to), CLOSE) as Json[]));
      at = to + 1;
    }
    const list = parse(body.subarray(0, start), QUOTED, body.subarray(end)) as { items?: Json[] };
    const isWhole = list.items?.length === 1 && list.items[0] === PLACEHOLDER;
    return isWhole ? { ...list, items } : undefined;
  } catch {
    return undefined;
  }
}

/** Joins bytes, because joining texts would copy twice as many. */
const parse = (...parts: readonly Buffer[]): Json =>
  parseExactJson(new TextDecoder().decode(Buffer.concat(parts)));
