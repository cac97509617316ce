import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { OpenForm, Store, StoredRow } from '../../src/mirror/port.ts';
import { type Cell, ExactNumber, JsonText, type SelectedField } from '../../src/mirror/types.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import {
  AGE,
  claimedAndRead,
  clock,
  formOf,
  freshnessAfterPolls,
  messagesOf,
  NAME,
  row,
} from './store-fixtures.ts';

/**
 * Promises of databases in addition to the port: their views, and people's changes to their tables. Some parts are written
 * differently for each.
 */

/** A database, and a person who may do anything in it. */
export interface Place extends AsyncDisposable {
  readonly url: string;
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Statements: a trigger of the table discards or changes the rows that are inserted. */
  readonly addTrigger?: (table: string) => string;
  /** A label as the name of a column; absent if it is unchanged. */
  readonly labelOf?: (label: string) => string;
  /** Numbers of any length are in one column. */
  readonly keepsDigits?: boolean;
  readonly server?: Server;
}

/** Only on servers. */
interface Server {
  /** Ends the sessions that hold locks. */
  endHolders(): Promise<unknown>;
  /** Statements: makes a user `mirror_analyst` who may read `kept_live`. */
  readonly makeAnalyst: string;
  mayRead(): Promise<boolean>;
}

/** The results of a run. */
interface Written<T> {
  readonly result: T;
  readonly notes: readonly string[];
  readonly losses: readonly string[];
}

/** A place in use. */
export interface Bed {
  /** With full history, unless another is given. */
  readonly store: (history?: 'full' | 'status') => Promise<Store>;
  readonly url: () => string;
  readonly query: Place['query'];
  /** The values of the rows of a query, as texts; '' for NULL. */
  readonly values: (sql: string) => Promise<string[][]>;
  /** Opens a form, runs `work`, and ends as a run does. */
  readonly write: <T>(
    slug: string,
    work: (form: OpenForm) => Promise<T>,
    fields?: readonly SelectedField[],
  ) => Promise<Written<T>>;
}

export function bedOf(place: () => Place): Bed {
  const store: Bed['store'] = (history = 'full') =>
    parseTargetUrl(place().url).open('default', {
      // A lease is renewed after each wait; without waits it would be renewed all the time.
      clock: { ...systemClock, now: () => clock.now() },
      history,
    });
  return {
    store,
    url: () => place().url,
    query: (sql) => place().query(sql),
    async values(sql) {
      const rows = await place().query(sql);
      return rows.map((each) =>
        Object.values(each).map((value) =>
          value === null ? '' : String(value as string | number),
        ),
      );
    },
    async write(slug, work, fields = [NAME, AGE]) {
      await using opened = await store();
      const form = formOf(slug, fields);
      await using to = await opened.open(form);
      await to.prepare(form, fields);
      const result = await work(to);
      return { result, notes: messagesOf(await to.finish()), losses: to.losses };
    },
  };
}

/** All rows of a form with their answers. */
export async function allRows(form: OpenForm): Promise<StoredRow[]> {
  const found: StoredRow[] = [];
  for await (const some of form.rows({}, true)) found.push(...some);
  return found;
}

/**
 * Runs the cases that are the same in all databases, then those of people and sessions if there are some, then those of this
 * database.
 */
