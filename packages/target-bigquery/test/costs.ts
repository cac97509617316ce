// Prints what BigQuery would bill, as the emulator computes it: `node packages/target-bigquery/test/costs.ts`. Takes minutes.
import type { Cell, SelectedField, Row } from '../../../src/mirror/types.ts';
import type { Change, OpenForm, Store } from '../../../src/mirror/port.ts';
import { clock, formOf, NAME } from '../../../test/core/store-fixtures.ts';
import { ask, lentEmulator, newPlace, stopEmulator, storeAt } from './place.ts';

const ANSWERS = 20;
/** As a run commits them. */
const BATCH = 2_000;
const MONTHS = 24;
const fields: SelectedField[] = Array.from({ length: ANSWERS }, (_, at) => ({
  ...NAME,
  id: `f_${at}`,
  label: `Field ${at}`,
  position: at,
}));
const form = formOf('contact', fields);

const START = Date.UTC(2024, 0, 1);
/** Milliseconds between two of this many submissions. */
const stepOf = (many: number): number => Math.floor((MONTHS * 30.4 * 86_400_000) / many);

function rowOf(n: number, many: number, answer = ''): Row {
  const cells = new Map(
    fields.map(({ id }, index): [string, Cell] => [
      id,
      `answer ${n} to question ${index}${answer}`,
    ]),
  );
  return {
    id: `sub_${String(n).padStart(24, '0')}`,
    status: 'NEW',
    createdAt: new Date(START + n * stepOf(many)).toISOString(),
    cells,
  };
}

const emulator = await lentEmulator();

/** Opens the form, runs `work` and ends as a run does; prints the total cost. */
async function measured(
  what: string,
  store: Store,
  work: (open: OpenForm) => Promise<unknown>,
): Promise<void> {
  emulator.statements.clear();
  const open = await store.open(form);
  await open.prepare(form, fields);
  await work(open);
  await open.finish();
  await open[Symbol.asyncDispose]();
  const { jobs, statements, bytesBilled } = emulator.statements.totals();
  console.log(`| ${what} | ${jobs} | ${statements} | ${Math.round(bytesBilled / 2 ** 20)} MB |`);
}

const commits =
  (change: (from: number) => Change, many: number) =>
  async (open: OpenForm): Promise<void> => {
    for (let from = 0; from < many; from += BATCH) await open.commit(change(from));
  };

/** This many are not written by commits, but by one statement. */
const bulk = 200_000;

async function fill(dataset: string, many: number): Promise<void> {
  const answers = fields.map(
    (_, at) => `CONCAT('answer ', CAST(n AS STRING), ' to question ${at}')`,
  );
  const columns = fields.map((_, at) => `field_${at}`);
  const numbers = (step: number, end: number): string =>
    `UNNEST([${Array.from({ length: end / step }, (_, at) => at * step).join(',')}])`;
  await ask(
    dataset,
    `INSERT INTO contact (id, status, created_at, ${columns.join(', ')}, _first_seen_at, _changed_at)
     SELECT CONCAT('sub_000000000000', SUBSTR(CAST(1000000000000 + n AS STRING), 2)), 'NEW', TIMESTAMP_MILLIS(${START} + n * ${stepOf(many)}),
     ${answers.join(', ')}, TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-01'
     FROM (SELECT a + b AS n FROM ${numbers(1_000, many)} AS a CROSS JOIN ${numbers(1, 1_000)} AS b) WHERE n > 0`,
  );
}

for (const many of process.argv.slice(2).map(Number)) {
  const { url, dataset } = await newPlace();
  await using store = await storeAt(url, clock);
  const batch = (from: number): Change => ({
    rows: Array.from({ length: Math.min(BATCH, many - from) }, (_, at) => rowOf(from + at, many)),
  });
  if (many < bulk) {
    await measured(
      `a first copy of ${many} rows of ${ANSWERS} answers`,
      store,
      commits(batch, many),
    );
    await measured(`the same ${many} read again, nothing changed`, store, commits(batch, many));
  } else {
    await measured('the tables and views of a form, made for the first time', store, (open) =>
      open.commit({ rows: [rowOf(0, many)] }),
    );
    await fill(dataset, many);
    await measured('a run without changes: one row is read again', store, (open) =>
      open.commit({ rows: [rowOf(0, many)] }),
    );
    const changed = (step: number): Row[] =>
      Array.from({ length: 10 }, (_, at) => rowOf(many - 1 - at * step, many, ' changed'));
    await measured(`10 changed in one month, among ${many}`, store, (open) =>
      open.commit({ rows: changed(1) }),
    );
    await measured(`10 changed in 10 of ${MONTHS} months, among ${many}`, store, (open) =>
      open.commit({ rows: changed(Math.floor(many / 11)) }),
    );
  }
}
await stopEmulator();
