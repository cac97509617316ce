import { describe, expect, it } from 'vitest';
import { MovingSource, StoredIds } from './moving-source.ts';

/** A list of `count` submissions in pages of ten, newest first. */
function sourceOf(count: number): MovingSource {
  const source = new MovingSource('newest', 10, () => 0);
  for (let n = 0; n < count; n++) source.insert();
  return source;
}

/** From now on `total` is no more than one page holds; the number of pages stays right. */
function countOnePage(source: MovingSource): void {
  const list = source.listSubmissions;
  source.listSubmissions = async (query) => ({ ...(await list(query)), total: source.limit });
}

describe('a total that counts less than the list shows', () => {
  it('L17: proves no full pass, first or later', async () => {
    const source = sourceOf(40);
    countOnePage(source);
    const target = new StoredIds();
    expect(await target.pass(source, 'full')).toBe(false);
    expect(await target.pass(source, 'full')).toBe(false);
    expect(target.stored.size).toBe(40);
  });

  it('L17: proves no incremental pass, and what the list shows is stored', async () => {
    const source = sourceOf(25);
    const target = new StoredIds();
    expect(await target.pass(source, 'full')).toBe(true);
    for (let n = 0; n < 15; n++) source.insert();
    countOnePage(source);
    expect(await target.pass(source, 'incremental')).toBe(false);
    expect(target.stored.size).toBe(40);
  });

  it('L2: one that arrives while another goes is no contradiction for long', async () => {
    const source = sourceOf(40);
    const target = new StoredIds();
    source.onRequest = () => {
      if (source.requests !== 3) return;
      source.delete(0);
      source.insert();
    };
    expect(await target.pass(source, 'full')).toBe(true);
    expect(source.items.filter(({ id }) => !target.stored.has(id))).toEqual([]);
  });
});
