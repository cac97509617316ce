import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Cell, JsonText } from '../../src/mirror/types.ts';
import { declareTypes } from '../../src/targets/sql/sqlite/sqlite-declaration.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { AGE, AT_ONCE, FORM, field, fieldList, NAME, row } from '../contract/target-harness.ts';

const TAGS = field('f3', 'Tags');

describe('types in a SQLite file', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'forms-mirror-types-'));
    path = join(folder, 'mirror.sqlite');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const store = async (...rows: [id: string, cells: Record<string, Cell>][]) => {
    await using target = openSqlite('default', path);
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare(fieldList(NAME, AGE, TAGS));
    return (
      await writer.apply(
        rows.map(([id, cells]) => row(id, cells)),
        [],
      )
    ).outcomes;
  };
  const read = async (id: string): Promise<unknown> => {
    await using target = openSqlite('default', path);
    return (await (await target.reader(FORM.id))?.rows([id]))?.get(id)?.cells.get(AGE.id);
  };
  const declared = (relation = 'contact_form'): Record<string, unknown> => {
    using database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare('SELECT name, type FROM pragma_table_xinfo(?)').all(relation);
    return Object.fromEntries(rows.map(({ name, type }) => [name, type]));
  };

  it('are declared, in the table and through its view', async () => {
    await store();
    expect(declared()).toMatchObject({ full_name: 'TEXT', age: 'TEXT', tags: 'TEXT' });
    await store(['a', { field_1_a: 'x', field_2_b: 1.5, f3: new JsonText('["x"]') }]);
    await store(['b', { field_2_b: 'two' }]);
    const types = { age: 'NUMERIC', age_text: 'TEXT', full_name: 'TEXT', tags: 'TEXT' };
    expect(declared()).toMatchObject(types);
    expect(declared('contact_form_labelled')).toMatchObject({
      Age: 'NUMERIC',
      'Age (text)': 'TEXT',
      Tags: 'TEXT',
    });
    using database = new DatabaseSync(path);
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });

  it.skipIf(spawnSync('python3', ['-c', 'import sqlite3']).status !== 0)(
    "are read by python's sqlite3 as they are declared",
    async () => {
      await store(
        ['a', { field_1_a: '007', field_2_b: 36, f3: new JsonText('["x"]') }],
        ['b', { field_2_b: 2.5 }],
        ['c', { field_2_b: 'many' }],
      );
      const program = `import sqlite3, sys
sqlite3.register_converter("NUMERIC", lambda text: ("number", float(text)))
sqlite3.register_converter("TEXT", lambda text: ("text", text.decode()))
base = sqlite3.connect(sys.argv[1], detect_types=sqlite3.PARSE_DECLTYPES)
print(base.execute("select full_name, age, age_text, tags from contact_form order by id").fetchall())
print(base.execute('select sum("Age") from contact_form_labelled').fetchone())`;
      const said = execFileSync('python3', ['-c', program, path], { encoding: 'utf8' });
      expect(said.trim().split('\n')).toEqual([
        `[(('text', '007'), ('number', 36.0), None, ('text', '["x"]')), (None, ('number', 2.5), None, None), (None, None, ('text', 'many'), None)]`,
        '(38.5,)',
      ]);
    },
  );

  it('L9: leave a column alone that people declared otherwise, or wrote to', async () => {
    await store();
    {
      using database = new DatabaseSync(path);
      database.exec(
        "INSERT INTO contact_form (id, status, age, _first_seen_at, _changed_at) VALUES ('x', 'NEW', 'mine', '', '')",
      );
    }
    await store(['a', { field_2_b: 5 }]);
    expect(declared()).toMatchObject({ age: 'TEXT' });
    expect(await read('x')).toBe('mine');
    expect(await read('a')).toBe('5');
    expect(await store(['a', { field_2_b: 5 }])).toEqual(['unchanged']);
  });
});

describe('a declaration', () => {
  const types = new Map([
    ['age', 'NUMERIC'],
    ['odd "name", it is', 'NUMERIC'],
  ]);

  it.each([
    ['CREATE TABLE t (id TEXT, "age", x)', 'CREATE TABLE t (id TEXT, "age" NUMERIC, x)'],
    ['CREATE TABLE "a(b" (id, "age" TEXT)', 'CREATE TABLE "a(b" (id, "age" NUMERIC)'],
    ['CREATE TABLE t (age text)', 'CREATE TABLE t (age NUMERIC)'],
    [
      'CREATE TABLE t (id /* "age", */, "odd ""name"", it is" -- , "age"\n, "age" TEXT)',
      'CREATE TABLE t (id /* "age", */, "odd ""name"", it is" -- , "age"\n, "age" NUMERIC)',
    ],
    [
      `CREATE TABLE t (x DEFAULT ('(, "age",'), "odd ""name"", it is" TEXT, CHECK (age > 0, "age"))`,
      `CREATE TABLE t (x DEFAULT ('(, "age",'), "odd ""name"", it is" NUMERIC, CHECK (age > 0, "age"))`,
    ],
  ])('%s', (sql, declared) => expect(declareTypes(sql, types)).toBe(declared));

  it.each(['"age" TEXT COLLATE NOCASE', '"age" INTEGER', '"age" CHECK (age > 0)', '[age] TEXT'])(
    'of %s is left as it is',
    (column) => {
      const sql = `CREATE TABLE t (id, ${column})`;
      expect(declareTypes(sql, types)).toBe(sql);
    },
  );
});
