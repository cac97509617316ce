import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FormWriter } from '../../src/mirror/target.ts';
import { SqlFormWriter } from '../../src/targets/sql/form-writer.ts';
import { SyncPlace } from '../support/sync-place.ts';
import { openSynced, windowsOf } from './large-form.ts';

/** What passes call, of a target that judges rows by what it remembers of them. */
let calls: (readonly ['distrust', unknown] | 'apply')[] = [];
let hasEdited = false;

const writers: Pick<FormWriter, 'apply' | 'distrustEdited'> = SqlFormWriter.prototype;
const { apply } = writers;

beforeEach(() => {
  [calls, hasEdited] = [[], false];
  writers.distrustEdited = async (spans) => {
    calls.push(['distrust', spans]);
    return hasEdited;
  };
  writers.apply = function (this: FormWriter, ...batch) {
    calls.push('apply');
    return apply.call(this, ...batch);
  };
});

afterEach(() => {
  delete writers.distrustEdited;
  writers.apply = apply;
});

describe('rows that people may have changed are distrusted', () => {
  it('L1: by a full pass, before it compares any', async () => {
    const place = await SyncPlace.open({ submissions: 5 });
    await place.pass('full');
    expect(calls).toEqual([['distrust', 'all'], 'apply']);
  });

  it('L17: by a comparison of windows, in those alone', async () => {
    const place = await openSynced();
    const [one, two] = await windowsOf(place);
    calls = [];
    await place.pass('compare', { windows: [one!, two!] });
    const [first, ...rest] = calls;
    expect(first).toEqual(['distrust', [one, two]]);
    expect(new Set(rest)).toEqual(new Set(['apply']));
  });

  it('by no pass that looks for what is new', async () => {
    const place = await SyncPlace.open({ submissions: 5 });
    await place.pass('full');
    calls = [];
    place.submit();
    expect(await place.pass('incremental')).toMatchObject({ kind: 'incremental', inserted: 1 });
    expect(calls).toEqual(['apply']);
  });

  it.each([
    [false, ['apply', 'distrust']],
    [true, ['apply', 'distrust', 'apply']],
  ])(
    'L17: a pass that comes to read all and then calls itself a full one reads them again where any were changed (%s)',
    async (has, expected) => {
      const place = await SyncPlace.open({ submissions: 5 });
      await place.pass('full');
      [calls, hasEdited] = [[], has];
      place.store.delete(place.submit());
      const [gone] = place.sourceIds();
      place.store.delete(gone!);
      expect(await place.pass('incremental')).toMatchObject({ kind: 'full', deleted: 1 });
      expect(calls.map((call) => (call === 'apply' ? call : call[0]))).toEqual(expected);
    },
  );
});
