import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CommitLog,
  type CommitNote,
  headOf,
  leaseLeftMs,
  nextCommit,
  overtaken,
  readCommitLog,
} from '../../../../src/targets/google-sheets/state/commit-log.ts';
import type { MetadataEntry } from '../../../../src/targets/google-sheets/api/metadata.ts';
import { propertyRuns } from '../../../support/property.ts';

const EMPTY: CommitLog = { entries: [], usedIds: new Set() };
const note = (rest: Partial<CommitNote> = {}): CommitNote => ({
  nonce: 'n1',
  holder: 'h1',
  form: 'formA',
  atMs: 1_000_000,
  leaseMs: 10_000,
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
  it('counts writes and records who wrote what', () => {
    const sheet = new Metadata();
    const first = nextCommit(EMPTY, note());
    expect(sheet.apply(first.requests)).toBe(true);
    const second = nextCommit(
      first.log,
      note({ nonce: 'n2', holder: 'h2', form: 'formB', leaseMs: 0 }),
    );
    expect(sheet.apply(second.requests)).toBe(true);
    expect(sheet.read().entries).toEqual([
      { ...note(), number: 1, metadataId: 1_100_000_001 },
      {
        ...note({ nonce: 'n2', holder: 'h2', form: 'formB', leaseMs: 0 }),
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
        { id: 1_100_000_001, key: 'someone', value: 'a.b.c.d.e' },
        { id: 7, key: 'fm.commit', value: 'a.b.c.d.e' },
      ],
      [1_100_000_002],
    );
    expect(log.entries).toEqual([]);
    expect(nextCommit(log, note()).entry.metadataId).toBe(1_100_000_003);
  });

  it('L13: lets one of two through that build on the same state', () => {
    const sheet = new Metadata();
    const mine = nextCommit(EMPTY, note());
    const theirs = nextCommit(EMPTY, note({ nonce: 'n2', holder: 'h2' }));
    expect([sheet.apply(mine.requests), sheet.apply(theirs.requests)]).toEqual([true, false]);
    expect(overtaken(sheet.read(), 0, 'formA', 'h2')).toBe(true);
    expect(overtaken(sheet.read(), 0, 'formB', 'h2')).toBe(false);
    expect(overtaken(sheet.read(), 0, 'formA', 'h1')).toBe(false);
    expect(overtaken(sheet.read(), 1, 'formA', 'h2')).toBe(false);
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

  it('is a lease for others, until it ends or is given back', () => {
    const { log } = nextCommit(EMPTY, note());
    expect(leaseLeftMs(log, 'h1', 1_000_000)).toBe(0);
    expect(leaseLeftMs(log, 'h2', 1_000_000)).toBe(10_000);
    expect(leaseLeftMs(log, 'h2', 1_009_000)).toBe(1_000);
    expect(leaseLeftMs(log, 'h2', 1_010_000)).toBe(0);
    expect(leaseLeftMs(nextCommit(log, note({ leaseMs: 0 })).log, 'h2', 1_000_000)).toBe(0);
    // A clock that is an hour ahead of ours locks no other process out for an hour.
    expect(leaseLeftMs(log, 'h2', 1_000_000 - 3_600_000)).toBe(10_000);
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
