import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashedCell, looksHashed } from '../../../src/mirror/hashing.ts';
import { parsePicks } from '../../../src/mirror/picks.ts';
import type { Cell } from '../../../src/mirror/types.ts';
import { SheetMirror } from './sheet-mirror.ts';

const [NAME, AGE] = [2, 3];
const HASHING = {
  picks: parsePicks(['*'], ['contact:*']),
  hashKey: 'hJ2mQ9xT4bN7vK1wR8cF5yL0pZ3sD6gA',
};

describe('hashing switched on over a plain sheet', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(30);
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  it('L11, L18: leaves no plain answer in the form’s tab, its rows marked deleted, or the tabs of our own', async () => {
    mirror.store.delete('s3');
    await mirror.pass('full');
    const { inspect } = mirror.place.sandbox;
    const id = mirror.place.spreadsheetId;
    const grids = () => inspect.tabs(id).map(({ title }) => inspect.grid(id, title));
    const everywhere = (): string => JSON.stringify([grids(), inspect.metadata(id)]);
    expect(everywhere()).toContain('Person 3');
    const report = await mirror.pass('incremental', false, HASHING);
    expect(report).toMatchObject({ kind: 'full', outcome: 'ok', updated: 29 });
    expect(report.reason).toMatch(/^Other fields are hashed/);
    const cells = mirror
      .grid()
      .slice(1)
      .flatMap((row) => [row[NAME], row[AGE]] as Cell[]);
    expect(cells.filter((cell) => !looksHashed(cell))).toEqual([]);
    expect(cells).toContain(hashedCell('Person 3', HASHING.hashKey));
    expect(everywhere()).not.toMatch(/Person \d/);
    expect((await mirror.overview())?.deletedRows).toBe(1);
    expect(await mirror.verify(HASHING)).toMatchObject({ outcome: 'same', plain: { count: 0 } });
    mirror.place.sandbox.requests.clear();
    const again = await mirror.pass('incremental', false, HASHING);
    expect([again.kind, mirror.place.sandbox.requests.counts().writes]).toEqual(['incremental', 0]);
  });

  it('L11, L18: hashes the answers of a row marked deleted, though its mark is protected', async () => {
    mirror.store.delete('s3');
    await mirror.pass('full');
    mirror.person.protect({ left: AGE + 1, right: AGE + 2 });
    await mirror.pass('incremental', false, HASHING);
    expect(JSON.stringify(mirror.grid())).not.toMatch(/Person \d/);
    expect((await mirror.overview())?.deletedRows).toBe(1);
    expect(await mirror.verify(HASHING)).toMatchObject({ outcome: 'same', plain: { count: 0 } });
  });
});
