import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Target } from '../../src/mirror/target.ts';
import type { Row } from '../../src/mirror/types.ts';
import { parseMysqlUrl } from '../../src/targets/sql/mysql/mysql-address.ts';
import { MysqlDatabase } from '../../src/targets/sql/mysql/mysql-database.ts';
import { type MysqlDriver, mysqlDriver } from '../../src/targets/sql/mysql/mysql-driver.ts';
import { MysqlError } from '../../src/targets/sql/mysql/mysql-errors.ts';
import { SqlTarget } from '../../src/targets/sql/sql-target.ts';
import type { SqlPlace } from '../contract/sql-target.ts';
import {
  AGE,
  CHECKPOINT,
  field,
  fieldList,
  FORM,
  NAME,
  pass,
  row,
  sorted,
} from '../contract/target-harness.ts';
import { lentMariadb } from '../support/lent-server.ts';
import { mysqlPlace } from '../support/mysql-place.ts';
import { mariadbMissing } from '../support/servers.ts';

/** Statements after which something is there for good; between two of them a death leaves what the first left. */
const LASTING = /^\s*(?:CREATE|ALTER|DROP|RENAME|COMMIT)\b/;

/** A driver whose process dies with its n-th such statement, without hearing its answer. */
function mortal(driver: MysqlDriver, nth: number): MysqlDriver & { left(): number } {
  let left = nth;
  const dead = (): MysqlError => new MysqlError({ code: 'PROTOCOL_CONNECTION_LOST' });
  return {
    left: () => left,
    pool: (settings) => driver.pool(settings),
    async connect() {
      if (left <= 0) throw dead();
      const client = await driver.connect();
      return {
        ...client,
        on: (event, listener) => client.on(event, listener),
        async ask(sql, timeoutMs) {
          if (left <= 0) throw dead();
          const answers = await client.ask(sql, timeoutMs);
          if (LASTING.test(sql)) left -= 1;
          if (left > 0) return answers;
          client.destroy();
          throw dead();
        },
      };
    },
  };
}

const LATE = field('field_9_z', 'Late');
const RELABELLED = { ...NAME, label: 'Who' };

/** The passes of a form's life, each of which changes tables: what they write of it. */
const PASSES: readonly { readonly fields: ReturnType<typeof fieldList>; readonly rows: Row[] }[] = [
  // The catalogue, the table, its view, the history of its rows, and the types of columns.
  {
    fields: fieldList(NAME, AGE),
    rows: [row('a', { field_1_a: 'x', field_2_b: 1 }), row('b', { field_2_b: 2 })],
  },
  // A column more, another label, and a column of texts beside one of numbers.
  {
    fields: fieldList(RELABELLED, AGE, LATE),
    rows: [
      row('a', { field_1_a: 'x', field_2_b: 1, field_9_z: 3 }),
      row('b', { field_2_b: 'two', field_9_z: 4 }),
      row('c', { field_1_a: 'z' }),
    ],
  },
];

async function takePass(target: Target, nth: number): Promise<void> {
  const { fields, rows } = PASSES[nth] ?? { fields: [], rows: [] };
  await using writer = await target.openWriter(FORM, { waitMs: 10_000 });
  await writer.prepare(fields);
  await writer.losses();
  await writer.apply(rows, []);
  await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
}

/** Everything that must be the same, however often a process died on the way. */
async function stateOf(place: SqlPlace): Promise<unknown> {
  const target = await place.open();
  try {
    const reader = await target.reader(FORM.id);
    const ids = reader === undefined ? [] : await sorted(reader.liveIds());
    const relations = await place.query(
      `SELECT table_name AS name, column_name AS col, data_type AS type FROM information_schema.columns
       WHERE table_schema = database() ORDER BY 1, 2`,
    );
    const checks = await target.check();
    return {
      relations,
      fields: await place.query(
        `SELECT field_id, column_name, label, type, text_column, view_label, text_view_label FROM mirror_fields ORDER BY ordinal`,
      ),
      forms: await place.query(
        'SELECT table_name, view_name, row_count, live_count, rejected_count, losses, history_table, history_open FROM mirror_forms',
      ),
      // Of the others it depends on when a process died whether there are any.
      versions: await place
        .query('SELECT * FROM contact_form_history WHERE _valid_to IS NULL ORDER BY id')
        .then((rows) => rows.map(({ _valid_from, ...version }) => version)),
      rows: [...((await reader?.rows(ids)) ?? [])],
      losses: await reader?.losses(),
      labelled: await place
        .query('SELECT * FROM contact_form_labelled ORDER BY id')
        .then((rows) => rows.map((one) => Object.keys(one).sort())),
      isWell: checks.every(({ ok }) => ok),
    };
  } finally {
    await target[Symbol.asyncDispose]();
  }
}

describe.skipIf(mariadbMissing())('L5: a process that dies while it changes tables', () => {
  let server: { url: string };
  beforeAll(async () => {
    server = await lentMariadb();
  });

  /** Lives through all passes, and dies in the last one at such a statement; false when it came to its end before. */
  async function live(place: SqlPlace, passes: number, nth: number): Promise<boolean> {
    const whole = await place.open();
    for (let before = 0; before < passes - 1; before++) await takePass(whole, before);
    const { connection } = parseMysqlUrl(place.url);
    const driver = mortal(mysqlDriver(connection), nth);
    const database = new MysqlDatabase(parseMysqlUrl(place.url), driver, systemClock);
    const target = new SqlTarget('mortal', database, systemClock, 'full');
    await takePass(target, passes - 1).catch(() => {});
    await target[Symbol.asyncDispose]();
    await whole[Symbol.asyncDispose]();
    // Whoever comes next knows nothing of it.
    await using next = await place.open('default', systemClock, 'full');
    await takePass(next, passes - 1);
    return driver.left() <= 0;
  }

  it.each([
    ['first', 1],
    ['later', 2],
  ] as const)(
    'at any statement of a %s pass: the next one mends it',
    { timeout: 600_000 },
    async (_, passes) => {
      const unharmed = await mysqlPlace(server);
      await live(unharmed, passes, Number.POSITIVE_INFINITY);
      const expected = await stateOf(unharmed);
      await unharmed.dispose();
      let deaths = 0;
      for (let nth = 1, died = true; died; nth++) {
        const place = await mysqlPlace(server);
        died = await live(place, passes, nth);
        expect([nth, await stateOf(place)]).toEqual([nth, expected]);
        deaths += died ? 1 : 0;
        await place.dispose();
      }
      expect(deaths).toBeGreaterThan(passes === 1 ? 20 : 8);
    },
  );
});
