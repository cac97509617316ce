import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wholeRead } from '../../src/mirror/form-state.ts';
import type { OpenForm, Store } from '../../src/mirror/port.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { hashedCell } from '../../src/mirror/cells.ts';
import { type Cell, ExactNumber, type SelectedField } from '../../src/mirror/types.ts';
import { describeSqlStore } from './sql-store-cases.ts';
import { AGE, clock, formOf, NAME, row } from './store-fixtures.ts';

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

  it('are shown under the current labels', async () => {
    await write((form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    await write(async () => {}, [{ ...NAME, label: 'Name' }, AGE]);
    expect(
      query(
        "SELECT label, valid_to IS NULL AS isNow FROM mirror_label_history WHERE field_id = 'f_name'",
      ),
    ).toEqual([
      { label: 'Full name', isNow: 0 },
      { label: 'Name', isNow: 1 },
    ]);
    expect(query('SELECT "Name" AS n FROM contact_labelled')).toEqual([{ n: 'x' }]);
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

describe('a SQLite file', () => {
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
});

it('a store that was closed connects to nothing again', async () => {
  await write(async (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
  const store = await open();
  await store.forms();
  await store[Symbol.asyncDispose]();
  await expect(store.forms()).rejects.toThrow('closed');
});

describeSqlStore({ name: 'SQLite', isMissing: false, isServer: false }, async () => {
  const place = mkdtempSync(join(tmpdir(), 'forms-mirror-sql-'));
  const file = join(place, 'mirror.sqlite');
  return {
    url: `sqlite:${file}`,
    async query(sql) {
      using person = new DatabaseSync(file);
      return person.prepare(sql).all();
    },
    msOf: (time) => Date.parse(String(time)),
    addTrigger: (table) =>
      `CREATE TRIGGER theirs_${table} BEFORE INSERT ON ${table} BEGIN SELECT RAISE(IGNORE); END`,
    dropTrigger: (table) => `DROP TRIGGER theirs_${table}`,
    [Symbol.asyncDispose]: async () => rmSync(place, { recursive: true }),
  };
});
