import { distance } from 'fastest-levenshtein';

/** A name that someone may have meant, and its aliases: a label, a title. */
export interface NamedThing {
  readonly name: string;
  readonly aliases?: readonly string[];
}

/** A shorter text is part of too many names to point to one of them. */
const TELLING_LENGTH = 4;

/**
 * The name that `wanted` most likely means: the one that it is an alias of, the one that differs by one or two
 * typing mistakes, or the only one that contains it. Undefined if none is near, because a wrong guess misleads.
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

/** The most edits that count as a typing mistake. IDs with many digits resemble each other, so fewer count there. */
function slipsIn(a: string, b: string): number {
  const length = Math.max(a.length, b.length);
  return Math.floor(length / (/\d{6}/.test(a + b) ? 6 : 3));
}

/** The name without case, accents and punctuation: `Your name`, `your_name` and `your-name` become the same. */
function plainly(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}
