import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wholeRead } from '../../src/mirror/form-state.ts';
import type { OpenForm, Store } from '../../src/mirror/port.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { hashedCell } from '../../src/mirror/cells.ts';
import { type Cell, ExactNumber, JsonText, type SelectedField } from '../../src/mirror/types.ts';
import { AGE, claimed, clock, formOf, freshnessAfterPolls, NAME, row } from './store-fixtures.ts';

/*
 * Cases that the simulation does not draw: the limits of a database, its views, and traces of erased answers.
 */

let dir: string;
let path: string;
const open = (history: 'status' | 'full' = 'status'): Promise<Store> =>
  parseTargetUrl(`sqlite:${path}`).open('default', { clock, history });

/** Opens the form, does something with it, and ends as a run does. */
async function write<T>(
  work: (form: OpenForm) => Promise<T>,
  fields: readonly SelectedField[] = [NAME, AGE],
  history: 'status' | 'full' = 'status',
): Promise<T> {
  await using store = await open(history);
  await using form = await store.open(formOf('contact', fields), 'write');
  await form.prepare(formOf('contact', fields), fields);
  const result = await work(form);
  await form.finish();
  return result;
}

/** As an analyst would. */
function query(sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(path);
  try {
    return database
      .prepare(sql)
      .all()
      .map((each) => Object.assign({}, each));
  } finally {
    database.close();
  }
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'forms-mirror-store-'));
  path = join(dir, 'mirror.sqlite');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('a commit in SQLite', () => {
  it('L4: of rows that are all there does not change the file', async () => {
    const rows = [row('a', { f_name: 'x' }), row('b', { f_name: 'y' })];
    await write(async (form) => {
      await form.commit({ rows });
      using reader = new DatabaseSync(path);
      const version = reader.prepare('PRAGMA data_version');
      const before = version.get();
      await form.commit({ rows });
      expect(version.get()).toEqual(before);
      await form.commit({ rows, state: (state) => wholeRead(state, 1) });
      expect(version.get()).not.toEqual(before);
    });
  });
});

