import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashedCell, looksHashed, sameCell } from '../../src/mirror/cells.ts';
import { type Cell, ExactNumber, type SelectedField, type Row } from '../../src/mirror/types.ts';
import { accounted, wholeRead } from '../../src/mirror/form-state.ts';
import type {
  Applied,
  Change,
  Entry,
  EntryKind,
  OpenForm,
  ReadForm,
  RowQuery,
  Run,
  Store,
  StoredRow,
} from '../../src/mirror/port.ts';
import { AGE, formOf, NAME, row, RUN } from './store-fixtures.ts';

/** The promises of the port for every kind of target. Differences between kinds are tested beside each. */

/** A place for one target. Each opening acts like a separate process. */
export interface ContractPlace extends AsyncDisposable {
  open(): Promise<Store>;
}

const FORM = formOf('contact', [NAME, AGE]);
const DAY_MS = 86_400_000;
const createdAt = (day: number, time = '12:00:00.000Z'): string => `2026-03-0${day}T${time}`;

/** Dated rows, one per day. */
const ROWS: readonly Row[] = ['a', 'b', 'c'].map((id, index): Row => {
  const cells = new Map<string, Cell>([
    ['f_name', `name of ${id}`],
    ['f_age', 30 + index],
  ]);
  return { id, status: 'NEW', createdAt: createdAt(index + 1), cells };
});

const entry = (kind: EntryKind, id: string, more: Partial<Entry> = {}): Entry => ({
  kind,
  id,
  status: 'NEW',
  createdAt: createdAt(2),
  reason: 'It has no data.',
  atMs: Date.UTC(2026, 2, 5),
  ...more,
});

/** The applied part, without the rest. */
const done = (applied: Applied): Partial<Applied> =>
  Object.fromEntries(Object.entries(applied).filter(([, many]) => many > 0));

