import { describe, expect, it } from 'vitest';
import type { SubmissionItem } from '../../src/forms/client.ts';
import { parsePicks } from '../../src/mirror/picks.ts';
import { ProofLedger } from '../../src/mirror/proof.ts';
import type { FormWriter } from '../../src/mirror/target.ts';
import type { Form, Row } from '../../src/mirror/types.ts';
import { dryRunWriter } from '../../src/sync/dry-run-writer.ts';
import type { LabelCache } from '../../src/sync/label-cache.ts';
import { RowSink } from '../../src/sync/row-sink.ts';

const form: Form = { id: 'f', slug: 'f', name: 'F', fields: [{ id: 'a', label: 'A' }] };

const page = (
  from: number,
  size: number,
  answers: [string, string][] = [['a', 'x']],
): SubmissionItem[] =>
  Array.from({ length: size }, (_, n) => {
    const id = `s${from + n}`;
    const createdAt = '2026-01-01T00:00:00Z';
    const submission = { id, formId: 'f', status: 'NEW', createdAt, data: new Map(answers) };
    return { key: id, submission, defects: [] };
  });

/** A sink over a writer that keeps its batches instead of writing them. */
async function recording(
  picks = ['*'],
  later = form,
  other: { apply?: FormWriter['apply']; ledger?: ProofLedger } = {},
): Promise<{ sink: RowSink; batches: Row[][] }> {
  const batches: Row[][] = [];
  const apply: FormWriter['apply'] = async (rows) => {
    batches.push([...rows]);
    return {
      outcomes: rows.map(() => 'inserted'),
      rejections: [],
      newlyListed: new Set(),
      forgotten: new Set(),
    };
  };
  const labels: Pick<LabelCache, 'formWith'> = { formWith: async () => later };
  const sink = new RowSink({
    form,
    writer: Object.assign(dryRunWriter(undefined), { apply: other.apply ?? apply }),
    batchRows: 250,
    picks: parsePicks(picks),
    hashKey: undefined,
    labels: labels as LabelCache,
    ledger: other.ledger ?? new ProofLedger(),
    call: {},
    beforeBatch: async () => {},
    onBatch: () => {},
    onColumns: () => {},
  });
  await sink.open(false);
  return { sink, batches };
}

describe('what a pass writes to its target', () => {
  it('L14: comes in batches, whatever the size of the form', async () => {
    const { sink, batches } = await recording();
    for (let from = 0; from < 5_000; from += 100) await sink.take(page(from, 100));
    await sink.flush();
    expect(Math.max(...batches.map((rows) => rows.length))).toBeLessThanOrEqual(350);
    expect(batches.flat().length).toBe(5_000);
  });

  it('L1: has each ID once in a batch, as last seen', async () => {
    const { sink, batches } = await recording();
    await sink.take(page(0, 3, [['a', 'old']]));
    await sink.take(page(2, 3, [['a', 'new']]));
    await sink.flush();
    expect(batches.map((rows) => rows.map(({ id }) => id))).toEqual([
      ['s0', 's1', 's2', 's3', 's4'],
    ]);
    expect(batches[0]?.[2]?.cells.get('a')).toBe('new');
  });

  it('L4, L9: keeps the field that is deleted between two readings of the labels', async () => {
    const { sink } = await recording(['*'], { ...form, fields: [] });
    await sink.take(page(0, 1, [['field_gone', 'y']]));
    expect(sink.fields.map(({ id }) => id)).toEqual(['a', 'field_gone']);
    expect(sink.wasKnown).toBe(false);
  });

  it('L9, L11: has columns for fields outside the schema only where the whole form is picked', async () => {
    const unlisted: [string, string][] = [
      ['a', 'x'],
      ['field_gone', 'y'],
    ];
    const all = await recording(['*']);
    await all.sink.take(page(0, 1, unlisted));
    await all.sink.flush();
    expect([...(all.batches[0]?.[0]?.cells.keys() ?? [])]).toEqual(['a', 'field_gone']);
    const one = await recording(['a']);
    await one.sink.take(page(0, 1, unlisted));
    await one.sink.flush();
    expect([...(one.batches[0]?.[0]?.cells.keys() ?? [])]).toEqual(['a']);
  });

  it('L6: separates items of another form and items without an ID from rows', async () => {
    const { sink, batches } = await recording();
    const [foreign] = page(0, 1);
    const moved = { ...foreign!, submission: { ...foreign!.submission!, formId: 'other' } };
    await sink.take([moved, { key: 'no-id:1', submission: null, defects: ['id is missing'] }]);
    await sink.flush();
    expect([batches, sink.rejected]).toEqual([[[]], 2]);
  });

  it('L2: a row that is listed for the first time does not make known items of its batch new', async () => {
    const ledger = new ProofLedger();
    const known: SubmissionItem = { key: 'no ID 1', submission: null, defects: ['id is missing'] };
    const apply: FormWriter['apply'] = async (rows) => ({
      outcomes: rows.map(() => 'inserted'),
      rejections: [],
      newlyListed: new Set(['s0']),
      forgotten: new Set(),
    });
    const { sink } = await recording(['*'], form, { apply, ledger });
    ledger.begin({ total: 2, keys: [], createdAts: [], strict: false });
    const [odd] = page(0, 1);
    await sink.take([{ ...odd!, defects: ['createdAt is missing'] }, known]);
    await sink.flush();
    expect([ledger.isNewcomer('s0'), ledger.isNewcomer('no ID 1')]).toEqual([true, false]);
  });
});

