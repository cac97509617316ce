import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PickedField, Row } from '../../../src/mirror/types.ts';
import { EMULATOR_EMAIL } from '../../../src/targets/google/credentials.ts';
import { SheetMirror } from './sheet-mirror.ts';

/* Columns of the tab: Submitted at, Status, Name, Age, Removed, Submission ID. Row 2 shows s0. */
const [ID, STATUS, NAME, AGE, REMOVED, NOTE] = [5, 1, 2, 3, 4, 6];
const FORM = { id: 'frm_contact', slug: 'contact', name: 'Contact' };

describe('protection blocks only what it protects', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(12);
    await mirror.pass('full');
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const ids = (): unknown[] => mirror.grid().flatMap((row) => row[ID] ?? []);
  const listed = async (): Promise<string[]> => {
    const reader = await mirror.target.reader(FORM.id);
    const { items } = (await reader?.rejections(100)) ?? { items: [] };
    return items.map(({ submissionId, reason, stored }) => `${submissionId} ${stored}: ${reason}`);
  };
  const notices = async (): Promise<string[]> =>
    ((await mirror.overview())?.notices ?? []).map(({ message, remedy }) => `${message} ${remedy}`);
  const pickedFields = async (): Promise<PickedField[]> =>
    ((await (await mirror.target.reader(FORM.id))?.fields()) ?? []).map(
      ({ id, label, position }) => ({
        id,
        label,
        position,
        type: 'text',
        inSchema: true,
        hashed: false,
      }),
    );
  const storedRows = async (some: readonly string[]): Promise<Row[]> => [
    ...((await (await mirror.target.reader(FORM.id))?.rows(some)) ?? new Map()).values(),
  ];

  it('one row: the other changes and new rows are written, the rest is named, and follows by itself', async () => {
    const at = mirror.placeOf('s3');
    const range = mirror.person.protect({ top: at, bottom: at + 1 });
    for (const id of ['s1', 's3', 's5', 's7']) mirror.store.setStatus(id, 'PAID');
    mirror.submit(12);
    expect(await mirror.pass('full')).toMatchObject({
      outcome: 'ok',
      inserted: 1,
      updated: 3,
      rejected: 1,
    });
    expect(['s1', 's3', 's5', 's7', 's12'].map((id) => mirror.rowOf(id)?.[STATUS])).toEqual([
      'PAID',
      'DONE',
      'PAID',
      'PAID',
      'NEW',
    ]);
    expect(await listed()).toEqual([
      's3 true: "Status" of its row cannot be written because of the protected range (5:5).',
    ]);
    expect(await notices()).toEqual([
      'On the tab "Contact" the protected range (5:5) keeps forms-mirror from writing: 1 submission is not as the source ' +
        `has it. Everything else is written. Allow ${EMULATOR_EMAIL} to edit it (Data › Protect sheets and ranges), or let ` +
        'it only show a warning. The rest follows by itself.',
    ]);
    const shown = mirror.shown().flat().join('\n');
    expect(shown).toContain('the protected range (5:5) keeps forms-mirror from writing');
    expect(shown).toContain('"Status" of its row cannot be written');
    expect((await mirror.verify()).listed).toBe(1);
    // L17: what is not as the source has it is not accounted for as if it were.
    expect((await mirror.overview())?.checkpoint?.statuses?.get('DONE')).toBe(3);
    mirror.person.unprotect(range);
    expect((await mirror.overview())?.losses).toEqual([{ what: 'unblocked' }]);
    expect(await mirror.pass()).toMatchObject({
      kind: 'full',
      outcome: 'ok',
      updated: 1,
      rejected: 0,
      reason: 'What people had protected or merged can be written now; everything is read again.',
    });
    expect(mirror.rowOf('s3')?.[STATUS]).toBe('PAID');
    expect([await listed(), await notices()]).toEqual([[], []]);
    expect((await mirror.overview())?.losses).toEqual([]);
    expect((await mirror.verify()).outcome).toBe('same');
    expect(mirror.shown().flat().join('\n')).not.toContain('protected range');
  });

  it('one on another tab, by the same name, is another one', async () => {
    const at = mirror.placeOf('s3');
    const mirrorTab = mirror.place.sandbox.people.at(mirror.place.spreadsheetId, 'Mirror');
    const range = mirror.person.protect({ top: at, bottom: at + 1 });
    mirror.store.setStatus('s3', 'PAID');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', rejected: 1 });
    mirrorTab.protect({ top: at, bottom: at + 1 });
    mirror.person.unprotect(range);
    expect((await mirror.overview())?.losses).toEqual([{ what: 'unblocked' }]);
    expect(await mirror.pass()).toMatchObject({ kind: 'full', updated: 1, rejected: 0 });
  });

  it('an ordinary pass reads no protections: those that only warn are no obstacle', async () => {
    const warning = mirror.person.protect({}, { warningOnly: true });
    mirror.store.setStatus('s3', 'PAID');
    mirror.submit(12);
    mirror.place.sandbox.requests.clear();
    expect(await mirror.pass('full')).toMatchObject({ inserted: 1, updated: 1, rejected: 0 });
    const seen = mirror.place.sandbox.requests.counts();
    mirror.person.unprotect(warning);
    for (const id of ['s3', 's5']) mirror.store.setStatus(id, 'REJECTED');
    mirror.submit(13);
    mirror.place.sandbox.requests.clear();
    await mirror.pass('full');
    expect(mirror.place.sandbox.requests.counts()).toEqual(seen);
    expect(await notices()).toEqual([]);
  });

  it('L6: a column of notes: new rows go into the blank rows below, and the pass fails when none is left', async () => {
    mirror.person.type(0, NOTE, 'Our notes');
    mirror.person.type(15, NOTE, 'in total');
    const range = mirror.person.protect({ left: NOTE, right: NOTE + 1 });
    mirror.submit(12);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1, rejected: 0 });
    // Below what people wrote.
    expect(mirror.placeOf('s12')).toBe(16);
    expect(mirror.rowOf('s12')?.slice(0, NOTE)).toEqual([
      expect.any(Number),
      'NEW',
      'Person 12',
      32,
      null,
      's12',
    ]);
    expect([await listed(), await notices()]).toEqual([[], []]);
    expect(await mirror.pass()).toMatchObject({ kind: 'incremental', reason: null });
    const { length } = mirror.grid();
    for (let index = 13; index < 13 + length; index++) mirror.submit(index);
    const report = await mirror.pass('full');
    const free = report.inserted;
    expect(free).toBeGreaterThan(5);
    expect(free).toBe(length - 1);
    expect(report).toMatchObject({ outcome: 'failed', code: 'TARGET_DENIED', rejected: 0 });
    expect(report.error).toBe(
      `On the tab "Contact" no row can be added for 1 submission of form "Contact" (frm_contact) because of ` +
        `the protected range (G:G). Everything else of this batch is written. Allow ${EMULATOR_EMAIL} to edit it (Data › ` +
        'Protect sheets and ranges), or let it only show a warning. The next pass tries again.',
    );
    expect(ids()).toHaveLength(1 + 13 + free);
    expect(new Set(ids()).size).toBe(1 + 13 + free);
    expect(await listed()).toEqual([]);
    expect(await mirror.verify()).toMatchObject({
      outcome: 'different',
      missing: { count: length - free },
    });
    expect(mirror.grid()[15]?.[NOTE]).toBe('in total');
    mirror.person.unprotect(range);
    expect(await mirror.pass()).toMatchObject({
      outcome: 'ok',
      inserted: length - free,
      rejected: 0,
    });
    expect([await listed(), await notices()]).toEqual([[], []]);
    expect((await mirror.verify()).outcome).toBe('same');
  });

  it('a column of notes to row 20 of a longer tab: rows are added at its end where none are left', async () => {
    mirror.person.protect({ left: NOTE, right: NOTE + 1, top: 0, bottom: 20 });
    for (let index = 12; index < 52; index++) mirror.submit(index);
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 40, rejected: 0 });
    expect(ids()).toHaveLength(1 + 52);
    // Rows that are added there show dates as all others do.
    const times = mirror.place.sandbox.inspect
      .shown(mirror.place.spreadsheetId, 'Contact')
      .flatMap((row) => row[0] || []);
    expect(times.filter((time) => !/^2\/\d\/2026 \d+:\d\d:\d\d$/.test(time))).toEqual([
      'Submitted at',
    ]);
    expect((await mirror.verify()).outcome).toBe('same');
    expect(await mirror.pass()).toMatchObject({ kind: 'incremental', reason: null });
  });

  it('a tab but for some columns: these are kept up to date', async () => {
    const range = mirror.person.protect({}, { except: { left: STATUS, right: NAME + 1 } });
    mirror.store.setStatus('s3', 'PAID');
    mirror.store.setAnswers('s4', { field_name: 'Anew', field_age: 99 });
    mirror.submit(12);
    expect(await mirror.pass('full')).toMatchObject({
      outcome: 'failed',
      code: 'TARGET_DENIED',
      inserted: 0,
      updated: 2,
      rejected: 1,
    });
    expect(mirror.rowOf('s3')?.[STATUS]).toBe('PAID');
    expect(mirror.rowOf('s4')?.slice(NAME, REMOVED)).toEqual(['Anew', 24]);
    mirror.person.unprotect(range);
    expect(await mirror.pass()).toMatchObject({ inserted: 1, updated: 1, rejected: 0 });
    expect((await mirror.verify()).outcome).toBe('same');
  });

  it('L8: a mark that cannot be taken away: the row that came back is listed as not stored', async () => {
    mirror.store.delete('s2');
    expect(await mirror.pass('full')).toMatchObject({ deleted: 1 });
    const range = mirror.person.protect({ left: REMOVED, right: REMOVED + 1 });
    mirror.store.restore('s2');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 0, rejected: 1 });
    expect(await listed()).toEqual([
      's2 false: "Removed" of its row cannot be written because of the protected range (E:E).',
    ]);
    expect(await mirror.overview()).toMatchObject({ rows: 11, deletedRows: 1 });
    mirror.person.unprotect(range);
    expect(await mirror.pass()).toMatchObject({ kind: 'full', updated: 1, rejected: 0 });
    expect(mirror.rowOf('s2')?.[REMOVED] ?? null).toBe(null);
    expect(await mirror.overview()).toMatchObject({ rows: 12, deletedRows: 0 });
    expect((await mirror.verify()).outcome).toBe('same');
  });

  it('a column of answers: all else of a row is written', async () => {
    const range = mirror.person.protect({ left: AGE, right: AGE + 1 });
    mirror.submit(12);
    mirror.store.setAnswers('s4', { field_name: 'Anew', field_age: 99 });
    expect(await mirror.pass('full')).toMatchObject({
      outcome: 'ok',
      inserted: 1,
      updated: 1,
      rejected: 2,
    });
    expect(mirror.rowOf('s12')?.slice(STATUS, REMOVED)).toEqual(['NEW', 'Person 12', null]);
    expect(mirror.rowOf('s4')?.slice(NAME, REMOVED)).toEqual(['Anew', 24]);
    expect((await listed()).toSorted()).toEqual([
      's12 true: "Age" of its row cannot be written because of the protected range (D:D).',
      's4 true: "Age" of its row cannot be written because of the protected range (D:D).',
    ]);
    expect((await notices())[0]).toContain('2 submissions are not as the source has them.');
    // Nothing that a look counts has changed: what is left follows all the same.
    mirror.person.unprotect(range);
    expect(await mirror.pass()).toMatchObject({ kind: 'full', updated: 2, rejected: 0 });
    expect(mirror.rowOf('s12')?.slice(STATUS, REMOVED)).toEqual(['NEW', 'Person 12', 32]);
    expect((await mirror.verify()).outcome).toBe('same');
  });

  it('the column of IDs: what is there is kept up to date, what is new waits', async () => {
    mirror.person.protect({ left: ID, right: ID + 1 });
    mirror.submit(12);
    mirror.store.setStatus('s3', 'PAID');
    expect(await mirror.pass('full')).toMatchObject({
      outcome: 'failed',
      code: 'TARGET_DENIED',
      inserted: 0,
      updated: 1,
      rejected: 0,
    });
    expect(mirror.rowOf('s3')?.[STATUS]).toBe('PAID');
    expect(ids()).toHaveLength(13);
    expect(await mirror.verify()).toMatchObject({ outcome: 'different', missing: { count: 1 } });
  });

  it('L7: a status cell, after marking: the row is listed, and not marked again', async () => {
    const at = mirror.placeOf('s2');
    const range = mirror.person.protect({
      top: at,
      bottom: at + 1,
      left: STATUS,
      right: STATUS + 1,
    });
    for (const id of ['s2', 's4']) mirror.store.setStatus(id, 'DONE');
    await mirror.write((writer) =>
      writer.setStatuses(
        new Map([
          ['s2', 'DONE'],
          ['s4', 'DONE'],
        ]),
      ),
    );
    expect([mirror.rowOf('s2')?.[STATUS], mirror.rowOf('s4')?.[STATUS]]).toEqual(['NEW', 'DONE']);
    const reader = await mirror.target.reader(FORM.id);
    const candidates: string[] = [];
    for await (const some of reader?.markCandidates(['NEW'], { wanted: 'DONE', since: '' }) ?? []) {
      candidates.push(...some);
    }
    expect(candidates).not.toContain('s2');
    expect(await reader?.confirm(['s2', 's4'])).toEqual(new Set(['s4']));
    mirror.person.unprotect(range);
    expect(await mirror.pass()).toMatchObject({ kind: 'full', updated: 1, rejected: 0 });
    expect(mirror.rowOf('s2')?.[STATUS]).toBe('DONE');
  });

  it('L8: the mark of a deleted row: the others are marked, and this one once it may be', async () => {
    const at = mirror.placeOf('s2');
    const range = mirror.person.protect({ top: at, bottom: at + 1 });
    for (const id of ['s2', 's4']) mirror.store.delete(id);
    expect(await mirror.pass('full')).toMatchObject({ deleted: 1 });
    expect([mirror.rowOf('s2')?.[REMOVED] ?? null, mirror.rowOf('s4')?.[REMOVED] ?? null]).toEqual([
      null,
      expect.any(Number),
    ]);
    expect(await listed()).toEqual([
      's2 true: "Removed" of its row cannot be written because of the protected range (4:4).',
    ]);
    // L17: a row that is known to be gone is not called current.
    expect((await notices())[0]).toContain('1 submission is not as the source has it.');
    mirror.person.unprotect(range);
    expect(await mirror.pass()).toMatchObject({ kind: 'full', deleted: 1 });
    expect(mirror.rowOf('s2')?.[REMOVED]).toEqual(expect.any(Number));
    expect([await listed(), await notices()]).toEqual([[], []]);
  });

  it('L5: holds after a restart, without a refused write', async () => {
    const at = mirror.placeOf('s3');
    mirror.person.protect({ top: at, bottom: at + 1 });
    mirror.store.setStatus('s3', 'PAID');
    await mirror.pass('full');
    mirror.target = await mirror.place.openElsewhere();
    mirror.clock.advance(600_000);
    mirror.store.setStatus('s5', 'PAID');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 1, rejected: 1 });
    expect(mirror.rowOf('s5')?.[STATUS]).toBe('PAID');
    expect(await notices()).toHaveLength(1);
  });

  it('added between read and write: that very write goes around it', async () => {
    const at = mirror.placeOf('s3');
    mirror.store.setStatus('s3', 'PAID');
    mirror.submit(12);
    await mirror.write(async (writer) => {
      await writer.prepare(await pickedFields());
      await writer.losses();
      // The rows have been read by now.
      mirror.person.protect({ top: at, bottom: at + 1 });
      const rows = await storedRows(['s3', 's5']);
      const result = await writer.apply(
        rows.map(({ id, createdAt, cells }) => ({ id, createdAt, cells, status: 'PAID' })),
        [],
      );
      expect(result.outcomes).toEqual(['unchanged', 'updated']);
      expect(result.rejections.map(({ submissionId }) => submissionId)).toEqual(['s3']);
    });
    expect(['s3', 's5'].map((id) => mirror.rowOf(id)?.[STATUS])).toEqual(['DONE', 'PAID']);
  });

  it('a tab that is protected as a whole makes the pass fail, in one sentence', async () => {
    const range = mirror.person.protect({});
    mirror.submit(12);
    expect(await mirror.pass()).toMatchObject({
      outcome: 'failed',
      code: 'TARGET_DENIED',
      error: expect.stringMatching(
        /^A protected range in .* does not let forms-mirror write: the protected range \(all cells\) on the tab "Contact"\. Allow mirror@/,
      ),
    });
    expect([await listed(), await notices()]).toEqual([[], []]);
    mirror.person.unprotect(range);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1 });
  });

  it('the header row: passes go on, and say so only once a header is to change', async () => {
    mirror.person.protect({ top: 0, bottom: 1 });
    mirror.submit(12);
    mirror.store.setStatus('s3', 'PAID');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1, updated: 1 });
    expect([await listed(), await notices()]).toEqual([[], []]);
    mirror.store.relabelField(FORM.id, 'field_name', 'Full name');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 0 });
    expect(await listed()).toEqual([]);
    expect(await notices()).toEqual([
      expect.stringContaining('1 header does not show the label of its field'),
    ]);
  });

  it('the Mirror tab: passes go on, and the tab turns stale by itself', async () => {
    const person = mirror.place.sandbox.people.at(mirror.place.spreadsheetId, 'Mirror');
    const range = person.protect({ top: 0, bottom: 20 });
    const rowsShown = (): unknown => mirror.shown().find(([form]) => form === 'Contact')?.[4];
    mirror.submit(12);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1 });
    expect(rowsShown()).toBe('12');
    person.unprotect(range);
    mirror.submit(13);
    await mirror.pass();
    expect(rowsShown()).toBe('14');
  });
});
