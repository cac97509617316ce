import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CommitEntry,
  type CommitLog,
  headOf,
  nextCommit,
  readCommitLog,
} from '../../../src/targets/google-sheets/commit-log.ts';
import type { MetadataEntry } from '../../../src/targets/google-sheets/api/metadata.ts';
import { propertyRuns } from '../../support/property.ts';

const EMPTY: CommitLog = { entries: [], usedIds: new Set() };
type Note = Omit<CommitEntry, 'number' | 'metadataId'>;
const note = (rest: Partial<Note> = {}): Note => ({
  nonce: 'n1',
  atMs: 1_000_000,
  ...rest,
});

/** A spreadsheet's metadata: refuses an ID that is there, and the whole batch with it. */
class Metadata {
  readonly entries = new Map<number, MetadataEntry>();

  apply(requests: ReturnType<typeof nextCommit>['requests']): boolean {
    const [first] = requests;
    const created = first?.createDeveloperMetadata?.developerMetadata;
    const id = created?.metadataId ?? 0;
    if (this.entries.has(id)) return false;
    this.entries.set(id, {
      id,
      key: created?.metadataKey ?? '',
      value: created?.metadataValue ?? '',
    });
    for (const { deleteDeveloperMetadata } of requests.slice(1)) {
      this.entries.delete(
        deleteDeveloperMetadata?.dataFilter?.developerMetadataLookup?.metadataId ?? 0,
      );
    }
    return true;
  }

  read(): CommitLog {
    return readCommitLog([...this.entries.values()]);
  }
}

describe('the commit log', () => {
  it('counts writes, and names each', () => {
    const sheet = new Metadata();
    const first = nextCommit(EMPTY, note());
    expect(sheet.apply(first.requests)).toBe(true);
    const second = nextCommit(first.log, note({ nonce: 'n2' }));
    expect(sheet.apply(second.requests)).toBe(true);
    expect(sheet.read().entries).toEqual([
      { ...note(), number: 1, metadataId: 1_100_000_001 },
      {
        ...note({ nonce: 'n2' }),
        number: 2,
        metadataId: 1_100_000_002,
      },
    ]);
    expect(headOf(sheet.read())).toBe(2);
    expect(headOf(EMPTY)).toBe(0);
  });

  it('leaves the metadata of others alone, and their numbers', () => {
    const log = readCommitLog(
      [
        { id: 1_100_000_001, key: 'someone', value: 'a.b.c.d' },
        { id: 7, key: 'fm.commit', value: 'a.b.c.d' },
      ],
      [1_100_000_002],
    );
    expect(log.entries).toEqual([]);
    expect(nextCommit(log, note()).entry.metadataId).toBe(1_100_000_003);
  });

  it('L13: lets one of two through that build on the same state', () => {
    const sheet = new Metadata();
    const mine = nextCommit(EMPTY, note());
    const theirs = nextCommit(EMPTY, note({ nonce: 'n2' }));
    expect([sheet.apply(mine.requests), sheet.apply(theirs.requests)]).toEqual([true, false]);
  });

  it('never applies a delayed write after its repetition', () => {
    const sheet = new Metadata();
    const write = nextCommit(EMPTY, note());
    expect(sheet.apply(write.requests)).toBe(true);
    let { log } = write;
    for (let later = 1; later < 300; later++) {
      const next = nextCommit(log, note({ nonce: `x${later}`, atMs: 1_000_000 + later * 1_000 }));
      expect(sheet.apply(next.requests)).toBe(true);
      log = next.log;
      // For as long as a request can be under way, and longer.
      expect(sheet.apply(write.requests)).toBe(false);
    }
  });

  it('stays small, in any rhythm, and never forgets its newest entry', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(2_000_000), { minLength: 1, maxLength: 900, size: 'max' }),
        (gaps) => {
          const sheet = new Metadata();
          let [log, atMs] = [EMPTY, 1_000_000];
          for (const [index, gap] of gaps.entries()) {
            atMs += 1_000 + (index % 50 === 0 ? gap : gap % 900);
            const next = nextCommit(log, note({ nonce: `n${index}`, atMs }));
            expect(sheet.apply(next.requests)).toBe(true);
            log = next.log;
          }
          expect(sheet.read().entries).toEqual(log.entries);
          expect(headOf(log)).toBe(gaps.length);
          const characters = [...sheet.entries.values()].reduce(
            (sum, e) => sum + e.key.length + e.value.length,
            0,
          );
          expect(characters).toBeLessThan(25_000);
        },
      ),
      propertyRuns(20),
    );
  });
});
