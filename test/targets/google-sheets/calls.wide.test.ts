import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FormWriter, Target } from '../../../src/mirror/target.ts';
import type { Checkpoint, PassRecord, PickedField, Row } from '../../../src/mirror/types.ts';
import { AT_ONCE, field, FORM, pass, row } from '../../contract/target-harness.ts';
import { GOOGLE_QUOTA } from '../../../src/targets/google-sheets/api/request-quota.ts';
import { SleepersClock, type SheetsPlace, sheetsPlace } from './sheets-place.ts';

/** A form of twenty fields, as the cost table speaks of. */
const FIELDS: PickedField[] = Array.from({ length: 20 }, (_, index) =>
  field(`field_${1700000000 + index}_${(index * 7919).toString(36)}`, `Question ${index + 1}`, {
    position: index,
  }),
);

const WORDS = ['Praha', 'Žižkov', 'yes', 'no', 'maybe later', '+420 777 123 456', '00123'];

/** A submission with answers of the length that people give: names, addresses, a few sentences, numbers. */
function submission(index: number, rest: Partial<Row> = {}): Row {
  const cells = Object.fromEntries(
    FIELDS.map(({ id }, place) => [
      id,
      place % 5 === 4
        ? index * place
        : `${WORDS[(index + place) % WORDS.length]} ${index}-${place}`,
    ]),
  );
  const createdAt = new Date(Date.UTC(2026, 0, 1) + index * 61_000).toISOString();
  return row(`c1f0e2d4-5a6b-4c7d-8e9f-${String(index).padStart(12, '0')}`, cells, {
    createdAt,
    ...rest,
  });
}

describe('what a pass costs in calls, at Google’s own quota', () => {
  let place: SheetsPlace;
  let clock: SleepersClock;
  let target: Target;

  beforeEach(async () => {
    clock = new SleepersClock();
    place = await sheetsPlace({ clock, quota: GOOGLE_QUOTA, sandbox: { quotas: true } });
    target = await place.open();
  });
  afterEach(() => place.dispose());

  const record = (rest: Partial<PassRecord> = {}): PassRecord => {
    const at = new Date(clock.now()).toISOString();
    return pass({ kind: 'full', startedAt: at, endedAt: at, inserted: 0, ...rest });
  };
  const checkpoint = (total: number): Checkpoint => {
    const at = new Date(clock.now()).toISOString();
    return {
      watermark: at.slice(0, 10),
      total,
      provenAt: at,
      fullProvenAt: at,
      absent: 0,
      withheld: 0,
      hidden: 0,
      provenFor: '',
      statuses: null,
      unstored: new Map(),
      countsAt: null,
    };
  };

  /** What the pass does to the target, as `sync` does it. */
  async function mirror(
    rows: readonly Row[],
    on: Target = target,
    total = rows.length,
  ): Promise<{ reads: number; writes: number; changed: number }> {
    place.sandbox.requests.clear();
    let [changed, inserted] = [0, 0];
    await using writer: FormWriter = await on.openWriter(FORM, AT_ONCE);
    await writer.fields();
    await writer.prepare(FIELDS);
    expect(await writer.losses()).toEqual([]);
    await writer.checkpoint();
    for (let start = 0; start < rows.length; start += on.batchRows) {
      const { outcomes } = await writer.apply(rows.slice(start, start + on.batchRows), []);
      changed += outcomes.filter((outcome) => outcome !== 'unchanged').length;
      inserted += outcomes.filter((outcome) => outcome === 'inserted').length;
    }
    expect(await writer.notices()).toEqual([]);
    for await (const ids of writer.liveIds()) expect(ids.length).toBeGreaterThan(0);
    await writer.finish(record({ updated: changed - inserted, inserted }), {
      checkpoint: checkpoint(total),
    });
    await writer[Symbol.asyncDispose]();
    return { ...place.sandbox.requests.counts(), changed };
  }

  const all = (count: number): Row[] =>
    Array.from({ length: count }, (_, index) => submission(index));

  it('stays within 12 for 10,000 new rows, 2 reads for none, 3 for one, 6 for 1,000 of them', async () => {
    const rows = all(10_000);
    const first = await mirror(rows);
    // Once a spreadsheet: one looks whether the tab that came with it is empty, four make the Summary tab.
    expect(first.reads + first.writes).toBeLessThanOrEqual(12 + 5);
    expect(place.sandbox.requests.oversized()).toEqual([]);

    const unchanged = await mirror(rows);
    expect(unchanged).toEqual({ reads: expect.any(Number), writes: 0, changed: 0 });
    expect(unchanged.reads).toBeLessThanOrEqual(2);

    const one = rows.with(4_321, submission(4_321, { status: 'DONE' }));
    const single = await mirror(one);
    expect(single.changed).toBe(1);
    expect(single.reads + single.writes).toBeLessThanOrEqual(3);

    const many = one.map((item, index) =>
      index % 10 === 3 ? submission(index, { status: 'PAID' }) : item,
    );
    const scattered = await mirror(many);
    expect(scattered.changed).toBe(1_000);
    expect(scattered.reads + scattered.writes).toBeLessThanOrEqual(6);

    clock.advance(60_000);
    const fresh = await mirror(many, await place.openElsewhere());
    expect(fresh).toEqual({ reads: expect.any(Number), writes: 0, changed: 0 });
    expect(fresh.reads).toBeLessThanOrEqual(2);
    const more = await mirror(all(20_000).slice(10_000), target, 20_000);
    expect(more.changed).toBe(10_000);
    expect(more.reads + more.writes).toBeLessThanOrEqual(12);
    console.info('calls', { first, unchanged, single, scattered, more, fresh });
  });

  it('keeps a second between requests, and within 60 a minute', async () => {
    for (let round = 0; round < 40; round++) await mirror(all(20 + round));
    const gaps = place.sandbox.requests.gapsMs(place.spreadsheetId);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000);
    expect(place.sandbox.requests.all().filter((call) => call.status === 429)).toEqual([]);
  });
});
