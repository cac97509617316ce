import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Erasure } from '../../../src/mirror/erasure.ts';
import type { FormWriter } from '../../../src/mirror/target.ts';
import { AGE, FORM as CONTACT, NAME as NAME_FIELD, row } from '../../contract/target-harness.ts';
import { SheetMirror } from './sheet-mirror.ts';
import { sheetsPlace, SleepersClock } from './sheets-place.ts';

/* Columns of the tab: Submitted at, Status, Name, Age, Removed, Submission ID. Row 2 shows s0. */
const [ID, NAME, NOTE] = [5, 2, 6];
const AT = '2026-03-02T09:00:00.000Z';

describe('L18: erasure in a sheet', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(12);
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const forget = (...ids: string[]): Promise<Erasure> =>
    mirror.write((writer) => writer.forget(ids, AT));
  /** Every cell of every tab as text, hidden ones included. */
  const everything = (): string => {
    const { inspect } = mirror.place.sandbox;
    const { spreadsheetId } = mirror.place;
    const grids = inspect
      .tabs(spreadsheetId)
      .map(({ title }) => inspect.grid(spreadsheetId, title));
    return JSON.stringify([grids, inspect.metadata(spreadsheetId)]);
  };
  const leftOvers = (...ids: number[]): string[] =>
    ids.flatMap((n) => [`Person ${n}"`, `"s${n}"`]).filter((text) => everything().includes(text));

  it('L17: names rows without an ID that may show the submission, and no others', async () => {
    mirror.person.type(mirror.placeOf('s3'), ID, '');
    const [inDoubt] = (await forget('s3')).left;
    expect(inDoubt).toMatch(/^tab Contact, row 5, which has lost its submission ID/);
    mirror.person.deleteRows(4);
    // A copy of a row that is erased, and one of a row that stays.
    for (const id of ['s5', 's7']) {
      mirror.person.duplicateRow(mirror.placeOf(id));
      mirror.person.type(mirror.placeOf(id) + 1, ID, '');
    }
    const place = mirror.placeOf('s5') + 2;
    const { rows, left } = await forget('s5');
    expect([rows, left.length]).toEqual([1, 1]);
    expect(left[0]).toContain(`row ${place}, which has`);
  });

  it('empties the cells of the mirror in that row, leaves what people wrote there, and names it', async () => {
    mirror.person.type(0, NOTE, 'Our notes');
    mirror.person.type(4, NOTE, 'call back');
    const before = mirror.grid();
    expect(await forget('s3')).toEqual({
      rows: 1,
      listings: 0,
      refusals: 0,
      history: 0,
      left: ['tab Contact, row 5, column G (Our notes)'],
    });
    const after = mirror.grid();
    expect(after[4]?.slice(0, NOTE).every((cell) => cell === null || cell === '')).toBe(true);
    expect(after[4]?.[NOTE]).toBe('call back');
    expect(after.filter((_, row) => row !== 4)).toEqual(before.filter((_, row) => row !== 4));
    // The undo tab held the row for a moment.
    expect(leftOvers(3)).toEqual([]);
  });

  it('stays away in passes and comparisons, and is no loss', async () => {
    await forget('s3', 's11');
    for (const kind of ['incremental', 'full'] as const) {
      expect(await mirror.pass(kind)).toMatchObject({
        kind,
        outcome: 'ok',
        inserted: 0,
        reason: null,
      });
    }
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', forgotten: 2 });
    expect(await mirror.overview()).toMatchObject({
      rows: 10,
      forgotten: 2,
      losses: [],
      notices: [],
    });
    mirror.submit(12);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1 });
    expect(leftOvers(3, 11)).toEqual([]);
  });

  it('finds the row wherever people moved it, and a copy of it, too', async () => {
    mirror.person.duplicateRow(mirror.placeOf('s5'));
    mirror.person.sortSheet(ID, 'DESCENDING');
    mirror.person.moveColumns(NAME, 1, 1);
    expect(await forget('s5')).toMatchObject({ rows: 2 });
    expect(leftOvers(5)).toEqual([]);
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0 });
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', forgotten: 1, notices: [] });
  });

  it('is done once, whatever becomes of the answers to its writes', async () => {
    for (const after of [0, 1, 2]) {
      const fault = { path: /:batchUpdate$/, status: 503, applied: true, after };
      mirror.place.sandbox.faults.add(fault);
      expect((await forget(`s${after}`)).rows).toBe(1);
      expect(leftOvers(after)).toEqual([]);
    }
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0, updated: 0 });
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', forgotten: 3 });
  });

  it('L5: goes on where it died between two of its writes', async () => {
    for (const after of [1, 2]) {
      const id = `s${after}`;
      mirror.place.sandbox.faults.add({ path: /:batchUpdate$/, status: 400, after, times: 1 });
      await expect(forget(id)).rejects.toMatchObject({ name: 'MirrorError' });
      // The answers went with the first write, with the note that keeps them away.
      expect(mirror.grid().some((row) => row[NAME] === `Person ${after}`)).toBe(false);
      expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0 });
      await forget(id);
      expect(leftOvers(after)).toEqual([]);
    }
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', forgotten: 2 });
  });

  it('writes nothing while the hidden tab with the notes is gone, until all are forgotten again', async () => {
    await forget('s3');
    const { sandbox, spreadsheetId } = mirror.place;
    sandbox.people.at(spreadsheetId, 'Mirror state').deleteTab();
    // A process that goes on knows what the tab said.
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0 });
    mirror.target = await mirror.place.openElsewhere();
    mirror.clock.advance(60_000);
    const failed = await mirror.pass('full');
    expect(failed).toMatchObject({ outcome: 'failed', code: 'TARGET_FAILED' });
    expect(failed.error).toMatch(/1 submission of contact could come back/);
    expect(leftOvers(3)).toEqual([]);
    await forget('s3');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0 });
    expect(leftOvers(3)).toEqual([]);
  });

  it('is not taken for whole where others are forgotten meanwhile, or may come back', async () => {
    await forget('s1', 's2', 's3');
    const { sandbox, spreadsheetId } = mirror.place;
    sandbox.people.at(spreadsheetId, 'Mirror state').deleteTab();
    mirror.target = await mirror.place.openElsewhere();
    const fails = async (): Promise<void> => {
      mirror.clock.advance(60_000);
      const failed = await mirror.pass('full');
      expect(failed).toMatchObject({ outcome: 'failed', code: 'TARGET_FAILED' });
      expect(failed.error).toMatch(/3 submissions of contact could come back/);
      expect(leftOvers(1, 2, 3)).toEqual([]);
    };
    await forget('s4', 's5', 's6');
    await fails();
    await mirror.write((writer) => writer.remember(['s4']));
    await fails();
    // One of them alone: the others could still come back, and it is told from none of those.
    await forget('s2');
    await fails();
    await forget('s1', 's2', 's3');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1 });
    expect(leftOvers(1, 2, 3, 5, 6)).toEqual([]);
  });

  it('keeps it away where people deleted the tab of the form, which is made anew', async () => {
    await forget('s3');
    mirror.person.deleteTab();
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 11 });
    expect(leftOvers(3)).toEqual([]);
  });

  it('lets it come back, once that is taken back', async () => {
    await forget('s3');
    expect(await mirror.write((writer) => writer.remember(['s3']))).toBe(1);
    expect(await mirror.pass()).toMatchObject({ kind: 'full', outcome: 'ok', inserted: 1 });
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', forgotten: 0 });
  });
});

