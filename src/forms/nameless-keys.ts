import { createHmac, scryptSync } from 'node:crypto';
import { jsonText } from '../mirror/json.ts';
import { ExactNumber, type Json } from '../mirror/types.ts';

/** What an item without an ID is called; the same item is called the same, in every pass and process. */
export type NamelessKey = (item: unknown) => string;

/**
 * Names for items without an ID, which are listed by them. They are made of the whole item, as nothing else distinguishes it,
 * and of `secret`: without it nobody can tell from a name what answers an item holds, not even by guessing (L11). Whoever has
 * the secret, the key of the API, may read the answers themselves.
 */
export function namelessKeys(secret: string): NamelessKey {
  let key: Buffer | undefined;
  return (item) => {
    // Slow on purpose, so that a name is no way to guess the secret either, and done only where there is such an item.
    key ??= scryptSync(secret, 'forms-mirror: items without an ID', 32);
    const digest = createHmac('sha256', key).update(outline(item)).digest('hex');
    return `no-id:k${digest.slice(0, 31)}`;
  };
}

/** Most parts of an item that go into its name. */
const MAX_PARTS = 100_000;

/** A text for an item: another one for another item, as far as so many parts show it. Without recursion, however deep it is. */
function outline(item: unknown): string {
  const texts: string[] = [];
  const left: unknown[] = [item];
  while (left.length > 0 && texts.length < MAX_PARTS) {
    const part = left.pop();
    if (typeof part !== 'object' || part === null || part instanceof ExactNumber) {
      texts.push(jsonText((part ?? null) as Json));
      continue;
    }
    if (Array.isArray(part)) {
      texts.push(`[${part.length}`);
      for (const each of reversed(part)) left.push(each);
      continue;
    }
    const names = Object.keys(part);
    texts.push(`{${names.length}`);
    for (const name of reversed(names)) left.push((part as Record<string, unknown>)[name], name);
  }
  return texts.join(',');
}

const reversed = <T>(parts: readonly T[]): T[] => parts.slice(0, MAX_PARTS).toReversed();
