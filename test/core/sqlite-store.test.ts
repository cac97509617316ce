import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { hashedCell } from '../../src/mirror/cells.ts';
import { wholeRead } from '../../src/mirror/form-state.ts';
import type { Cell } from '../../src/mirror/types.ts';
import { scratchFolder } from '../support/scratch.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { type Bed, bedOf, describeSqlStore, type Place } from './sql-store-cases.ts';
import { AGE, formOf, NAME, row } from './store-fixtures.ts';

/** Cases that the simulation does not draw: the limits of a database, its views, and traces of erased answers. */

async function open(place = scratchFolder('sql')): Promise<Place> {
  const file = join(place, 'mirror.sqlite');
  return {
    url: `sqlite:${file}`,
    async query(sql) {
      using person = new DatabaseSync(file);
      return person
        .prepare(sql)
        .all()
        .map((each) => Object.assign({}, each));
    },
    addTrigger: (table) =>
      `CREATE TRIGGER theirs_${table} BEFORE INSERT ON ${table} BEGIN SELECT RAISE(IGNORE); END`,
    [Symbol.asyncDispose]: async () => rmSync(place, { recursive: true }),
  };
}

describeSqlStore({ name: 'SQLite', kind: 'file' }, open, special);

function special({ store, url, query, write }: Bed): void {
  const file = (): string => url().slice('sqlite:'.length);

  it('L4: does not change the file for rows that are all stored, nor when it opens a form', async () => {
    const rows = [row('a', { f_name: 'x' }), row('b', { f_name: 'y' })];
    await write('same', (form) => form.commit({ rows }));
    using reader = new DatabaseSync(file());
    const version = reader.prepare('PRAGMA data_version');
    await using opened = await store();
    await opened.states();
    const before = version.get();
    await using form = await opened.open(formOf('same', [NAME, AGE]));
    await form.prepare(formOf('same', [NAME, AGE]), [NAME, AGE]);
    await form.commit({ rows });
    expect(version.get()).toEqual(before);
    await form.commit({ rows, state: (state) => wholeRead(state, 1) });
    expect(version.get()).not.toEqual(before);
  });

  it('does not rewrite the file if nothing is old enough to be purged', async () => {
    await write('young', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    const ages = { deletedBeforeMs: 0, versionsBeforeMs: 0 };
    const before = readFileSync(file());
    await write('young', async (form) => {
      expect(await form.erase({ kind: 'purge', ...ages })).toBe(0);
    });
    expect(readFileSync(file()).equals(before)).toBe(true);
  });

  it.each(['DEFAULT', 'AS'])(
    'L9: does not change columns that people added with %s, even if a field has their name',
    async (how) => {
      const table = `added_${how.toLowerCase()}`;
      const store = (cells: Record<string, Cell>) =>
        write(table, (form) => form.commit({ rows: [row('a', cells)] }));
      await store({ f_name: 'x' });
      await query(`ALTER TABLE ${table} ADD COLUMN age TEXT ${how} ('mine')`);
      await store({ f_name: 'x', f_age: 7 });
      expect(await query(`SELECT age, age_2 FROM ${table}`)).toEqual([{ age: 'mine', age_2: 7 }]);
    },
  );

  it('L6: has failed, and rejects no row, if it would also refuse the row without its answers', async () => {
    await write('limited', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    await query(
      'CREATE TRIGGER limits BEFORE INSERT ON limited BEGIN SELECT zeroblob(1000000001); END',
    );
    const refused = write('limited', (form) => form.commit({ rows: [row('b', { f_name: 'y' })] }));
    await expect(refused).rejects.toMatchObject({ code: 'TARGET_FAILED' });
    expect(await query(`SELECT * FROM mirror_rejected WHERE form_id = 'form_limited'`)).toEqual([]);
  });

  it('L11: keeps no plain answer of a field that is hashed', async () => {
    const hash = (cell: Cell): Cell => hashedCell(cell, 'a-key-of-thirty-two-characters-at-least');
    // More versions than are read at once.
    const ids = Array.from({ length: 2_001 }, (_, at) => `id${at}`);
    for (const name of ['plain one', 'plain two'])
      await write('hashed', (form) =>
        form.commit({ rows: ids.map((id) => row(id, { f_name: name, f_age: 42_424_242 })) }),
      );
    await write('hashed', (form) =>
      form.erase({ kind: 'rehash', fieldIds: ['f_name', 'f_age'], hash }),
    );
    expect(readFileSync(file(), 'latin1')).not.toMatch(/plain (one|two)|42424242/);
    expect(await query('SELECT DISTINCT full_name AS n FROM hashed')).toEqual([
      { n: hash('plain two') },
    ]);
  });

  it('L14: has the index over live rows before the first row', async () => {
    await write('indexed', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    const index = `name LIKE '_mirror_live_%' AND tbl_name = 'indexed'`;
    expect(await query(`SELECT 1 FROM sqlite_schema WHERE ${index}`)).toHaveLength(1);
  });

  it('L12: opens its file again once it is back, however often it could not', async () => {
    await using place = await open();
    const path = place.url.slice('sqlite:'.length);
    await using opened = await bedOf(() => place).store();
    await opened.putRecord('one', 1, null);
    // As if the disk is not mounted: something else has the path.
    renameSync(path, `${path}.kept`);
    mkdirSync(path);
    for (let times = 0; times < 2; times++)
      await expect(opened.record('one')).rejects.toMatchObject({ code: 'TARGET_DENIED' });
    rmdirSync(path);
    renameSync(`${path}.kept`, path);
    expect(await opened.record('one')).toMatchObject({ value: 1 });
  });

  it('L18: does not touch a file that lost our tables beside its rows', async () => {
    await using place = await open();
    const lost = bedOf(() => place);
    await lost.write('contact', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    for (const { name } of await place.query(`SELECT name FROM sqlite_schema WHERE type = 'view'`))
      await place.query(`DROP VIEW "${String(name)}"`);
    await place.query('DROP TABLE _mirror_state');
    const written = lost.write('contact', async () => {});
    await expect(written).rejects.toMatchObject({ code: 'TARGET_FAILED' });
  });

  it('L18: brings no submission back if its records were lost', async () => {
    await using place = await open();
    const lost = bedOf(() => place);
    const rows = [row('a', {}), row('b', {})];
    await lost.write('contact', async (form) => {
      await form.commit({ rows });
      await form.erase({ kind: 'forget', ids: ['b'] });
    });
    await place.query('DELETE FROM _mirror_records');
    await lost.write('contact', (form) => form.commit({ rows }));
    expect(await place.query('SELECT id FROM contact')).toEqual([{ id: 'a' }]);
  });

  it('L18: an erasure without room to rewrite the file fails, leaves the room that there is, and is finished by the next run', async ({
    skip,
    onTestFinished,
  }) => {
    const disk = mountSmallDisk(16);
    if (disk === undefined) return skip('this user may not mount a file system');
    onTestFinished(() => disk.unmount());
    const place = await open(disk.folder);
    // As in a process that goes on: closing the file frees what SQLite uses beside it.
    await using opened = await bedOf(() => place).store();
    const form = formOf('contact', [NAME]);
    const rows = Array.from({ length: 5_000 }, (_, at) =>
      row(`id${at}`, { f_name: `secret${at} `.repeat(60) }),
    );
    const free = (): number => statfsSync(disk.folder).bavail * statfsSync(disk.folder).bsize;
    const left = 1_500_000;
    const failure = {
      code: 'TARGET_FULL',
      message: expect.stringMatching(
        /full.* Make room\. An erasure needs as much .* may still be in the file/,
      ),
    };
    {
      await using first = await opened.open(form);
      await first.prepare(form, [NAME]);
      await first.commit({ rows });
      await first.finish();
      writeFileSync(join(disk.folder, 'others'), Buffer.alloc(free() - left));
      const erased = first.erase({ kind: 'forget', ids: ['id7'] });
      await expect(erased).rejects.toMatchObject(failure);
    }
    await expect(opened.open(form)).rejects.toMatchObject(failure);
    expect(free()).toBeGreaterThan(left / 2);
    rmSync(join(disk.folder, 'others'));
    await using next = await opened.open(form);
    expect(next.state.tally).toMatchObject({ rows: { NEW: 4_999 }, forgotten: 1 });
    for (const file of readdirSync(disk.folder).filter((name) => !name.includes('lock')))
      expect(readFileSync(join(disk.folder, file), 'latin1')).not.toContain('secret7 ');
  });

  it('L18: an erasure fails while a reader keeps the bytes in the file, and the next run removes them', async () => {
    const add = () =>
      write('looked', (form) => form.commit({ rows: [row('a', { f_name: 'secret9' })] }));
    await add();
    const reader = new DatabaseSync(file());
    reader.exec('BEGIN; SELECT count(*) FROM looked');
    const erased = write('looked', (form) => form.erase({ kind: 'forget', ids: ['a'] }));
    await expect(erased).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      message: expect.stringMatching(/save or close it there\. Repeat an erasure/),
    });
    reader.close();
    await write('looked', async () => {});
    expect(readFileSync(file(), 'latin1')).not.toContain('secret9');
    expect(await query(`SELECT id FROM looked`)).toEqual([]);
  });

  it('L18: fills a table that a person dropped because its list of forgotten submissions was lost', async () => {
    await using place = await open();
    const lost = bedOf(() => place);
    await lost.write('contact', async (form) => {
      await form.commit({ rows: [row('a', {}), row('b', {}), row('c', {})] });
      await form.commit({ deleted: ['c'] });
      await form.erase({ kind: 'forget', ids: ['b'] });
    });
    await place.query('DELETE FROM _mirror_entries');
    const refused = lost.write('contact', async () => {});
    await expect(refused).rejects.toMatchObject({
      message: expect.stringContaining('drop the table'),
    });
    await place.query('DROP TABLE contact');
    const { losses } = await lost.write('contact', (form) => form.commit({ rows: [row('a', {})] }));
    expect(losses).toEqual([
      'The table contact is missing; it is filled again, without submissions that the source has deleted.',
    ]);
  });

  it('does not touch a file of another build', async () => {
    await using place = await open();
    const other = bedOf(() => place);
    await other.write('contact', async () => {});
    await place.query(`UPDATE _mirror_records SET value = '"1"' WHERE name = 'schema'`);
    await using opened = await other.store();
    await expect(opened.forms()).rejects.toMatchObject({ code: 'OTHER_SCHEMA' });
  });

  it('a change of the tables raises the schema', async () => {
    await using place = await open();
    await bedOf(() => place).write('contact', async () => {});
    const tables = await place.query(
      `SELECT sql FROM sqlite_schema WHERE name LIKE '\\_mirror\\_%' ESCAPE '\\' AND sql LIKE 'CREATE TABLE%' ORDER BY name`,
    );
    const [schema] = await place.query(`SELECT value FROM _mirror_records WHERE name = 'schema'`);
    const digest = createHash('sha256').update(JSON.stringify(tables)).digest('hex').slice(0, 8);
    // If this fails, raise SCHEMA in src/targets/sql/schema.ts, and write both values here.
    expect({ digest, schema: schema?.['value'] }).toEqual({ digest: '63e2a59e', schema: '"13"' });
  });
}
