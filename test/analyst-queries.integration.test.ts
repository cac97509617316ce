import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Cell, SelectedField } from '../src/mirror/types.ts';
import { parseTargetUrl } from '../src/targets/target-kinds.ts';
import { claimed, formOf, row } from './core/store-fixtures.ts';
import { lentMariadb, lentPostgres } from './support/lent-server.ts';
import { MirrorView } from './support/mirror-view.ts';
import { projectText } from './support/readme.ts';
import { scratchFolder } from './support/scratch.ts';
import {
  createDatabase,
  createMysqlDatabase,
  mariadbMissing,
  postgresMissing,
} from './support/servers.ts';

const DATABASES = [
  ...(postgresMissing() ? [] : ['postgres']),
  ...(mariadbMissing() ? [] : ['mariadb']),
  'sqlite',
];

const BLOCK = /^```sql ?([a-z ]*)\n([\s\S]*?)^```$/gm;

const fieldsOf = (...labels: string[]): SelectedField[] =>
  labels.map((label, position) => {
    return { id: label.toLowerCase(), label, position, inSchema: true, hashed: false };
  });

/** The time of every row, as databases write it. */
const CREATED_AT = /^2026-01-01[T ]00:00:00\.123456(?:Z|\+00)?$/;

/** Stores the two forms of the page; one submission changes. */
async function fill(url: string): Promise<void> {
  const cells = { email: 'ann@example.com', source: 'Web', topics: 'Price', message: 'A refund!' };
  const store = async (slug: string, fields: SelectedField[], answers: Record<string, Cell>) => {
    await using target = await parseTargetUrl(url).open('default', { history: 'full' });
    await using open = await target.open(formOf(slug, fields));
    await open.prepare(formOf(slug, fields), fields);
    const id = slug === 'contact' ? 'sub_0123456789' : 'sub_workshop';
    await open.commit({
      rows: [row(id, answers), row(`${id}_open`, answers)],
      state: claimed,
    });
    await open.commit({ rows: [row(id, { ...answers, source: 'Friend' }, 'DONE')] });
    await open.finish();
  };
  await store('contact', fieldsOf('Email', 'Source', 'Topics', 'Message'), cells);
  await store('workshop', fieldsOf('Email', 'Seats'), { email: cells.email, seats: 2 });
}

it.each(DATABASES)('every query of docs/analysts.md finds rows in %s', async (database) => {
  const folder = scratchFolder('analyst');
  try {
    const url =
      database === 'postgres'
        ? await createDatabase(await lentPostgres())
        : database === 'mariadb'
          ? await createMysqlDatabase(await lentMariadb())
          : `sqlite:${join(folder, 'mirror.sqlite')}`;
    await fill(url);
    const view = new MirrorView(url);
    const queries = [...projectText('docs/analysts.md').matchAll(BLOCK)].flatMap(
      ([, databases = '', sql = '']) =>
        databases === '' || databases.split(' ').includes(database) ? sql : [],
    );
    expect(queries.length).toBeGreaterThan(10);
    const times = await view.ask('SELECT DISTINCT created_at AS at FROM submissions');
    expect(times.map(({ at }) => String(at))).toEqual([expect.stringMatching(CREATED_AT)]);
    for (const sql of queries) {
      expect([sql, await view.ask(sql)]).toEqual([
        sql,
        expect.arrayContaining([expect.anything()]),
      ]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
