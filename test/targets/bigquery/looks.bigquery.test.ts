import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { App } from '../../../src/app.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { readOverview } from '../../../src/health/facts.ts';
import type { Environment } from '../../../src/settings/variables.ts';
import { LOOK_TABLES, STORING_TABLES } from '../../../src/settings/cost-hints.ts';
import { LEAST_BILLED_BYTES } from '../../../src/targets/sql/bigquery/bigquery-spending.ts';
import {
  type BigQueryPlace,
  bigQueryPlace,
  type BigQueryStandIn,
  startBigQuery,
} from '../../support/bigquery-place.ts';
import { LookPlace } from '../../support/look-place.ts';

/*
 * What looks are billed, by the reckoning of the stand-in: exact, so that a statement that somebody adds to a look is noticed.
 * docs/bigquery.md and the hint of `check` say the same numbers.
 */

const LONG = { timeout: 400_000 };
/** Longer than any pause between calls, shorter than any time limit. */
const LONGEST_PAUSE_MS = 12_000;

/** The real time, but that pauses take none. */
const quickClock = (): Clock => {
  let lateMs = 0;
  return {
    now: () => Date.now() + lateMs,
    async sleep(ms, signal) {
      if (ms > LONGEST_PAUSE_MS) return systemClock.sleep(ms, signal);
      lateMs += ms;
    },
  };
};

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());

/** A workspace of some forms that is mirrored, and a process that looks at it again and again. */
async function openMirror(forms: number, more: Environment = {}) {
  const data: BigQueryPlace = await bigQueryPlace(standIn);
  const place = await LookPlace.open({
    forms,
    each: 4,
    env: {
      BIGQUERY_EMULATOR_URL: standIn.url.replace(/\/$/, ''),
      TARGET_URL: data.url,
      ...more,
    },
  });
  const clock = quickClock();
  const start = (): App => {
    const app = place.process({}, clock);
    onTestFinished(() => app[Symbol.asyncDispose]());
    return app;
  };
  const app = start();
  /** What a tick did, and was billed: in statements, and in units of the least that a statement is. */
  const tick = async (process = app) => {
    standIn.statements.clear();
    const { visited, marked } = await place.tickOf(process);
    const { statements, bytesBilled } = standIn.statements.totals();
    return { visited, marked, statements, units: bytesBilled / LEAST_BILLED_BYTES };
  };
  /** Ticks until a look is billed one statement: each counts the rows of two forms that were written since. */
  const settle = async (): Promise<number> => {
    for (let looks = 1; looks <= forms + 4; looks++)
      if ((await tick()).statements === 1) return looks;
    throw new Error('no look was quiet');
  };
  return { data, place, app, start, tick, settle };
}

const QUIET = { visited: [], marked: [], statements: 1, units: 1 };

describe('a look at forms in BigQuery that finds nothing', () => {
  it.each([1, 20])('is billed one small statement for %s forms', LONG, async (forms) => {
    const { tick, settle, place } = await openMirror(forms);
    expect((await tick()).visited).toHaveLength(forms);
    // The pass wrote to each form, so its rows are counted once, two forms a look.
    expect(await settle()).toBe(Math.ceil(forms / 2) + 1);
    expect(await tick()).toEqual(QUIET);
    const [{ sql, statementType } = { sql: '', statementType: '' }] = standIn.statements.all();
    expect([statementType, sql.replace(/`.*\.(\w+)`/, '$1')]).toEqual([
      'SELECT',
      'SELECT form_id, state FROM mirror_state',
    ]);
    expect(standIn.statements.totals().bytesBilled).toBe(LOOK_TABLES * LEAST_BILLED_BYTES);
    // What it found is kept all the same, for nothing.
    const target = await place.process().target('default');
    const [form] = await target.overview();
    expect(form?.look).toMatchObject({ isOpen: false });
    await target[Symbol.asyncDispose]();
  });

  it(
    'is billed no more where submissions are marked, and what marking changed is no reason to visit a form',
    LONG,
    async () => {
      const { tick, settle, place } = await openMirror(3, { MARK_STATUS: 'DONE' });
      expect((await tick()).marked).toHaveLength(3);
      expect((await tick()).visited).toEqual([]);
      await settle();
      expect(await tick()).toEqual(QUIET);
      place.submit('f1');
      expect(await tick()).toMatchObject({ visited: ['f1 → default'], marked: ['f1'] });
      expect(await tick()).toMatchObject({ visited: [], marked: [] });
    },
  );

  it(
    'and what a form adds in which something is new is what the hint reckons with',
    LONG,
    async () => {
      const { tick, settle, place } = await openMirror(2);
      await tick();
      await settle();
      place.submit('f1');
      const [storing, counting] = [await tick(), await tick()];
      expect([storing.visited, counting.visited]).toEqual([['f1 → default'], []]);
      expect(storing.units + counting.units - 2 * LOOK_TABLES).toBe(STORING_TABLES);
      expect(await tick()).toEqual(QUIET);
    },
  );

  it(
    'reads for the status page as little: what is kept of forms and pauses in one statement',
    LONG,
    async () => {
      const { tick, app } = await openMirror(2);
      await tick();
      standIn.statements.clear();
      const { forms, pauses } = await readOverview(
        await app.target('default'),
        app.readingOf('default'),
      );
      expect([forms.length, pauses]).toEqual([2, []]);
      expect(standIn.statements.totals()).toMatchObject({
        statements: 1,
        bytesBilled: LEAST_BILLED_BYTES,
      });
    },
  );
});

describe('what people do in BigQuery to rows that no look reads any more', () => {
  it.each([
    ['rows that they delete', 'DELETE FROM', 'WHERE TRUE'],
    ['rows that they mark deleted', 'UPDATE', `SET _deleted_at = CURRENT_TIMESTAMP() WHERE TRUE`],
    ['statuses that they change', 'UPDATE', `SET status = 'theirs' WHERE TRUE`],
  ])('L17: the next look counts, and has %s read again', LONG, async (what, verb, rest) => {
    const { tick, settle, data } = await openMirror(3);
    await tick();
    await settle();
    await data.query(`${verb} ${data.relation('f1')} ${rest}`);
    const found = await tick();
    expect(found.visited).toEqual([`f1 → default${what.startsWith('statuses') ? ' !' : ''}`]);
    const [after] = await data.query(
      `SELECT COUNT(*) AS n FROM ${data.relation('f1')} WHERE _deleted_at IS NULL AND status <> 'theirs'`,
    );
    expect(after).toEqual({ n: '4' });
  });

  it(
    'L17: a dropped table is found by the next look, for which nothing is billed',
    LONG,
    async () => {
      const { tick, settle, data } = await openMirror(2);
      await tick();
      await settle();
      await data.query(`DROP TABLE ${data.relation('f0')}`);
      expect((await tick()).visited).toEqual(['f0 → default']);
    },
  );

  it(
    'L16, L17: what another process writes is seen by the next look, whatever this one has counted',
    LONG,
    async () => {
      const { tick, settle, place, start } = await openMirror(2);
      await tick();
      await settle();
      place.submit('f1');
      const other = start();
      expect((await tick(other)).visited).toEqual(['f1 → default']);
      // No visit, as the other one was faster, and its rows are counted anew.
      expect(await tick()).toMatchObject({ visited: [], statements: 3 });
      expect(await tick()).toEqual(QUIET);
    },
  );
});
