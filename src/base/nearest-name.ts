import { distance } from 'fastest-levenshtein';

/** More typing mistakes than this make another name, because IDs with many digits resemble each other. */
const MOST_SLIPS = 2;

/**
 * The name that `wanted` most likely means: it differs by at most two typing mistakes. Undefined if there is none, because a wrong
 * guess misleads.
 */
export function nearestName(wanted: string, names: Iterable<string>): string | undefined {
  const plain = plainly(wanted);
  const near = Array.from(names, (name) => ({ name, edits: distance(plain, plainly(name)) }));
  const [best] = near.toSorted((a, b) => a.edits - b.edits);
  if (best === undefined || best.edits > Math.min(MOST_SLIPS, (plain.length - 1) / 2))
    return undefined;
  return best.name;
}

/** The name without case, accents and punctuation: `Your name`, `your_name` and `your-name` become equal. */
function plainly(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}
