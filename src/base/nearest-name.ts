import { distance } from 'fastest-levenshtein';

/** A name that someone may have meant, and what else it is called: a label, a title. */
export interface NamedThing {
  readonly name: string;
  readonly aliases?: readonly string[];
}

/** Shorter pieces are part of too many names to mean one. */
const TELLING_LENGTH = 4;

/**
 * The name that was likely meant by `wanted`: one that it is an alias of, that differs from it by a slip or two, or the only
 * one that it is part of. Undefined when none is near: a wild guess misleads more than none.
 */
export function nearestName(wanted: string, things: readonly NamedThing[]): string | undefined {
  const plain = plainly(wanted);
  if (plain === '') return undefined;
  let best: { name: string; edits: number } | undefined;
  const holding = new Set<string>();
  for (const { name, aliases = [] } of things) {
    for (const called of [name, ...aliases].map(plainly)) {
      if (called === '') continue;
      const edits = distance(plain, called);
      if (edits <= slipsIn(plain, called) && (best === undefined || edits < best.edits)) {
        best = { name, edits };
      }
      const [short, long] = plain.length < called.length ? [plain, called] : [called, plain];
      if (short.length >= TELLING_LENGTH && long.includes(short)) holding.add(name);
    }
  }
  if (best !== undefined) return best.name;
  return holding.size === 1 ? [...holding][0] : undefined;
}

/** So many edits may be slips. Long digits make any two IDs look alike, so fewer count there. */
function slipsIn(a: string, b: string): number {
  const length = Math.max(a.length, b.length);
  return Math.floor(length / (/\d{6}/.test(a + b) ? 6 : 3));
}

/** Without case, accents and punctuation: `Your name`, `your_name` and `your-name` are the same slip. */
function plainly(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}
