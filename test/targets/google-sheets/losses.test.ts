import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

const [AGE, REMOVED, ID] = [3, 4, 5];

describe('L1, L17: what a sheet lost is read again by the next pass, which says why', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    // The first page holds ten: the rest is not seen by an incremental pass.
    mirror = await SheetMirror.begin(60);
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const ids = (): unknown[] => mirror.grid().map((cells) => cells[ID]);
  const everyId = Array.from({ length: 60 }, (_, index) => `s${index}`);

  /** An ordinary pass finds the loss, makes it good and says so; the next one is quick again. Returns what it said. */
  async function healed(): Promise<string | null> {
    mirror.place.sandbox.requests.clear();
    const report = await mirror.pass();
    expect(report).toMatchObject({ kind: 'full', outcome: 'ok' });
    expect(mirror.warnings).toContain(report.reason);
    expect(ids().slice(0, 1)).toEqual(['Submission ID']);
    expect(new Set(ids())).toEqual(new Set(['Submission ID', ...everyId]));
    expect((await mirror.verify()).outcome).toBe('same');
    expect((await mirror.overview())?.losses).toEqual([]);
    mirror.place.sandbox.requests.clear();
    expect(await mirror.pass()).toMatchObject({ kind: 'incremental', outcome: 'ok', reason: null });
    expect(mirror.place.sandbox.requests.counts()).toEqual({ reads: 2, writes: 0 });
    return report.reason;
  }

  it('an ordinary pass costs two reads, also where people write rows of their own', async () => {
    mirror.person.insertRows(3);
    mirror.person.type(3, ID, 'my remark');
    mirror.place.sandbox.requests.clear();
    expect(await mirror.pass()).toMatchObject({ kind: 'incremental', reason: null });
    expect(mirror.place.sandbox.requests.counts()).toEqual({ reads: 2, writes: 0 });
  });

  it('rows that people deleted', async () => {
    mirror.person.deleteRows(5, 3);
    expect(await healed()).toBe(
      '3 rows that were mirrored are missing in the target; everything is read again.',
    );
  });

  it('marks of removed rows that people set', async () => {
    for (const row of [5, 6]) mirror.person.type(row, REMOVED, '2026-03-02');
    expect(await healed()).toBe(
      '2 rows are marked deleted that the mirror did not mark; everything is read again.',
    );
  });

  it('all rows', async () => {
    mirror.person.deleteRows(1, 60);
    expect(await healed()).toBe(
      '60 rows that were mirrored are missing in the target; everything is read again.',
    );
  });

  it('everything on the tab, the header included: the cells were emptied', async () => {
    const blank = Array.from({ length: 6 }, () => '');
    mirror.person.pasteValues(
      0,
      0,
      mirror.grid().map(() => blank),
    );
    expect(await healed()).toBe(
      '60 rows that were mirrored are missing in the target; everything is read again.',
    );
    expect(mirror.grid()[0]).toEqual([
      'Submitted at',
      'Status',
      'Name',
      'Age',
      'Removed',
      'Submission ID',
    ]);
  });

  it('the tab', async () => {
    mirror.person.deleteTab();
    expect(await mirror.overview()).toMatchObject({
      formId: 'frm_contact',
      checkpoint: null,
      losses: [{ what: 'place', name: 'tab "Contact"' }],
    });
    expect(await healed()).toBe('The tab "Contact" was gone; everything is read again.');
  });

  it('the tab, in another process', async () => {
    mirror.person.deleteTab();
    mirror.target = await mirror.place.openElsewhere();
    expect(await healed()).toBe('The tab "Contact" was gone; everything is read again.');
  });

  it('a deleted column is a wish; once brought back it is filled, even when the pass that made it fails', async () => {
    mirror.person.deleteColumns(AGE);
    expect(await mirror.pass()).toMatchObject({ kind: 'incremental', reason: null });
    mirror.place.sandbox.faults.add({ path: /values/, status: 400, after: 1 });
    expect((await mirror.pass('incremental', true)).outcome).toBe('failed');
    mirror.place.sandbox.faults.clear();
    expect(await healed()).toBe('The column Age was gone; everything is read again.');
    expect(mirror.grid()[7]?.[AGE]).toBe(26);
  });

  it('is found by a process that has not seen the sheet before', async () => {
    mirror.person.deleteRows(5, 1);
    mirror.target = await mirror.place.openElsewhere();
    expect(await healed()).toBe(
      '1 row that was mirrored is missing in the target; everything is read again.',
    );
  });
});
