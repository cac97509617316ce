import { createConnection } from 'mysql2/promise';
import { expect, it } from 'vitest';
import { fieldColumnName } from '../../src/mirror/column-names.ts';
import type { Cell } from '../../src/mirror/types.ts';
import { lentMariadb } from '../support/lent-server.ts';
import { createMysqlDatabase, mariadbMissing } from '../support/servers.ts';
import { AGE, claimed, NAME, row } from './store-fixtures.ts';
import { allRows as all, type Bed, describeSqlStore, type Place } from './sql-store-cases.ts';

/** Differences of MySQL and MariaDB from SQLite that the simulation does not draw. */

const description = { name: 'MariaDB', isMissing: mariadbMissing(), kind: 'server' } as const;

async function open(): Promise<Place> {
  const url = await createMysqlDatabase(await lentMariadb());
  const person = await createConnection({
    uri: url,
    charset: 'utf8mb4',
    multipleStatements: true,
    timezone: 'Z',
  });
  await person.query(`SET sql_mode = 'ANSI_QUOTES'`);
  const query = async (sql: string): Promise<Record<string, unknown>[]> => {
    const [rows] = await person.query(sql);
    return Array.isArray(rows)
      ? (rows as Record<string, unknown>[]).map((each) => Object.assign({}, each))
      : [];
  };
  const others =
    'SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()';
  return {
    url,
    query,
    addTrigger: (table) =>
      `CREATE TRIGGER theirs BEFORE INSERT ON ${table} FOR EACH ROW SET NEW.full_name = 'other'`,
    server: {
      async endHolders() {
        for (const { id } of await query(others)) await query(`KILL ${String(id)}`);
        // The locks end with the sessions.
        await expect.poll(() => query(others)).toEqual([]);
      },
      makeAnalyst: `CREATE USER IF NOT EXISTS mirror_analyst; GRANT SELECT ON kept_live TO mirror_analyst`,
      mayRead: async () =>
        JSON.stringify(await query('SHOW GRANTS FOR mirror_analyst')).includes('kept_live'),
    },
    [Symbol.asyncDispose]: () => person.end(),
  };
}

describeSqlStore(description, open, special);