/** Time passes for sleepers alone, and people act whenever one of them goes to sleep: before each call. */
class BusyClock extends SleepersClock {
  onSleep: () => void = () => {};
  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.onSleep();
    await super.sleep(ms, signal);
  }
}

describe('L18: erasure while people rearrange the sheet', () => {
  const IDS = Array.from({ length: 9 }, (_, n) => `sub_${n}`);
  const rows = IDS.map((id, n) => row(id, { field_1_a: `name of ${id}`, field_2_b: (n * 7) % 9 }));

  it.each(Array.from({ length: 12 }, (_, at) => at))(
    'hits no other row when they sort before call %i',
    async (at) => {
      const clock = new BusyClock();
      const quota = { perSpreadsheetMs: 1, perMinute: Number.POSITIVE_INFINITY };
      const place = await sheetsPlace({ clock, quota });
      onTestFinished(() => place.dispose());
      const target = await place.open();
      const write = async <T>(work: (writer: FormWriter) => Promise<T>): Promise<T> => {
        await using writer = await target.openWriter(CONTACT, { waitMs: 300_000 });
        await writer.prepare([NAME_FIELD, AGE]);
        return await work(writer);
      };
      await write((writer) => writer.apply(rows, []));
      const person = place.sandbox.people.at(place.spreadsheetId, CONTACT.name);
      for (const [n] of IDS.entries()) person.type(n + 1, 6, `note ${n}`);
      let calls = 0;
      clock.onSleep = () => {
        if (calls++ === at) person.sortSheet(3, at % 2 === 0 ? 'DESCENDING' : 'ASCENDING');
      };
      await write((writer) => writer.forget(['sub_3', 'sub_6'], AT));
      clock.onSleep = () => {};
      const { inspect } = place.sandbox;
      const grids = inspect
        .tabs(place.spreadsheetId)
        .map(({ title }) => JSON.stringify(inspect.grid(place.spreadsheetId, title)));
      for (const text of ['sub_3', 'sub_6']) {
        expect([text, grids.filter((grid) => grid.includes(`${text}"`))]).toEqual([text, []]);
      }
      const stored = (await (await target.reader(CONTACT.id))?.rows(IDS)) ?? new Map();
      const kept = rows.filter(({ id }) => id !== 'sub_3' && id !== 'sub_6');
      expect(new Set(stored.keys())).toEqual(new Set(kept.map(({ id }) => id)));
      for (const { id, cells } of kept) expect(stored.get(id)?.cells).toEqual(cells);
      // Every note is beside the row it was written for, those of the forgotten ones too.
      const grid = inspect.grid(place.spreadsheetId, CONTACT.name);
      for (const [n, id] of IDS.entries()) {
        const noted = grid.find((cells) => cells[6] === `note ${n}`);
        expect([id, noted?.[ID] ?? '']).toEqual([id, id === 'sub_3' || id === 'sub_6' ? '' : id]);
      }
    },
  );
});