describe('opening a form in SQLite', () => {
  it('L4: does not change the file where nothing has changed', async () => {
    await write((form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    using reader = new DatabaseSync(path);
    const version = reader.prepare('PRAGMA data_version');
    const before = version.get();
    await using store = await open();
    await using form = await store.open(formOf('contact', [NAME, AGE]), 'write');
    await form.prepare(formOf('contact', [NAME, AGE]), [NAME, AGE]);
    expect(version.get()).toEqual(before);
  });
});

describe('answers in SQLite', () => {
  it('L10: keep their digits, and a value of another type is beside its column', async () => {
    await write(async (form) => {
      await form.commit({
        rows: [
          row('a', { f_age: 7 }),
          row('b', { f_age: new ExactNumber('12345678901234567890123') }),
        ],
      });
      await form.commit({ rows: [row('c', { f_age: '007' }), row('d', { f_age: '' })] });
    });
    expect(query('SELECT id, age, age_text FROM contact ORDER BY id')).toEqual([
      { id: 'a', age: 7, age_text: null },
      { id: 'b', age: 1.2345678901234568e22, age_text: '12345678901234567890123' },
      { id: 'c', age: null, age_text: '007' },
      { id: 'd', age: null, age_text: null },
    ]);
    const cells = await write(async (form) => {
      const found = new Map<string, Cell | undefined>();
      for await (const rows of form.rows({}, true))
        for (const each of rows) found.set(each.id, each.cells.get('f_age'));
      return found;
    });
    expect([...cells.values()]).toEqual([
      7,
      new ExactNumber('12345678901234567890123'),
      '007',
      null,
    ]);
    expect(query('SELECT submission_id, value_text, value_number FROM answers ORDER BY 1')).toEqual(
      [
        { submission_id: 'a', value_text: '7', value_number: 7 },
        {
          submission_id: 'b',
          value_text: '12345678901234567890123',
          value_number: 1.2345678901234568e22,
        },
        { submission_id: 'c', value_text: '007', value_number: null },
      ],
    );
  });

  it('are shown by choice, with dates, under the current labels', async () => {
    await write((form) =>
      form.commit({ rows: [row('a', { f_name: new JsonText('["x","2024-02-29"]') })] }),
    );
    const later = { ...NAME, label: 'Name' };
    await write(async () => {}, [later, AGE]);
    expect(
      query('SELECT label, value_index, value_text, value_date FROM answers ORDER BY 2'),
    ).toEqual([
      { label: 'Name', value_index: 1, value_text: 'x', value_date: null },
      {
        label: 'Name',
        value_index: 2,
        value_text: '2024-02-29',
        value_date: '2024-02-29 00:00:00',
      },
    ]);
    expect(
      query(
        "SELECT label, valid_to IS NULL AS isNow FROM mirror_label_history WHERE field_id = 'f_name'",
      ),
    ).toEqual([
      { label: 'Full name', isNow: 0 },
      { label: 'Name', isNow: 1 },
    ]);
    expect(query('SELECT "Name" AS n FROM contact_labelled')).toEqual([
      { n: '["x","2024-02-29"]' },
    ]);
  });

  it('L14: of 2,000 fields are all there, most of them in columns', async () => {
    const fields = Array.from({ length: 2_000 }, (_, n) => ({
      ...NAME,
      id: `f_${n}`,
      label: `Q ${n}`,
      position: n,
    }));
    const cells = Object.fromEntries(fields.map(({ id }, n) => [id, `answer ${n}`]));
    await write((form) => form.commit({ rows: [row('a', cells)] }), fields);
    const stored = await write(async (form) => {
      for await (const [first] of form.rows({}, true)) return first?.cells;
      return undefined;
    }, fields);
    expect(stored?.size).toBe(2_000);
    expect(stored?.get('f_1999')).toBe('answer 1999');
    const again = await write((form) => form.commit({ rows: [row('a', cells)] }), fields);
    expect(again).toMatchObject({ unchanged: 1, updated: 0 });
  });
});

describe('columns in SQLite', () => {
  it('L9: that people added stay theirs, with any name of a field', async () => {
    await write((form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    const database = new DatabaseSync(path);
    database.exec("ALTER TABLE contact ADD COLUMN age TEXT; UPDATE contact SET age = 'mine'");
    database.close();
    await write((form) => form.commit({ rows: [row('a', { f_name: 'x', f_age: 7 })] }));
    expect(query('SELECT age, age_2 FROM contact')).toEqual([{ age: 'mine', age_2: 7 }]);
  });
});

describe('versions in SQLite', () => {
  it('are kept when they end: statuses always, answers with TARGET_HISTORY=full', async () => {
    for (const [name, status] of [
      ['Ada', 'NEW'],
      ['Eva', 'NEW'],
      ['Eva', 'DONE'],
    ] as const)
      await write(
        (form) => form.commit({ rows: [row('a', { f_name: name }, status)] }),
        [NAME],
        'full',
      );
    expect(query('SELECT status FROM mirror_status_history ORDER BY seen_at')).toEqual([
      { status: 'NEW' },
      { status: 'DONE' },
    ]);
    expect(
      query(
        'SELECT full_name, status, _valid_to IS NULL AS isNow FROM contact_history ORDER BY _valid_from',
      ),
    ).toEqual([
      { full_name: 'Ada', status: 'NEW', isNow: 0 },
      { full_name: 'Eva', status: 'NEW', isNow: 0 },
      { full_name: 'Eva', status: 'DONE', isNow: 1 },
    ]);
  });
});

describe('a SQLite file', () => {
  it('L6: that refuses rows for a reason of its own has failed, and stores nothing of the batch', async () => {
    await write((form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    const database = new DatabaseSync(path);
    database.exec(
      `CREATE TRIGGER theirs BEFORE INSERT ON contact WHEN NEW.id = 'c' BEGIN SELECT RAISE(ABORT, 'no'); END`,
    );
    database.close();
    const refused = write((form) =>
      form.commit({ rows: [row('b', { f_name: 'y' }), row('c', { f_name: 'z' })] }),
    );
    await expect(refused).rejects.toMatchObject({ code: 'TARGET_FAILED' });
    expect(query('SELECT id FROM contact')).toEqual([{ id: 'a' }]);
  });

  it('L6: of which a trigger undoes the whole transaction keeps nothing of the batch', async () => {
    await write((form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    const database = new DatabaseSync(path);
    database.exec(
      `CREATE TRIGGER theirs BEFORE INSERT ON contact WHEN NEW.id = 'd' BEGIN SELECT RAISE(ROLLBACK, 'no'); END`,
    );
    database.close();
    const rows = ['b', 'c', 'd'].map((id) => row(id, { f_name: id }));
    const refused = write((form) => form.commit({ rows }));
    await expect(refused).rejects.toMatchObject({ code: 'TARGET_FAILED' });
    expect(query('SELECT id FROM contact')).toEqual([{ id: 'a' }]);
  });

  it('L18: holds nothing of forgotten submissions, and does not take them back', async () => {
    await write((form) =>
      form.commit({ rows: [row('sub_gone', { f_name: 'a secret' }), row('b', { f_name: 'y' })] }),
    );
    await write((form) => form.erase({ kind: 'forget', ids: ['sub_gone'] }));
    for (const file of [path, `${path}-wal`].filter((each) => existsSync(each))) {
      const bytes = readFileSync(file, 'latin1');
      expect([bytes.includes('sub_gone'), bytes.includes('a secret')]).toEqual([false, false]);
    }
    const applied = await write((form) =>
      form.commit({ rows: [row('sub_gone', { f_name: 'back' })] }),
    );
    expect([applied.inserted, query('SELECT id FROM contact')]).toEqual([0, [{ id: 'b' }]]);
  });

  it('L11: has no plain answer left of a field that is hashed', async () => {
    const hash = (cell: Cell): Cell => hashedCell(cell, 'a-key-of-thirty-two-characters-at-least');
    for (const name of ['plain one', 'plain two'])
      await write(
        (form) => form.commit({ rows: [row('a', { f_name: name, f_age: 42_424_242 })] }),
        [NAME, AGE],
        'full',
      );
    await write(
      (form) => form.erase({ kind: 'rehash', fieldIds: ['f_name', 'f_age'], hash }),
      [NAME, AGE],
      'full',
    );
    expect(readFileSync(path, 'latin1')).not.toMatch(/plain (one|two)|42424242/);
    expect(query('SELECT full_name AS n FROM contact')[0]?.['n']).toBe(hash('plain two'));
  });

  it('L18: that lost our tables beside its rows is not touched', async () => {
    await write((form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    const database = new DatabaseSync(path);
    for (const { name } of database
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'view'`)
      .all())
      database.exec(`DROP VIEW "${String(name)}"`);
    database.exec('DROP TABLE _mirror_state');
    database.close();
    await expect(write(async () => {})).rejects.toMatchObject({ code: 'TARGET_FAILED' });
  });

  it('of another build is not touched', async () => {
    await write(async () => {});
    using database = new DatabaseSync(path);
    database.exec(`UPDATE _mirror_records SET value = '"1"' WHERE name = 'schema'`);
    await expect((await open()).forms()).rejects.toMatchObject({ code: 'OTHER_SCHEMA' });
  });

  it('gets an index over live rows at the end of a first copy', async () => {
    const indexes = (): unknown[] =>
      query(`SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE '_mirror_live_%'`);
    await write((form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    expect(indexes()).toEqual([]);
    await write((form) =>
      form.commit({ state: (state) => wholeRead(state, Date.UTC(2026, 0, 1)) }),
    );
    expect(indexes()).toHaveLength(1);
  });

  it('L17: moves the times of freshness by polls that agree', async () => {
    await write((form) => form.commit({ rows: [row('a', {})], state: claimed }));
    const { shown, expected } = await freshnessAfterPolls(open, 'form_contact', async () => {
      const [found] = query('SELECT submissions_as_of AS a, statuses_as_of AS b FROM freshness');
      return [Date.parse(String(found?.['a'])), Date.parse(String(found?.['b']))];
    });
    expect(shown).toEqual(expected);
  });

  it('says in SQL as of when its forms are', async () => {
    await write((form) =>
      form.commit({
        rows: [row('a', { f_name: 'x' })],
        state: (state) => ({
          ...state,
          submissionsAsOfMs: Date.UTC(2026, 0, 1),
          statusesAsOfMs: null,
        }),
      }),
    );
    expect(query('SELECT form, rows, submissions_as_of, statuses_as_of FROM freshness')).toEqual([
      {
        form: 'contact',
        rows: 1,
        submissions_as_of: '2026-01-01T00:00:00.000Z',
        statuses_as_of: null,
      },
    ]);
  });
});

it('a store that was closed connects to nothing again', async () => {
  await write(async (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
  const store = await open();
  await store.forms();
  await store[Symbol.asyncDispose]();
  await expect(store.forms()).rejects.toThrow('closed');
});