/** Runs the contract for a kind of target. */
export function describeStore(kind: string, place: () => Promise<ContractPlace>): void {
  describe(`a store in ${kind}`, () => {
    let at: ContractPlace;
    let store: Store;
    beforeEach(async () => {
      at = await place();
      store = await at.open();
    });
    afterEach(async () => {
      await store[Symbol.asyncDispose]();
      await at[Symbol.asyncDispose]();
    });

    /** Opens the form, runs `work`, and ends as a run does. */
    const write = async <T>(
      work: (form: OpenForm) => Promise<T>,
      fields: readonly SelectedField[] = [NAME, AGE],
    ): Promise<T> => {
      const form = formOf('contact', fields);
      await using open = await store.open(form);
      await open.prepare(form, fields);
      const result = await work(open);
      await open.finish();
      return result;
    };
    const commit = (change: Change, fields?: readonly SelectedField[]): Promise<Applied> =>
      write((form) => form.commit(change), fields);
    const read = async <T>(work: (form: ReadForm) => Promise<T>): Promise<T> => {
      await using open = await store.read(FORM.id);
      if (open === null) throw new Error('the target has no such form');
      return await work(open);
    };
    const rowsOf = (query: RowQuery): Promise<StoredRow[]> =>
      read(async (form) => {
        const found: StoredRow[] = [];
        for await (const rows of form.rows(query, true)) found.push(...rows);
        return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      });
    const idsOf = async (query: RowQuery): Promise<string[]> =>
      (await rowsOf(query)).map(({ id }) => id);
    const cellOf = async (id: string, field = NAME): Promise<Cell> =>
      (await rowsOf({ ids: [id] }))[0]?.cells.get(field.id) ?? null;
    const entriesOf = (...kinds: EntryKind[]): Promise<readonly Entry[]> =>
      read((form) => form.entries(kinds));
    const stateOf = async () => (await store.forms())[0]?.state;

    describe('rows', () => {
      it('is empty before the first commit, and reading creates nothing', async () => {
        expect(await store.forms()).toEqual([]);
        expect(await store.read(FORM.id)).toBeNull();
        expect((await store.check()).filter(({ isOk }) => !isOk)).toEqual([]);
        expect(await store.forms()).toEqual([]);
      });

      it('L1: keeps status, time and answers of each submission, once', async () => {
        const bare: Row = { ...row('d', { f_name: 'Dan' }, 'PAID'), createdAt: null };
        expect(done(await commit({ rows: [...ROWS, bare] }))).toEqual({ inserted: 4 });
        const stored = await rowsOf({});
        expect(stored.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
        expect(stored[1]).toEqual({ ...ROWS[1], deletedAt: null });
        expect(stored[3]).toMatchObject({ status: 'PAID', createdAt: null, deletedAt: null });
        expect(stored[3]?.cells.get(AGE.id) ?? null).toBeNull();
        expect((await stateOf())?.tally.rows).toEqual({ NEW: 3, PAID: 1 });
      });

      it('L1: keeps every answer of rows that it read before it had a column for one of them', async () => {
        const [plain, aged] = [
          row('p', { f_name: 'Pia' }),
          row('q', { f_name: 'Quinn', f_age: 7 }),
        ];
        const applied = await write(async (form) => {
          const rows = [...(await form.take([plain]))];
          // Rows are read while others are being stored.
          const first = form.commit({ rows: [row('o', { f_name: 'Ole' })] });
          rows.push(...(await form.take([aged])));
          await first;
          return form.commit({ rows });
        });
        expect(done(applied)).toEqual({ inserted: 2 });
        const ages = (await rowsOf({})).map(({ id, cells }) => [id, cells.get(AGE.id) ?? null]);
        expect(ages).toEqual([
          ['o', null],
          ['p', null],
          ['q', 7],
        ]);
        expect(done(await commit({ rows: [plain, aged] }))).toEqual({ unchanged: 2 });
        expect(done(await commit({ rows: [{ ...plain, cells: aged.cells }] }))).toEqual({
          updated: 1,
        });
      });

      it('writes nothing of rows that it took and does not commit', async () => {
        await commit({ rows: [row('p', { f_name: 'Pia' })] });
        await write((form) => form.take([row('q', { f_age: 7 })]));
        expect(await idsOf({})).toEqual(['p']);
        const [stored] = await store.states();
        expect(stored?.fields.map(({ id, column }) => [id, column !== null])).toEqual([
          [NAME.id, true],
          [AGE.id, false],
        ]);
      });

      it('L4: does not touch equal rows, and applies changes', async () => {
        await commit({ rows: ROWS });
        expect(done(await commit({ rows: ROWS }))).toEqual({ unchanged: 3 });
        const changed: Row[] = [
          row('a', { f_name: 'name of a' }),
          { ...row('b', { f_name: 'name of b', f_age: 31 }, 'DONE'), createdAt: createdAt(2) },
          { ...row('c', { f_name: 'name of c', f_age: 32 }), createdAt: createdAt(4) },
        ];
        expect(done(await commit({ rows: changed }))).toEqual({ updated: 3 });
        const [a, b, c] = await rowsOf({});
        expect(a?.cells.get(AGE.id) ?? null).toBeNull();
        expect([b?.status, c?.createdAt]).toEqual(['DONE', createdAt(4)]);
        expect(done(await commit({ rows: changed }))).toEqual({ unchanged: 3 });
      });

      it('L4: recognizes by its key a stored row among rows that were all new so far', async () => {
        const named = (id: string, name = `name of ${id}`): Row => row(id, { f_name: name });
        const applied = await write(async (form) => {
          const batches = [
            [named('a'), named('b')],
            [named('c'), named('d')],
            [named('b', 'another'), named('c'), named('e')],
            [named('f')],
            [named('e'), named('g')],
          ];
          const all: Partial<Applied>[] = [];
          for (const rows of batches) all.push(done(await form.commit({ rows })));
          all.push(done(await form.commit({ deleted: ['g'] })));
          all.push(done(await form.commit({ rows: [named('g')] })));
          return all;
        });
        expect(applied).toEqual([
          { inserted: 2 },
          { inserted: 2 },
          { inserted: 1, updated: 1, unchanged: 1 },
          { inserted: 1 },
          { inserted: 1, unchanged: 1 },
          { deleted: 1 },
          { updated: 1 },
        ]);
        const stored = await rowsOf({});
        expect(stored.map(({ id }) => id).join('')).toBe('abcdefg');
        expect(await cellOf('b')).toBe('another');
        expect((await stateOf())?.tally.rows).toEqual({ NEW: 7 });
      });

      it('keeps microseconds', async () => {
        const one: Row = { ...row('a', {}), createdAt: createdAt(1, '12:00:00.123456Z') };
        await commit({ rows: [one] });
        expect(done(await commit({ rows: [one] }))).toEqual({ unchanged: 1 });
        expect((await rowsOf({}))[0]?.createdAt).toBe(one.createdAt);
      });

      it('L11: stores no answer of a field that was not given, and does not touch its column', async () => {
        await commit({ rows: ROWS });
        const next = row('a', { f_name: 'other', f_age: 99, f_secret: 'secret' });
        await commit({ rows: [{ ...next, createdAt: createdAt(1) }] }, [NAME]);
        const [a] = await rowsOf({ ids: ['a'] });
        expect([...(a?.cells ?? [])].map(([, cell]) => cell)).toEqual(['other', 30]);
      });

      it('finds rows by ID, status, time and deletion', async () => {
        await commit({ rows: ROWS });
        await commit({ rows: [{ ...(ROWS[1] as Row), status: 'DONE' }], deleted: ['c'] });
        expect(await idsOf({ ids: ['a', 'b', 'x'] })).toEqual(['a', 'b']);
        expect(await idsOf({ status: 'DONE' })).toEqual(['b']);
        const fromMs = Date.parse(createdAt(2));
        expect(await idsOf({ fromMs })).toEqual(['b']);
        expect(await idsOf({ toMs: fromMs })).toEqual(['a']);
        expect(await idsOf({ isDeleted: true })).toEqual(['c']);
      });

      it('counts the submissions that it accounts for, by status and time', async () => {
        await commit({
          rows: ROWS,
          entries: [entry('rejected', 'x'), entry('held', 'a', { createdAt: createdAt(1) })],
        });
        const counts = await read((form) => form.counts({ fromMs: null, toMs: null }, 'day'));
        const byDay = counts.map(({ status, fromMs, count }) => [status, fromMs, count]);
        // On day 1 the one row is held; on day 2 there are a row and a rejected one.
        const day = (n: number): number => Date.UTC(2026, 2, n);
        expect(byDay.filter(([, , count]) => count !== 0)).toEqual([
          ['NEW', day(2), 2],
          ['NEW', day(3), 1],
        ]);
        const state = await stateOf();
        expect(state && accounted(state.tally)).toEqual(new Map([['NEW', 3]]));
      });
    });

    describe('L10: answers', () => {
      const TEXTS: readonly Cell[] = [
        'Žluťoučký kůň 😀 👩‍👩‍👧',
        '=IMPORTXML("http://x","//a")',
        '+420 123 456 789',
        "-1'; DROP TABLE x; --",
        '00123',
        '12345678901234567890',
        '1-2',
        'two\nlines\r\nand\ttab',
        ' spaces at both ends ',
        '{"a":[1,null],"b":"\\"}',
        'NULL',
        '\\N',
        '\u200B\uFEFF',
        'x'.repeat(40_000),
        'true',
      ];
      const NUMBERS: readonly Cell[] = [
        0,
        -1,
        1.5,
        0.1,
        1e21,
        5e-324,
        1.7976931348623157e308,
        Number.MAX_SAFE_INTEGER,
        new ExactNumber('9007199254740993'),
        new ExactNumber('-9223372036854775808'),
        new ExactNumber('123456789012345678901234567890'),
      ];

      it('stay texts, character by character', async () => {
        const rows = TEXTS.map((text, index) => row(`v${index}`, { f_name: text }));
        expect((await commit({ rows })).rejected).toBe(0);
        expect(done(await commit({ rows }))).toEqual({ unchanged: rows.length });
        for (const [index, text] of TEXTS.entries()) expect(await cellOf(`v${index}`)).toBe(text);
      });

      it('stay numbers with all their digits, also in a column that gets a text', async () => {
        const rows = NUMBERS.map((number, index) => row(`n${index}`, { f_age: number }));
        await commit({ rows });
        await commit({ rows: [row('t', { f_age: 'thirty' })] });
        expect(done(await commit({ rows }))).toEqual({ unchanged: rows.length });
        for (const [index, number] of NUMBERS.entries())
          expect(sameCell(await cellOf(`n${index}`, AGE), number)).toBe(true);
        expect(await cellOf('t', AGE)).toBe('thirty');
      });

      it('are kept under an ID such as __proto__, too', async () => {
        const odd: SelectedField = { ...NAME, id: '__proto__', label: 'Odd' };
        const cells = new Map<string, Cell>([['__proto__', 'one']]);
        await commit({ rows: [{ ...row('a', {}), cells }] }, [odd]);
        expect(await cellOf('a', odd)).toBe('one');
      });
    });

    describe('L9: fields', () => {
      it('keep their column under a new label, and after they are deleted', async () => {
        await commit({ rows: ROWS });
        const [before] = await store.forms();
        await commit({ rows: [] }, [{ ...NAME, label: 'Your name' }]);
        const [after] = await store.forms();
        const column = (form: typeof before, id: string) =>
          form?.fields.find((field) => field.id === id);
        expect(column(after, NAME.id)).toMatchObject({
          label: 'Your name',
          column: column(before, NAME.id)?.column,
        });
        expect(column(after, AGE.id)).toMatchObject({
          label: 'Age',
          column: column(before, AGE.id)?.column,
          isInForm: false,
        });
        expect(await cellOf('a', AGE)).toBe(30);
      });

      it('with one label have a column each', async () => {
        const twin: SelectedField = { ...NAME, id: 'f_twin', position: 2 };
        await commit({ rows: [row('a', { f_name: 'x', f_twin: 'y' })] }, [NAME, twin]);
        expect([await cellOf('a'), await cellOf('a', twin)]).toEqual(['x', 'y']);
      });

      it('have no column before their first answer', async () => {
        await commit({ rows: [row('a', { f_name: 'x' })] });
        const [form] = await store.forms();
        const age = form?.fields.find(({ id }) => id === AGE.id);
        expect(age).toMatchObject({ column: null, isFilled: false, isInForm: true });
      });
    });

    describe('deletions and entries', () => {
      it('L8: mark rows, and remove the mark of one that comes back', async () => {
        await commit({ rows: ROWS });
        expect(done(await commit({ deleted: ['b', 'x'] }))).toEqual({ deleted: 1 });
        const [b] = await rowsOf({ isDeleted: true });
        expect(b).toMatchObject({ id: 'b', status: 'NEW' });
        expect(b?.deletedAt).not.toBeNull();
        expect(done(await commit({ deleted: ['b'] }))).toEqual({});
        expect(await stateOf()).toMatchObject({ tally: { rows: { NEW: 2 }, deleted: 1 } });
        expect(done(await commit({ rows: ROWS }))).toEqual({ updated: 1, unchanged: 2 });
        expect(await idsOf({})).toEqual(['a', 'b', 'c']);
      });

      it('L6: list a submission without a row, until it is stored', async () => {
        await commit({
          rows: ROWS,
          entries: [
            entry('rejected', 'x', { reason: 'an earlier one' }),
            entry('rejected', 'x'),
            entry('undecided', 'a'),
            entry('refused', 'b'),
          ],
        });
        const { atMs: _seen, ...listed } = entry('rejected', 'x');
        expect(await entriesOf('rejected')).toEqual([expect.objectContaining(listed)]);
        expect(await stateOf()).toMatchObject({
          tally: {
            missing: { NEW: 1 },
            unstored: { NEW: 1 },
            rejected: 1,
            undecided: 1,
            refused: 1,
          },
        });
        await commit({
          rows: [row('x', { f_name: 'x' }), ROWS[0] as Row],
          settled: [{ kind: 'refused', ids: ['b'] }],
        });
        expect(await entriesOf('rejected', 'undecided', 'refused')).toEqual([]);
        expect(await stateOf()).toMatchObject({ tally: { missing: {}, unstored: {} } });
      });
    });

    describe('state', () => {
      it('is stored with the rows, in the order of commits', async () => {
        await commit({ rows: ROWS, state: (state) => wholeRead(state, 1), run: RUN });
        const state = await stateOf();
        expect(state).toMatchObject({ formId: FORM.id, slug: 'contact' });
        const runsOf = async (many?: number) => (await store.forms(many))[0]?.runs;
        expect(await runsOf(5)).toEqual([RUN]);
        const later = { ...RUN, startedAtMs: RUN.startedAtMs + DAY_MS };
        await commit({ run: later });
        expect([await runsOf(), await runsOf(1), await runsOf(5)]).toEqual([
          [],
          [later],
          [later, RUN],
        ]);
        expect((await stateOf())?.commitUs).toBeGreaterThan(state?.commitUs ?? Infinity);
      });

      it('L5: stores a note with the next commit, and not before', async () => {
        await commit({ rows: ROWS });
        const noted = async () => (await stateOf())?.recentlyDeleted;
        const note = (form: OpenForm): void =>
          form.note((state) => ({ ...state, recentlyDeleted: state.recentlyDeleted + 7 }));
        {
          await using open = await store.open(FORM);
          note(open);
          expect(open.state.recentlyDeleted).toBe(7);
        }
        expect(await noted()).toBe(0);
        await write(async (form) => {
          note(form);
          await form.commit({ rows: [ROWS[0] as Row] });
          expect(await noted()).toBe(7);
          note(form);
        });
        expect(await noted()).toBe(14);
      });

      it('L13: one writer has the form; the others wait for their turn', async () => {
        const other = await at.open();
        await commit({ rows: ROWS });
        await using mine = await store.open(FORM);
        await mine.prepare(FORM, [NAME, AGE]);
        const late = async (): Promise<unknown> => {
          await using theirs = await other.open(FORM);
          await theirs.prepare(FORM, [NAME, AGE]);
          await mine.commit({ rows: [row('m', {})] });
          return theirs.commit({ rows: [row('t', {})] });
        };
        await expect(late()).rejects.toMatchObject({ code: 'TARGET_BUSY' });
        await other[Symbol.asyncDispose]();
      });

      it('keeps records that belong to no form, one writer at a time', async () => {
        expect(await store.record('pauses')).toBeNull();
        expect(await store.putRecord('pauses', { a: 1 }, null)).toBe(true);
        expect(await store.putRecord('pauses', { a: 2 }, null)).toBe(false);
        const kept = await store.record('pauses');
        expect(kept?.value).toEqual({ a: 1 });
        expect(await store.putRecord('pauses', { a: 3 }, kept?.revision ?? 0)).toBe(true);
        const other = await at.open();
        expect((await other.record('pauses'))?.value).toEqual({ a: 3 });
        await other[Symbol.asyncDispose]();
      });

      it('shows an export the form at one instant', async () => {
        await commit({ rows: ROWS });
        const snapshot = await store.snapshot(FORM.id);
        expect(snapshot).not.toBeNull();
        expect(await store.snapshot('unknown')).toBeNull();
      });
    });

    describe('L18: data that a person asked to erase', () => {
      beforeEach(async () => {
        await commit({ rows: ROWS, entries: [entry('rejected', 'b')], run: RUN });
      });

      it('leaves rows and lists, is counted by a digest, and does not come back', async () => {
        expect(await write((form) => form.erase({ kind: 'forget', ids: ['b', 'x'] }))).toBe(1);
        expect(await idsOf({})).toEqual(['a', 'c']);
        expect(await entriesOf('rejected')).toEqual([]);
        expect(await read((form) => form.forgotten(['a', 'b', 'x']))).toHaveProperty('size', 2);
        const forgotten = await entriesOf('forgotten');
        expect(forgotten.map(({ id }) => id)).not.toContain('b');
        // The next process keeps it out, too.
        await store[Symbol.asyncDispose]();
        store = await at.open();
        await commit({ rows: [...ROWS, row('x', {})], entries: [entry('rejected', 'b')] });
        // L17: it has been forgotten since then, also if the source shows it again.
        const times = async () =>
          new Map((await entriesOf('forgotten')).map(({ id, atMs }) => [id, atMs]));
        expect(await times()).toEqual(new Map(forgotten.map(({ id, atMs }) => [id, atMs])));
        expect(await idsOf({})).toEqual(['a', 'c']);
        expect(await entriesOf('rejected')).toEqual([]);
        const state = await stateOf();
        expect(state && accounted(state.tally)).toEqual(new Map([['NEW', 4]]));
        await write((form) => form.erase({ kind: 'remember', ids: ['b'] }));
        expect(done(await commit({ rows: ROWS }))).toMatchObject({ inserted: 1 });
      });

      it('is not named by recorded runs either', async () => {
        const failed = (minute: number, error: string): Run => {
          const startedAtMs = RUN.startedAtMs + minute * 60_000;
          return { ...RUN, startedAtMs, outcome: 'incomplete', code: 'RUN_INCOMPLETE', error };
        };
        await commit({ run: failed(1, 'The list hides some, such as b\uFFFD.') });
        await commit({ run: failed(2, 'The list hides some, such as c.') });
        await write((form) => form.erase({ kind: 'forget', ids: ['b\u001B'] }));
        const [form] = await store.forms(3);
        expect(form?.runs.map(({ code, error }) => [code, error])).toEqual([
          ['RUN_INCOMPLETE', 'The list hides some, such as c.'],
          ['RUN_INCOMPLETE', null],
          [null, null],
        ]);
      });

      it('makes no column if the source shows it again', async () => {
        const late = { ...NAME, id: 'f_late', label: 'Late', position: 2 };
        const fields = [NAME, AGE, late];
        await write((form) => form.erase({ kind: 'forget', ids: ['b'] }));
        const rows = [row('b', { f_late: 'x' })];
        await write(async (form) => form.commit({ rows: await form.take(rows) }), fields);
        const [form] = await store.forms();
        expect(form?.fields.find(({ id }) => id === late.id)?.column).toBeNull();
      });

      it('is counted if it has no status, and not if the source does not show it', async () => {
        await commit({ rows: [{ ...row('d', {}), status: '' }] });
        const counted = async () => {
          const state = await stateOf();
          return state && Object.fromEntries(accounted(state.tally));
        };
        await write((form) => form.erase({ kind: 'forget', ids: ['d', 'never-seen'] }));
        expect(await counted()).toEqual({ NEW: 3, '': 1 });
        const shown = (await entriesOf('forgotten')).find(({ status }) => status === '');
        await commit({ entries: shown === undefined ? [] : [{ ...shown, status: null }] });
        expect(await counted()).toEqual({ NEW: 3 });
      });

      it('may be rows that were marked deleted long ago', async () => {
        await commit({ deleted: ['b'] });
        const purge = (deletedBeforeMs: number) =>
          write((form) => form.erase({ kind: 'purge', deletedBeforeMs, versionsBeforeMs: null }));
        expect(await purge(0)).toBe(0);
        expect(await purge(Date.UTC(2100, 0, 1))).toBe(1);
        expect(await idsOf({ isDeleted: true })).toEqual([]);
        expect(await idsOf({})).toEqual(['a', 'c']);
      });

      it('may be the answers of fields, or their plain text', async () => {
        await commit({ deleted: ['c'] });
        const hash = (cell: Cell): Cell => hashedCell(cell, 'a key of some length');
        const fieldIds = [NAME.id, AGE.id];
        const hashed = async () => {
          await write((form) => form.erase({ kind: 'rehash', fieldIds, hash }));
          const rows = [...(await rowsOf({ ids: ['a'] })), ...(await rowsOf({ isDeleted: true }))];
          return rows.flatMap(({ cells }) => fieldIds.map((id) => cells.get(id) ?? null));
        };
        const first = await hashed();
        expect(first.map(looksHashed)).toEqual([true, true, true, true]);
        expect(await hashed()).toEqual(first);
        await write((form) => form.erase({ kind: 'columns', fieldIds: [AGE.id] }), [NAME]);
        expect(await cellOf('a', AGE)).toBeNull();
        const [form] = await store.forms();
        expect(form?.fields.find(({ id }) => id === AGE.id)?.isFilled).toBe(false);
      });
    });
  });
}
