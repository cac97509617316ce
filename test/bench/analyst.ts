import { BATCH_ROWS, type RowTarget, rowTarget } from './stages/row-target.ts';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import { JsonText, type Cell, type SelectedField, type Row } from '../../src/mirror/types.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { field, fieldList, row } from '../support/rows.ts';
import { type AnalystDatabase, analystQueries } from '../support/analyst-queries.ts';
import {
  createDatabase,
  createMysqlDatabase,
  startMariadb,
  startPostgres,
} from '../support/servers.ts';
import { scratchFolder } from '../support/scratch.ts';

// Times the queries of docs/analysts.md, and what else is asked of the views over all forms, on a form `contact` of 20
// fields and a form `workshop`, twenty times smaller, beside as many further forms as are asked for.
// Run with: npm run bench analyst [submissions, 100000 unless told] [further forms, 0] [sqlite,postgres,mariadb]

const [, , rowsText = '100000', formsText = '0', wanted = 'sqlite,postgres,mariadb'] = process.argv;
const ROWS = Number(rowsText);
const FORMS = Number(formsText);
const ROUNDS = 3;

const SOURCES = ['Web', 'Friend', 'Advert', 'Fair', 'Press'];
const TOPICS = ['Price', 'Delivery', 'Quality', 'Service', 'Other'];
const WORDS = 'a refund of what was paid would be welcome since nothing came on the day'.split(' ');

const others = Array.from({ length: 16 }, (_, index) => field(`c_${index}`, `Question ${index}`));
const CONTACT = fieldList(
  field('c_email', 'Email'),
  field('c_source', 'Source'),
  field('c_topics', 'Topics'),
  field('c_message', 'Message'),
  ...others,
);
const WORKSHOP = fieldList(field('w_email', 'Email'), field('w_seats', 'Seats'));

/** Submissions over three years, the same in each run. */
const dated = (index: number, cells: Record<string, Cell>): Row =>
  row(`sub_${index.toString(36).padStart(8, '0')}`, cells, {
    createdAt: new Date(Date.UTC(2023, 0, 1) + index * (94_608_000_000 / ROWS)).toISOString(),
    status: index % 10 === 0 ? 'NEW' : 'DONE',
  });

const contact = (index: number): Row =>
  dated(index, {
    c_email: `person${index}@example.com`,
    c_source: SOURCES[index % SOURCES.length]!,
    c_topics: new JsonText(JSON.stringify(TOPICS.slice(0, 1 + (index % TOPICS.length)))),
    c_message: WORDS.slice(index % 7, 7 + (index % 8)).join(' '),
    ...Object.fromEntries(
      others.map(({ id }, at) => [
        id,
        at % 4 === 0 ? index % 97 : `answer ${(index * at) % 1_000}`,
      ]),
    ),
  });
const workshop = (index: number): Row =>
  dated(index, { w_email: `PERSON${index * 20}@example.com`, w_seats: 1 + (index % 4) });

async function store(
  target: RowTarget,
  slug: string,
  fields: readonly SelectedField[],
  rows: number,
  make: (index: number) => Row,
): Promise<void> {
  const batches = Array.from({ length: Math.ceil(rows / BATCH_ROWS) }, (_, nth) => {
    const start = nth * BATCH_ROWS;
    return Array.from({ length: Math.min(BATCH_ROWS, rows - start) }, (_row, at) =>
      make(start + at),
    );
  });
  await target.write({ id: `frm_${slug}`, slug, name: slug }, fields, batches);
}

/** What is asked besides: how the views scale. */
const MORE: readonly { readonly question: string; readonly sql: string }[] = [
  { question: '(count of submissions)', sql: 'SELECT count(*) FROM submissions' },
  { question: '(count of answers)', sql: 'SELECT count(*) FROM answers' },
  {
    question: '(count of answers of a form)',
    sql: "SELECT count(*) FROM answers WHERE form_id = 'frm_workshop'",
  },
  {
    question: '(answers of one submission)',
    sql: "SELECT * FROM answers WHERE form_id = 'frm_contact' AND submission_id = 'sub_00000abc'",
  },
  {
    question: '(the same without the form)',
    sql: "SELECT * FROM answers WHERE submission_id = 'sub_00000abc'",
  },
  {
    question: '(dates, and texts that are none)',
    sql: "SELECT count(value_date) FROM answers WHERE slug = 'contact' AND label = 'Question 1'",
  },
];

/** The best of some runs, in ms. */
async function time(run: () => Promise<unknown>): Promise<number> {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await run();
    best = Math.min(best, performance.now() - start);
  }
  return Math.round(best);
}

async function measure(
  database: AnalystDatabase,
  url: string,
  run: (sql: string) => Promise<unknown>,
): Promise<Map<string, number>> {
  const opened = await parseTargetUrl(url).open('default', { history: 'full' });
  await using target = rowTarget(opened);
  const began = performance.now();
  await store(target, 'contact', CONTACT, ROWS, contact);
  await store(target, 'workshop', WORKSHOP, ROWS / 20, workshop);
  const stored = performance.now();
  for (let form = 0; form < FORMS; form++) {
    await store(target, `more-${form}`, CONTACT, 10, contact);
  }
  const ended = performance.now();
  process.stderr.write(
    `${database}: stored in ${Math.round(stored - began)} ms, ${FORMS} further forms in ${Math.round(ended - stored)} ms\n`,
  );
  if (database === 'postgres') await run('ANALYZE');
  if (database === 'mariadb') {
    await run('ANALYZE TABLE contact, workshop, _mirror_state, _mirror_versions');
  }
  const times = new Map<string, number>();
  for (const { question, sql } of [...analystQueries(database), ...MORE]) {
    const ms = await time(() => run(sql));
    process.stderr.write(`${database}: ${question}: ${ms} ms\n`);
    times.set(question, ms);
  }
  return times;
}

/** Times everything in one database, on a server of its own. */
const MEASURES: Readonly<Record<AnalystDatabase, () => Promise<Map<string, number>>>> = {
  async sqlite() {
    const folder = scratchFolder('analyst');
    const file = join(folder, 'mirror.sqlite');
    const opened: DatabaseSync[] = [];
    try {
      return await measure('sqlite', `sqlite:${file}`, async (sql) => {
        const [database = new DatabaseSync(file, { readOnly: true })] = opened;
        opened[0] = database;
        return database.prepare(sql).all();
      });
    } finally {
      opened[0]?.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  async postgres() {
    const server = await startPostgres();
    try {
      const url = await createDatabase(server);
      const client = new Client({ connectionString: url });
      client.on('error', () => {});
      await client.connect();
      const times = await measure('postgres', url, (sql) => client.query(sql));
      await client.end();
      return times;
    } finally {
      await server.stop();
    }
  },
  async mariadb() {
    const server = await startMariadb();
    try {
      const url = await createMysqlDatabase(server);
      // As people's tools connect.
      const client = await createConnection({ uri: url, charset: 'utf8mb4' });
      const times = await measure('mariadb', url, (sql) => client.query(sql));
      await client.end();
      return times;
    } finally {
      await server.stop();
    }
  },
};

const results: Record<string, Map<string, number>> = {};
for (const [database, times] of Object.entries(MEASURES)) {
  if (wanted.split(',').includes(database)) results[database] = await times();
}
const names = Object.keys(results);
const questions = [...Object.values(results)[0]!.keys()];
console.log(`| question | ${names.join(' | ')} |\n| --- |${names.map(() => ' ---: |').join('')}`);
for (const question of questions) {
  console.log(
    `| ${question} | ${names.map((name) => `${results[name]!.get(question)} ms`).join(' | ')} |`,
  );
}