function special({ query, values, write }: Bed): void {
  it('L10: distinguishes IDs by case, accents and spaces, and keeps every text unchanged', async () => {
    const texts = ['x ', 'X', 'é', 'e', '😀\\', 'it\'s "$1"', 'a\0b', 'line\r\nbreak', '%_'];
    const rows = [...texts.entries()].map(([at, text]) =>
      row(['a', 'A', 'a ', 'á', '😀', "'", '\\', '"', '$1'][at] ?? '', { f_name: text }),
    );
    await write('texts', (form) => form.commit({ rows }));
    const { result } = await write('texts', async (form) => {
      const found = await all(form);
      return [found.map(({ id, cells }) => [id, cells.get('f_name')]), await form.commit({ rows })];
    });
    expect(new Map(result[0] as [string, Cell][])).toEqual(
      new Map(rows.map(({ id, cells }) => [id, cells.get('f_name') ?? null])),
    );
    expect(result[1]).toMatchObject({ unchanged: rows.length });
    const done = rows.map(({ id }) => row(id, {}, 'DONE'));
    await write('texts', (form) => form.commit({ rows: done }));
    const ended = await query('SELECT id, full_name AS f FROM texts_history WHERE _valid_to > 0');
    expect(new Map(ended.map(({ id, f }) => [id, f]))).toEqual(
      new Map(rows.map(({ id, cells }) => [id, cells.get('f_name') ?? null])),
    );
  });

  it('L10: accepts IDs and names of the maximum length', async () => {
    const id = '\u{FFFD}'.repeat(500);
    await write('longest', (form) =>
      form.commit({
        rows: [row(id, { f_name: 'x' })],
        entries: [
          {
            kind: 'rejected',
            id: `${id.slice(1)}a`,
            status: 'NEW',
            createdAt: null,
            reason: 'r',
            atMs: 0,
          },
        ],
      }),
    );
    expect(await query('SELECT char_length(id) AS n FROM longest')).toEqual([{ n: 500 }]);
  });

  it('shows the same in any mode of the reader, and removes characters that a name cannot have', async () => {
    await write('modes', (form) =>
      form.commit({ rows: [row('a', { f_name: 'x' })], state: claimed }),
    );
    await write('modes', async () => {}, [{ ...NAME, label: 'Näme 😀' }, AGE]);
    for (const mode of ['ANSI_QUOTES,STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES', '']) {
      await query(`SET sql_mode = '${mode}'`);
      expect(
        await values(
          `SELECT label FROM mirror_fields WHERE form_id = 'form_modes' ORDER BY position`,
        ),
      ).toEqual([['Näme 😀'], ['Age']]);
      expect(
        await values(
          "SELECT `rows` AS n, CAST(submissions_as_of AS char) AS s, answers_as_of AS a FROM freshness WHERE form = 'modes'",
        ),
      ).toEqual([['1', '2026-01-01 00:00:00.000000', '']]);
      expect(await query('SELECT `Näme \uFFFD` AS n FROM modes_labelled')).toEqual([{ n: 'x' }]);
    }
    await query(`SET sql_mode = 'ANSI_QUOTES'`);
  });

  it('L9: gives names that need no backticks, and labels that it distinguishes', async () => {
    const words = await query(
      "SELECT word FROM information_schema.keywords WHERE word REGEXP '^[A-Z_]+$'",
    );
    const names = words.map(({ word }) =>
      fieldColumnName({ id: 'f_0', label: String(word) }, new Set()),
    );
    const made = names.map((name) => `1 AS ${name}`).join(', ');
    expect(await query(`SELECT ${names.join(', ')} FROM (SELECT ${made}) AS t`)).toHaveLength(1);
    const labels = ['İsim', 'isim', 'ısım', 'Café', 'cafe', 'ß', 's', 'ss'];
    const fields = Array.from(labels, (label, position) => ({
      ...NAME,
      id: `f_${position}`,
      label,
      position,
    }));
    const answers = Object.fromEntries(fields.map(({ id }) => [id, 'x']));
    const { notes } = await write(
      'labels',
      (form) => form.commit({ rows: [row('a', answers)] }),
      fields,
    );
    expect(notes).toEqual([]);
  });

  it("L11: names a person's key that refuses a row, and never the answer that it refuses", async () => {
    await write('keyed', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    await query('CREATE UNIQUE INDEX theirs ON keyed (full_name(100))');
    const rows = ['b', 'c'].map((id) => row(id, { f_name: `column "earns 9000" here` }));
    const refused = write('keyed', (form) => form.commit({ rows }));
    await expect(refused).rejects.toThrow(/ refused a statement \(1062, theirs\)/);
  });

  it('L5: recognizes the columns and views that a killed process left', async () => {
    await write('killed', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    // The state after a process ends when the state names a column: before the column is made, or before a row uses it.
    const name = async (make: boolean): Promise<void> => {
      const [kept] = await query(`SELECT fields FROM _mirror_state WHERE form_id = 'form_killed'`);
      const fields = JSON.parse(String(kept?.['fields'])) as Record<string, unknown>[];
      const age = fields.find(({ id }) => id === 'f_age');
      Object.assign(age ?? {}, { column: 'age', type: 'number' });
      await query(
        `UPDATE _mirror_state SET fields = '${JSON.stringify(fields)}', revision = revision + 1 WHERE form_id = 'form_killed'`,
      );
      if (make) await query('ALTER TABLE killed ADD COLUMN age double');
    };
    await name(false);
    const unmade = await write('killed', async () => {});
    expect(unmade).toMatchObject({
      notes: [],
      losses: ['The column age of killed is missing; it is added and filled.'],
    });
    await name(true);
    const made = await write('killed', (form) =>
      form.commit({ rows: [row('b', { f_name: 'y', f_age: 5 })] }),
    );
    expect(made).toMatchObject({ notes: [], losses: [] });
    expect(await query('SELECT * FROM killed_live ORDER BY id')).toMatchObject([
      { id: 'a', full_name: 'x', age: null },
      { id: 'b', full_name: 'y', age: 5 },
    ]);
    await query(
      `UPDATE _mirror_records SET value = JSON_SET(value, '$.views.killed_live', '') WHERE name = 'views'`,
    );
    expect((await write('killed', async () => {})).notes).toEqual([]);
  });
}