export function describeSqlStore(
  {
    name,
    isMissing = false,
    kind,
  }: { name: string; isMissing?: boolean; kind: 'file' | 'server' | 'service' },
  open: () => Promise<Place>,
  special: (bed: Bed) => void = () => {},
): void {
  describe.skipIf(isMissing)(`the store in ${name}`, () => {
    let place: Place;
    beforeAll(async () => {
      place = await open();
    });
    afterAll(() => place[Symbol.asyncDispose]());

    const bed = bedOf(() => place);
    const { store, values, write } = bed;

    it('names the product that answers', async () => {
      await using target = await store();
      expect((await target.check())[0]?.what.startsWith(`${name} `)).toBe(true);
    });

    it('has its views before the first answer', async () => {
      await write('silent', (form) => form.commit({ rows: [row('a', {})] }));
      const rows = "SELECT count(*) AS n FROM answers WHERE slug = 'silent'";
      expect(await values(rows)).toEqual([['0']]);
    });

    it('shows choices, dates and versions', async () => {
      for (const list of ['["x"]', '["x","2024-02-29",7,null]'])
        await write('choices', (form) =>
          form.commit({ rows: [row('a', { f_name: new JsonText(list), f_age: 0.1 })] }),
        );
      expect(
        await values(
          `SELECT label, value_index, value_text, value_number FROM answers WHERE slug = 'choices' ORDER BY 1, 2`,
        ),
      ).toEqual([
        ['Age', '1', '0.1', '0.1'],
        ['Full name', '1', 'x', ''],
        ['Full name', '2', '2024-02-29', ''],
        ['Full name', '3', '7', '7'],
      ]);
      const done = row('a', { f_name: new JsonText('["x"]') }, 'DONE');
      await write('choices', (form) => form.commit({ rows: [done] }));
      expect(
        await values(
          `SELECT status, concat(full_name) AS n, age, CASE WHEN _valid_to IS NULL THEN 1 END AS now FROM choices_history ORDER BY _valid_from`,
        ),
      ).toEqual([
        ['NEW', '["x"]', '0.1', ''],
        ['NEW', expect.stringMatching(/^\["x", ?"2024-02-29", ?7, ?null\]$/), '0.1', ''],
        ['DONE', '["x"]', '', '1'],
      ]);
      expect(
        await values(
          `SELECT status FROM mirror_status_history WHERE form_id = 'form_choices' ORDER BY seen_at`,
        ),
      ).toEqual([['NEW'], ['DONE']]);
      // A choice that was not made.
      for (const status of ['NEW', 'DONE'])
        await write('choices', (form) => form.commit({ rows: [row('b', {}, status)] }));
      expect(
        await values(
          `SELECT status FROM choices_history WHERE id = 'b' AND full_name IS NULL ORDER BY _valid_from`,
        ),
      ).toEqual([['NEW'], ['DONE']]);
    });

    it('shows since when a version is known, if history was off before, and after it was purged', async () => {
      const form = formOf('gap', [NAME, AGE]);
      for (const name of ['lost', 'x']) {
        await using plain = await store('status');
        await using to = await plain.open(form);
        await to.prepare(form, [NAME, AGE]);
        await to.commit({ rows: [row('a', { f_name: name })] });
        await to.finish();
      }
      const next = (name: string, status: string) =>
        write('gap', (to) => to.commit({ rows: [row('a', { f_name: name }, status)] }));
      await next('y', 'NEW');
      await next('z', 'DONE');
      const history = () =>
        values(
          `SELECT full_name, CASE WHEN _valid_from > _first_seen_at THEN 1 END AS later FROM gap_history AS h
           JOIN (SELECT _first_seen_at FROM gap) AS t ON true ORDER BY _valid_from`,
        );
      expect(await history()).toEqual([
        ['x', '1'],
        ['y', '1'],
        ['z', '1'],
      ]);
      const statuses = () =>
        values(
          `SELECT status, seen_at, not_before FROM mirror_status_history WHERE form_id = 'form_gap' ORDER BY seen_at`,
        );
      const before = await statuses();
      expect(before).toHaveLength(2);
      const versionsBeforeMs = Date.UTC(2100);
      await write('gap', (to) =>
        to.erase({ kind: 'purge', deletedBeforeMs: null, versionsBeforeMs }),
      );
      expect(await history()).toEqual([['z', '1']]);
      expect(await statuses()).toEqual(before);
    });

    it('shows which rows it hashed or emptied, no gap in their history, and none of their answers', async () => {
      await write('hidden', (form) =>
        form.commit({ rows: [row('a', { f_name: 'x', f_age: 1 }), row('b', { f_age: 2 })] }),
      );
      const changed = () => values('SELECT id FROM hidden WHERE _changed_at > _first_seen_at');
      const rehash = { kind: 'rehash', fieldIds: ['f_name'], hash: () => 'h'.repeat(64) } as const;
      await write('hidden', (form) => form.erase(rehash));
      expect(await changed()).toEqual([['a']]);
      await write('hidden', (form) => form.erase({ kind: 'columns', fieldIds: ['f_age'] }));
      expect(await changed()).toHaveLength(2);
      expect(
        await values(
          `SELECT id, full_name, age, CASE WHEN _valid_from = former THEN 1 END AS follows FROM
           (SELECT h.*, lag(_valid_to) OVER (PARTITION BY id ORDER BY _valid_from) AS former FROM hidden_history AS h) AS v
           ORDER BY id, _valid_from`,
        ),
      ).toEqual([
        ['a', 'h'.repeat(64), '', ''],
        ['a', 'h'.repeat(64), '', '1'],
        ['a', 'h'.repeat(64), '', '1'],
        ['b', '', '', ''],
        ['b', '', '', '1'],
      ]);
    });

    it('L17: shows as of when its forms are, including polls that agree', async () => {
      await write('polled', (form) => form.commit({ rows: [row('a', {})], state: claimedAndRead }));
      const { shown, expected } = await freshnessAfterPolls(store, 'form_polled', async () => {
        const [found] = await place.query(
          "SELECT submissions_as_of AS a, statuses_as_of AS b, answers_as_of AS c FROM freshness WHERE form = 'polled'",
        );
        return [msOf(found?.['a']), msOf(found?.['b']), msOf(found?.['c'])];
      });
      expect(shown).toEqual(expected);
    });

    it('L10: keeps digits, and a value of another type beside its column', async () => {
      const long = new ExactNumber('12345678901234567890123');
      const rows = [
        row('a', { f_age: 0.1 }),
        row('b', { f_age: long }),
        row('c', { f_age: '007' }),
        row('d', { f_age: '' }),
        row('e', { f_age: 1_234_567_890_123_456 }),
        row('f', { f_age: 1e20 }),
      ];
      await write('numbers', (form) => form.commit({ rows }));
      const double = place.keepsDigits
        ? [long.digits, '']
        : ['1.2345678901234568e+22', long.digits];
      const shown = await values(
        "SELECT id, age, age_text FROM numbers WHERE id < 'e' ORDER BY id",
      );
      expect(shown).toEqual([
        ['a', '0.1', ''],
        ['b', ...double],
        ['c', '', '007'],
        ['d', '', ''],
      ]);
      const { result } = await write('numbers', allRows);
      expect(result.map(({ cells }) => cells.get('f_age'))).toEqual([
        0.1,
        long,
        '007',
        null,
        1_234_567_890_123_456,
        1e20,
      ]);
      expect(
        await values(
          `SELECT submission_id, value_text, value_number FROM answers WHERE slug = 'numbers' ORDER BY 1`,
        ),
      ).toEqual([
        ['a', '0.1', '0.1'],
        ['b', long.digits, double[0]],
        ['c', '007', ''],
        ['e', '1234567890123456', '1234567890123456'],
        ['f', '100000000000000000000', '100000000000000000000'],
      ]);
    });

    it('lists forms, fields and labels, and shows answers under the current ones', async () => {
      await write('listed', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
      await write('listed', async () => {}, [{ ...NAME, label: 'Näme' }, AGE]);
      expect(
        await values(
          `SELECT slug, name, table_name, view_name, gone_at FROM mirror_forms WHERE slug = 'listed'`,
        ),
      ).toEqual([['listed', 'listed', 'listed', 'listed_labelled', '']]);
      expect(
        await values(
          `SELECT column_name, text_column, label, position, type, CASE WHEN is_in_form THEN 1 END AS i FROM mirror_fields
           WHERE form_id = 'form_listed' ORDER BY position`,
        ),
      ).toEqual([
        ['full_name', '', 'Näme', '0', 'text', '1'],
        ['', '', 'Age', '1', '', '1'],
      ]);
      expect(
        await values(
          `SELECT label, CASE WHEN valid_from < valid_to THEN 1 END AS ended FROM mirror_label_history
           WHERE form_id = 'form_listed' AND field_id = 'f_name' ORDER BY valid_from`,
        ),
      ).toEqual([
        ['Full name', '1'],
        ['Näme', ''],
      ]);
      const [shown] = await place.query('SELECT * FROM listed_labelled');
      expect(shown).toMatchObject({ [place.labelOf?.('Näme') ?? 'Näme']: 'x' });
    });

    if (kind !== 'service') peopleCases(() => place, bed, open);
    if (kind === 'server') serverCases(() => place, bed);
    special(bed);
  });
}

const msOf = (time: unknown): number => new Date(time as string | Date).getTime();

/** People's changes to tables, and wide tables. */
function peopleCases(
  place: () => Place,
  { store, values, write }: Bed,
  open: () => Promise<Place>,
): void {
  it('L6: has failed if a trigger of a person removes or changes rows', async () => {
    await write('refused', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    await place().query(place().addTrigger?.('refused') ?? '');
    const taken = write('refused', (form) =>
      form.commit({ rows: [row('b', { f_name: 'y' }), row('c', { f_name: 'z' })] }),
    );
    await expect(taken).rejects.toMatchObject({ code: 'TARGET_FAILED' });
    expect(await values('SELECT id FROM refused')).toEqual([['a']]);
  });

  it('L1: its views include a table and a column that it made again, also in a process that continues', async () => {
    await using opened = await store();
    const form = formOf('moved', [NAME]);
    const run = async (name: string): Promise<readonly string[]> => {
      await using to = await opened.open(form);
      await to.prepare(form, [NAME]);
      await to.commit({ rows: [row('a', { f_name: name })] });
      await to.finish();
      return to.losses;
    };
    const shown = (): Promise<string[][]> => values('SELECT full_name FROM moved_live');
    await run('x');
    await place().query('ALTER TABLE moved RENAME COLUMN full_name TO former');
    expect(await run('y')).toEqual([
      'The column full_name of moved is missing; it is added and filled.',
    ]);
    expect(await shown()).toEqual([['y']]);
    await place().query('ALTER TABLE moved RENAME TO moved_away');
    expect(await run('z')).toEqual([expect.stringContaining('The table moved is missing')]);
    expect(await shown()).toEqual([['z']]);
    expect(await values(`SELECT count(*) AS n FROM submissions WHERE slug = 'moved'`)).toEqual([
      ['1'],
    ]);
  });

  it('makes the views of forms that are written at the same time when the last one is closed', async () => {
    await using opened = await store();
    const forms = ['east', 'west'].map((slug) => formOf(slug, [NAME, AGE]));
    const open = await Promise.all(forms.map((form) => opened.open(form)));
    for (const [nth, to] of open.entries()) {
      await to.prepare(forms[nth]!, [NAME, AGE]);
      await to.commit({ rows: [row('a', { f_name: 'x' })] });
      expect(await to.finish()).toEqual([]);
    }
    await expect(values('SELECT full_name FROM east_live')).rejects.toThrow('east_live');
    for (const to of open) await to[Symbol.asyncDispose]();
    for (const slug of ['east', 'west'])
      expect(await values(`SELECT value_text FROM answers WHERE slug = '${slug}'`)).toEqual([
        ['x'],
      ]);
  });

  it('L17: also names in its list of forms why it could not make a view, until it could', async () => {
    const notesOf = async (): Promise<string[]> => {
      await using opened = await store();
      const found = await opened.forms();
      return messagesOf(found.find(({ state }) => state.slug === 'noted')?.notices ?? []);
    };
    const add = (id: string) =>
      write('noted', (form) => form.commit({ rows: [row(id, { f_name: 'x' })] }));
    expect((await add('a')).notes).toEqual([]);
    await place().query('DROP VIEW noted_live');
    await place().query('CREATE TABLE noted_live (n integer)');
    const { notes } = await add('b');
    expect(notes).toEqual([expect.stringContaining('The view noted_live was not made')]);
    expect(await notesOf()).toEqual(notes);
    await place().query('DROP TABLE noted_live');
    expect((await add('c')).notes).toEqual([]);
    expect(await notesOf()).toEqual([]);
  });

  it('L12: reads the other forms if the rows of one cannot be counted', async () => {
    for (const slug of ['whole', 'changed'])
      await write(slug, (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    await place().query('ALTER TABLE changed RENAME COLUMN status TO former');
    await using opened = await store();
    const forms = await opened.forms();
    const of = (slug: string) => forms.find(({ state }) => state.slug === slug);
    expect(of('whole')?.losses).toEqual([]);
    expect(of('changed')).toMatchObject({
      failure: { code: 'TARGET_FAILED', message: expect.stringContaining('was dropped, renamed') },
      losses: [],
      state: { submissionsAsOfMs: null },
    });
    await place().query('ALTER TABLE changed RENAME COLUMN former TO status');
  });

  it.each([
    ['pair', 'pair-live', 'pair_live_2'],
    ['couple-live', 'couple', 'couple_2'],
  ])(
    'gives tables and views of their own to forms with the slugs %s and %s',
    async (one, two, table) => {
      for (const slug of [one, two]) {
        const { notes } = await write(slug, (form) => form.commit({ rows: [row('a', {})] }));
        expect(notes).toEqual([]);
      }
      expect(await values(`SELECT count(*) AS n FROM ${table}_live`)).toEqual([['1']]);
    },
  );

  it('L14: keeps the answers of 2,000 fields, and those beyond its columns in one', async () => {
    // Each new column makes a database read all its views again: there are no others here.
    await using own = await open();
    const wideBed = bedOf(() => own);
    const fields = Array.from({ length: 2_000 }, (_, at) => ({
      ...NAME,
      id: `f_${at}`,
      label: `Field ${at}`,
      position: at,
    }));
    const long = '123456789012345678901234567890';
    const last = {
      f_1996: '["a text"]',
      f_1997: new JsonText(`["Price",7,${long}]`),
      f_1998: 10,
      f_1999: new ExactNumber(long),
    };
    const texts = fields.map(({ id }): [string, Cell] => [id, 'x'.repeat(41)]);
    const wide = row('a', Object.fromEntries([...texts, ...Object.entries(last)]));
    const written = await wideBed.write('wide', (form) => form.commit({ rows: [wide] }), fields);
    expect(written).toMatchObject({ result: { inserted: 1, rejected: 0 }, notes: [] });
    await wideBed.write(
      'wide',
      async (form) => {
        expect((await allRows(form))[0]?.cells).toEqual(wide.cells);
        expect(await form.commit({ rows: [wide] })).toMatchObject({ unchanged: 1 });
      },
      fields,
    );
    expect(
      await wideBed.values(
        `SELECT field_id, value_index, value_text, value_number FROM answers
         WHERE slug = 'wide' AND field_id IN ('f_0', 'f_1996', 'f_1997', 'f_1998', 'f_1999') ORDER BY 1, 2`,
      ),
    ).toEqual([
      ['f_0', '1', 'x'.repeat(41), ''],
      ['f_1996', '1', '["a text"]', ''],
      ['f_1997', '1', 'Price', ''],
      ['f_1997', '2', '7', '7'],
      ['f_1997', '3', long, own.keepsDigits ? long : '1.2345678901234568e+29'],
      ['f_1998', '1', '10', '10'],
      ['f_1999', '1', long, own.keepsDigits ? long : '1.2345678901234568e+29'],
    ]);
    const edited = row('a', { ...last, f_1998: 11 });
    await wideBed.write('wide', (form) => form.commit({ rows: [edited] }), fields);
    const versions = await wideBed.values('SELECT _more FROM wide_history ORDER BY _valid_from');
    expect(versions.map(([more = '']) => /"field_1998":(\d+)/.exec(more)?.[1])).toEqual([
      '10',
      '11',
    ]);
  });
}

/** Several sessions, and people who have their own rights. */
function serverCases(place: () => Place, { store, values, write }: Bed): void {
  it('L6: has failed if a constraint of a person refuses rows, and names it', async () => {
    await write('checked', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    await place().query(`ALTER TABLE checked ADD CONSTRAINT theirs CHECK (id <> 'c')`);
    const refused = write('checked', (form) => form.commit({ rows: [row('b', {}), row('c', {})] }));
    await expect(refused).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      message: expect.stringContaining('theirs'),
    });
    expect(await values('SELECT id FROM checked')).toEqual([['a']]);
  });

  it('does not change the rights of people', async () => {
    await write('kept', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    await place().query(place().server?.makeAnalyst ?? '');
    const renamed = [{ ...NAME, label: 'Name' }, AGE];
    const next = row('b', { f_name: 'y', f_age: 5 });
    const { notes } = await write('kept', (form) => form.commit({ rows: [next] }), renamed);
    expect(notes).toEqual([]);
    expect(await values('SELECT age FROM kept_live ORDER BY id')).toEqual([[''], ['5']]);
    expect(await values('SELECT "Name" AS n FROM kept_labelled ORDER BY id')).toHaveLength(2);
    expect(await place().server?.mayRead()).toBe(true);
  });

  it("adds a column to a view that a person's view needs, wherever its field is in the form", async () => {
    await write('grown', (form) => form.commit({ rows: [row('a', { f_age: 5 })] }));
    await place().query('CREATE VIEW of_live AS SELECT id FROM grown_live');
    const next = row('a', { f_age: 5, f_name: 'x' });
    expect((await write('grown', (form) => form.commit({ rows: [next] }))).notes).toEqual([]);
    expect(await values('SELECT full_name FROM grown_live')).toEqual([['x']]);
    await place().query('DROP VIEW of_live');
  });

  it('L13: admits one writer, and a writer that was suspended commits nothing', async () => {
    await using one = await store();
    await using two = await store();
    const form = formOf('writers', [NAME]);
    const first = await one.open(form);
    await first.prepare(form, [NAME]);
    await expect(two.open(form)).rejects.toMatchObject({
      code: 'TARGET_BUSY',
      // It may be one of the same process.
      message: expect.stringContaining('Another run is writing to form writers'),
    });
    await place().server?.endHolders();
    await using again = await store();
    await using second = await again.open(form);
    await second.prepare(form, [NAME]);
    await second.commit({ rows: [row('a', { f_name: 'second' })] });
    const late = first.commit({ rows: [row('a', { f_name: 'first' })] });
    await expect(late).rejects.toMatchObject({ code: 'TARGET_BUSY' });
  });

  it('gives forms that are made at once a table each, and recognizes all of their views as its own', async () => {
    const ids = ['one', 'two', 'three', 'four'];
    const notes = async (id: string, slug: string): Promise<string[]> => {
      await using opened = await store();
      const form = { ...formOf(slug, [NAME]), id };
      await using to = await opened.open(form);
      await to.prepare(form, [NAME]);
      await to.commit({ rows: [row(`${id}-a`, { f_name: 'x' })] });
      return messagesOf(await to.finish());
    };
    expect((await Promise.all(ids.map((id) => notes(id, 'same')))).flat()).toEqual([]);
    expect(
      await values(`SELECT count(DISTINCT table_name) AS n FROM mirror_forms WHERE slug = 'same'`),
    ).toEqual([['4']]);
    // A new name changes each view: a view that is not recognized as ours would stay.
    for (const id of ids) expect(await notes(id, 'renamed')).toEqual([]);
    expect(
      await values(
        `SELECT DISTINCT form_id FROM mirror_status_history WHERE form_id IN ('one', 'two', 'three', 'four')`,
      ),
    ).toHaveLength(4);
  });
}
