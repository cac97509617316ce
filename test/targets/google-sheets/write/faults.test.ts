import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FormWriter, Target } from '../../../../src/mirror/target.ts';
import type { FaultRule } from '../../../../src/sandbox/faults.ts';
import {
  AT_ONCE,
  CHECKPOINT,
  FORM,
  NAME,
  pass,
  row,
  sorted,
} from '../../../contract/target-harness.ts';
import { SleepersClock, type SheetsPlace, sheetsPlace } from '../sheets-place.ts';

const BATCH = /:batchUpdate$/;
const SECRET = 'an answer that must never be in a log';

describe('faults of the Sheets API', () => {
  let place: SheetsPlace;
  let clock: SleepersClock;
  let target: Target;

  beforeEach(async () => {
    clock = new SleepersClock();
    place = await sheetsPlace({ clock });
    target = await place.open();
  });
  afterEach(() => place.dispose());

  const ids = (): string[] =>
    place.sandbox.inspect
      .grid(place.spreadsheetId, 'Contact form')
      .slice(1)
      .map((cells) => String(cells.at(-1)));
  const writes = (): number => place.sandbox.requests.counts().writes;
  const writer = async (): Promise<FormWriter> => {
    const one = await target.openWriter(FORM, AT_ONCE);
    await one.prepare([NAME]);
    place.sandbox.requests.clear();
    return one;
  };

  it('look at the sheet again, once, where a request is refused for a reason that nobody knows', async () => {
    await using one = await writer();
    const message = `Invalid requests[1].insertDimension: not now, "${SECRET}"`;
    const body = JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } });
    place.sandbox.faults.add({ path: BATCH, status: 400, body, times: 1 });
    await one.apply([row('a', { field_1_a: 'x' })], []);
    expect(ids()).toEqual(['a']);
    place.sandbox.faults.add({ path: BATCH, status: 400, body, times: Infinity });
    const refused = one.apply([row('b', { field_1_a: 'y' })], []);
    await expect(refused).rejects.toMatchObject({ code: 'TARGET_FAILED', retryable: false });
    await expect(refused).rejects.toThrow(/status 400 \(request 1, insertDimension\)/);
    expect(place.sandbox.faults.tally().at(-1)?.hit).toBe(2);
  });

  it.each<[string, FaultRule]>([
    ['applied, then 503', { path: BATCH, status: 503, applied: true }],
    ['applied, then 500', { path: BATCH, status: 500, applied: true }],
    [
      'applied, then silence of the connection',
      { path: BATCH, dropConnection: true, applied: true },
    ],
    ['applied, with an answer that breaks off', { path: BATCH, cutBodyAt: 20, applied: true }],
    ['503 and not applied', { path: BATCH, status: 503 }],
    ['503 three times', { path: BATCH, status: 503, times: 3 }],
    [
      'applied, and then the log cannot be read at once',
      { path: BATCH, status: 503, applied: true },
    ],
    ['dropped', { path: BATCH, dropConnection: true }],
    ['429, twice', { path: BATCH, status: 429, times: 2, retryAfter: 7 }],
  ])('leave each row once and its changes made: a write that is %s', async (name, rule) => {
    await using one = await writer();
    place.sandbox.faults.add(rule);
    if (name.includes('log cannot be read')) {
      place.sandbox.faults.add({ method: 'GET', status: 503, times: 2 });
    }
    const rows = ['a', 'b', 'c'].map((id) => row(id, { field_1_a: id }));
    expect((await one.apply(rows, [])).outcomes).toEqual(['inserted', 'inserted', 'inserted']);
    expect(ids()).toEqual(['a', 'b', 'c']);
    place.sandbox.faults.add(rule);
    const changed = ['c', 'a'].map((id) => row(id, { field_1_a: `new ${id}` }));
    expect((await one.apply(changed, [])).outcomes).toEqual(['updated', 'updated']);
    expect(ids()).toEqual(['a', 'b', 'c']);
    await one[Symbol.asyncDispose]();
    const stored = await (await target.reader(FORM.id))?.rows(['a', 'b', 'c']);
    expect([...(stored?.values() ?? [])].map((item) => item.cells.get('field_1_a'))).toEqual([
      'new a',
      'b',
      'new c',
    ]);
  });

  it('wait as long as Google asks', async () => {
    await using one = await writer();
    place.sandbox.faults.add({ path: BATCH, status: 429, retryAfter: 45 });
    const before = clock.now();
    await one.apply([row('a')], []);
    expect(clock.now() - before).toBeGreaterThanOrEqual(45_000);
  });

  it('end in an error that holds no answer, and in no half of a write', async () => {
    const one = await writer();
    const rule: FaultRule = { path: BATCH, status: 503, times: Number.POSITIVE_INFINITY };
    const remove = place.sandbox.faults.add(rule);
    const error: unknown = await one
      .apply([row('a', { field_1_a: SECRET })], [])
      .catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'TARGET_UNREACHABLE', retryable: true });
    // L11: Google's client puts the request into its errors, and so the answers.
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(SECRET);
    expect(JSON.stringify(error)).not.toContain(SECRET);
    expect(ids()).toEqual([]);
    remove();
    // The same writer goes on from a new read.
    expect((await one.apply([row('a', { field_1_a: SECRET })], [])).outcomes).toEqual(['inserted']);
    await one[Symbol.asyncDispose]();
    expect(ids()).toEqual(['a']);
  });

  it('of an unknown kind quote nothing of Google’s message', async () => {
    await using one = await writer();
    const message = `Invalid value at 'requests[2].update_cells', "${SECRET}"`;
    const body = JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } });
    place.sandbox.faults.add({ path: BATCH, status: 400, body });
    const error: unknown = await one.apply([row('a')], []).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'TARGET_FAILED', retryable: false });
    expect(inspect(error, { depth: 20 })).not.toContain(SECRET);
  });

  it('L5: leave nothing behind when the process is killed after any of its requests', async () => {
    const rows = ['a', 'b', 'c'].map((id) => row(id, { field_1_a: id }));
    for (let alive = 0; alive < 8; alive++) {
      const doomed = await place.openElsewhere();
      const plug = place.sandbox.faults.add({
        dropConnection: true,
        after: alive,
        times: Number.POSITIVE_INFINITY,
      });
      const attempt = async (): Promise<void> => {
        const one = await doomed.openWriter(FORM, AT_ONCE);
        await one.prepare([NAME]);
        await one.apply(rows.slice(0, 1 + (alive % 3)), []);
        await one.finish(pass(), { checkpoint: CHECKPOINT });
      };
      await attempt().catch(() => {});
      plug();
      clock.advance(120_000);
    }
    const after = await place.openElsewhere();
    await using one = await after.openWriter(FORM, AT_ONCE);
    await one.prepare([NAME]);
    await one.apply(rows, []);
    expect(await sorted(one.liveIds())).toEqual(['a', 'b', 'c']);
    expect(ids().sort()).toEqual(['a', 'b', 'c']);
    const tabs = place.sandbox.inspect.tabs(place.spreadsheetId).map((tab) => tab.title);
    expect(tabs.filter((title) => title.startsWith('Contact form'))).toEqual(['Contact form']);
  });

  it('L13: let a writer that was passed by write nothing, and say so', async () => {
    const slow = await writer();
    clock.advance(600_000);
    const other = await place.openElsewhere();
    {
      await using quick = await other.openWriter(FORM, AT_ONCE);
      await quick.prepare([NAME]);
      await quick.apply([row('a')], []);
    }
    const before = place.sandbox.inspect.revision(place.spreadsheetId);
    await expect(slow.apply([row('a'), row('b')], [])).rejects.toMatchObject({
      code: 'TARGET_LOST_LOCK',
      retryable: true,
    });
    expect(place.sandbox.inspect.revision(place.spreadsheetId)).toBe(before);
    await slow[Symbol.asyncDispose]();
  });

  it('L12: let two processes write two forms of one spreadsheet in turn', async () => {
    const [one, two] = [await place.openElsewhere(), await place.openElsewhere()];
    const other = { ...FORM, id: 'frm_2', name: 'Other' };
    await using first = await one.openWriter(FORM, AT_ONCE);
    await using second = await two.openWriter(other, AT_ONCE);
    await first.prepare([NAME]);
    await second.prepare([NAME]);
    for (let index = 0; index < 5; index++) {
      await first.apply([row(`a${index}`)], []);
      await second.apply(
        [row(`b${index}`)],
        [{ submissionId: `b${index}`, reason: 'odd', stored: true }],
      );
    }
    await first.recordRefusals([
      {
        submissionId: 'a0',
        status: 'NEW',
        wanted: 'DONE',
        reason: 'no',
        at: '2026-03-02T08:00:00.000Z',
      },
    ]);
    const overview = await target.overview();
    expect(overview.map((form) => [form.name, form.rows, form.rejected])).toEqual([
      ['Contact form', 5, 0],
      ['Other', 5, 5],
    ]);
    expect(await (await target.reader(FORM.id))?.refusals('a0')).toHaveLength(1);
    expect(writes()).toBeGreaterThan(0);
  });
});