/** A sink whose batches become durable one by one, when the test says so. */
async function gated(): Promise<{
  sink: RowSink;
  ledger: ProofLedger;
  batches: PromiseWithResolvers<void>[];
  sizes: number[];
}> {
  const ledger = new ProofLedger();
  const batches: PromiseWithResolvers<void>[] = [];
  const sizes: number[] = [];
  const apply: FormWriter['apply'] = async (rows) => {
    const batch = Promise.withResolvers<void>();
    sizes.push(rows.length);
    batches.push(batch);
    await batch.promise;
    return {
      outcomes: rows.map(() => 'inserted'),
      rejections: [],
      newlyListed: new Set(),
      forgotten: new Set(),
    };
  };
  const { sink } = await recording(['*'], form, { apply, ledger });
  return { sink, ledger, batches, sizes };
}

/** Whether a promise has settled once all else that is ready has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<false>((done) => setImmediate(() => done(false)))]);
}

describe('a batch on its way to the target', () => {
  it('L1: lets further pages be taken, and is in the ledger once it is durable, one batch after the other', async () => {
    const { sink, ledger, batches } = await gated();
    await sink.take(page(0, 250));
    await sink.take(page(250, 400));
    const full = sink.take(page(650, 150));
    expect(await isSettled(full)).toBe(false);
    expect([batches.length, ledger.distinct]).toEqual([1, 0]);
    batches[0]?.resolve();
    await full;
    expect([batches.length, ledger.distinct]).toEqual([2, 250]);
    const flushed = sink.flush();
    for (const next of [1, 2, 3]) {
      expect(await isSettled(flushed)).toBe(false);
      batches[next]?.resolve();
    }
    await flushed;
    expect(ledger.distinct).toBe(800);
  });

  it('L14: is one of at most three that are in memory, and no larger than the target wants it', async () => {
    const { sink, ledger, sizes, batches } = await gated();
    await sink.take(page(0, 250));
    const full = sink.take(page(250, 500));
    batches[0]?.resolve();
    await full;
    const flushed = sink.flush();
    for (const next of [1, 2]) {
      expect(await isSettled(flushed)).toBe(false);
      batches[next]?.resolve();
    }
    await flushed;
    expect([sizes, ledger.distinct]).toEqual([[250, 250, 250], 750]);
  });

  it('L1, L6: is waited for by an item that it holds as well', async () => {
    const { sink, ledger, batches } = await gated();
    ledger.beginSweep();
    await sink.take(page(0, 250));
    const again = sink.take(page(249, 1));
    expect(await isSettled(again)).toBe(false);
    batches[0]?.resolve();
    await again;
    expect(ledger.metInSweep('s249')).toBe(true);
  });

  it('L17: that fails makes the next batch fail, or the flush, and nothing else', async () => {
    for (const goOn of ['take', 'flush'] as const) {
      const { sink, ledger, batches } = await gated();
      await sink.take(page(0, 250));
      batches[0]?.reject(new Error('the disk is full'));
      await sink.take(page(250, 100));
      const next = goOn === 'flush' ? sink.flush() : sink.take(page(350, 150));
      await expect(next).rejects.toThrow('the disk is full');
      expect(ledger.distinct).toBe(0);
      await sink.settled();
    }
  });
});
