import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Target } from '../../../src/mirror/target.ts';
import { openBigQueryTarget } from '../../../src/targets/sql/bigquery/bigquery-target.ts';
import {
  AT_ONCE,
  CHECKPOINT,
  field,
  fieldList,
  FORM,
  pass,
  row,
  sorted,
} from '../../contract/target-harness.ts';
import {
  type BigQueryFaultRule,
  type BigQueryPlace,
  bigQueryPlace,
  type BigQueryStandIn,
  standInJobs,
  startBigQuery,
} from '../../support/bigquery-place.ts';
import { Child } from '../../support/child.ts';

const CHILD = join(import.meta.dirname, '../../support/bigquery-child.ts');
const FIELDS = fieldList(field('f0', 'Text'), field('f1', 'Number'));
/** Tens of lives, each in a dataset of its own. */
const LONG = { timeout: 600_000 };
/** Requests of one life of a form in a new dataset: more than there are. */
const MOST_REQUESTS = 400;

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());
afterEach(() => {
  standIn.faults.clear();
  standIn.jobs.clear();
});

/** The life of a form: everything that a pass, marking and an erasure do. */
async function live(target: Target): Promise<void> {
  await using writer = await target.openWriter(FORM, AT_ONCE);
  await writer.prepare(FIELDS);
  await writer.losses();
  await writer.apply(
    [row('a', { f0: 'x', f1: 1 }), row('b', { f0: 'y', f1: 2 }), row('d', {})],
    [],
  );
  await writer.apply(
    [row('a', { f0: 'x', f1: 'many' }), row('c', { f0: 'z' }, { status: 'PAID' })],
    [{ submissionId: 'odd', reason: 'is odd', stored: false }],
  );
  await writer.markDeleted(['b'], CHECKPOINT.provenAt);
  await writer.setStatuses(new Map([['a', 'DONE']]));
  await writer.forget(['d'], CHECKPOINT.provenAt);
  await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
}

/** What is there afterwards, without what is drawn by chance or told by the clock. */
async function told(place: BigQueryPlace): Promise<unknown> {
  await using target = await place.open();
  const reader = await target.reader(FORM.id);
  const overview = await target.overview();
  const history = await place.query(
    `SELECT submission_id, status FROM ${place.relation('mirror_status_history')} ORDER BY id, submission_id`,
  );
  const rows = await place.query(
    `SELECT id, status, text, number, number_text FROM ${place.relation('contact_form')} ORDER BY id`,
  );
  const columns = await place.query(
    `SELECT column_name AS name FROM INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'contact_form' ORDER BY ordinal_position`,
  );
  const passes = await place.query(`SELECT kind, outcome FROM ${place.relation('mirror_passes')}`);
  return {
    rows,
    columns,
    passes,
    history,
    overview,
    losses: await reader?.losses(),
    rejected: (await reader?.rejections(10))?.total,
    forgotten: (await reader?.forgotten(['d']))?.size,
  };
}

describe('L5: a form in BigQuery', () => {
  it('is the same whichever request was applied, and answered 503', LONG, async () => {
    const sound = await bigQueryPlace(standIn);
    await live(await sound.open());
    const expected = withoutDataset(await told(sound));
    for (const applied of [true, false]) {
      let hits = 0;
      for (let after = 0; after < MOST_REQUESTS; after += applied ? 5 : 17) {
        const place = await bigQueryPlace(standIn);
        const remove = standIn.faults.add({ after, times: 1, applied, status: 503, body: '{}' });
        await live(await place.open());
        const isHit = standIn.faults.tally().some(({ hit }) => hit > 0);
        remove();
        if (!isHit) break;
        hits += 1;
        expect(withoutDataset(await told(place)), `after ${after}`).toEqual(expected);
      }
      expect(hits).toBeGreaterThan(applied ? 10 : 3);
    }
  });

  it('knows its own commits again where no answer to them ever comes', async () => {
    const sound = await bigQueryPlace(standIn);
    await live(await sound.open());
    const expected = withoutDataset(await told(sound));
    const place = await bigQueryPlace(standIn);
    // All answers to scripts that commit are lost, those to the repetitions of a request, too.
    standIn.faults.add({
      query: /forms_mirror_lost_lock/,
      times: Infinity,
      applied: true,
      status: 503,
      body: '{}',
    });
    const jobs = await standInJobs(standIn.url, place.dataset, undefined, 2);
    await live(openBigQueryTarget('stubborn', jobs, { address: '', check: async () => [] }));
    standIn.faults.clear();
    expect(withoutDataset(await told(place))).toEqual(expected);
  });

  it.each([
    ['another transaction is faster', () => standIn.jobs.conflictOn('mirror_state', 4)],
    ['jobs go on for long', () => standIn.jobs.runLong(2, 6)],
    [
      'a job is lost',
      () => {
        standIn.jobs.runLong(1, 30);
        standIn.faults.add(LOST_JOB);
      },
    ],
    [
      'connections break',
      () =>
        standIn.faults.add({
          method: 'jobs.query',
          after: 3,
          times: 2,
          dropConnection: true,
          applied: true,
        }),
    ],
  ])('is the same where %s', async (_, harm) => {
    const sound = await bigQueryPlace(standIn);
    await live(await sound.open());
    const expected = withoutDataset(await told(sound));
    const place = await bigQueryPlace(standIn);
    harm();
    await live(await place.open());
    standIn.faults.clear();
    standIn.jobs.clear();
    expect(withoutDataset(await told(place))).toEqual(expected);
  });

  it(
    'L13: goes on at once after kill -9, wherever it came, with no row or column twice',
    LONG,
    async () => {
      let kills = 0;
      let lastEnd: unknown;
      for (let after = 0; after < MOST_REQUESTS; after += 3) {
        const place = await bigQueryPlace(standIn);
        // Every other time what was asked for last has happened.
        const rule = { after, times: 1, applied: after % 2 === 0, delayMs: 3_600_000 };
        standIn.faults.add(rule);
        const child = new Child(CHILD, [standIn.url, place.dataset]);
        const end = await Promise.race([child.ended, hit()]);
        standIn.faults.clear();
        if (end !== undefined) {
          lastEnd = end;
          break;
        }
        kills += 1;
        child.process.kill('SIGKILL');
        await child.ended;
        await live(await place.open());
        const found = await told(place);
        expect(found, `after ${after}`).toMatchObject({ losses: [], rejected: 1, forgotten: 1 });
        const { rows, columns } = found as { rows: { id: string }[]; columns: { name: string }[] };
        expect(rows.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
        expect(columns.map(({ name }) => name).toSorted()).toEqual(COLUMNS);
      }
      expect(kills).toBeGreaterThan(10);
      expect(lastEnd).toEqual({ code: 0, signal: null });
    },
  );

  it('L13: is left to a holder elsewhere until its lease is over', async () => {
    const place = await bigQueryPlace(standIn);
    await live(await place.open());
    await place.query(
      `UPDATE ${place.relation('mirror_state')} SET holder = 'elsewhere/7/x', leased_until = TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL 60 SECOND) WHERE form_id = '${FORM.id}'`,
    );
    const target = await place.open();
    await expect(target.openWriter(FORM, AT_ONCE)).rejects.toMatchObject({
      code: 'TARGET_BUSY',
      message: expect.stringContaining('elsewhere, process 7'),
    });
    await place.query(
      `UPDATE ${place.relation('mirror_state')} SET leased_until = TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL -1 SECOND) WHERE form_id = '${FORM.id}'`,
    );
    await using writer = await target.openWriter(FORM, AT_ONCE);
    expect(await sorted(writer.liveIds())).toEqual(['a', 'c']);
  });
});

const COLUMNS = [
  '_changed_at',
  '_deleted_at',
  '_first_seen_at',
  '_hash',
  'created_at',
  'id',
  'number',
  'number_text',
  'status',
  'text',
];

const LOST_JOB: BigQueryFaultRule = {
  method: 'jobs.getQueryResults',
  after: 4,
  times: 2,
  status: 404,
  body: JSON.stringify({
    error: {
      code: 404,
      message: 'Not found: Job test-project:US.job',
      errors: [
        { message: 'Not found: Job test-project:US.job', domain: 'global', reason: 'notFound' },
      ],
      status: 'NOT_FOUND',
    },
  }),
};

/** Resolves once the fault that was set has come. */
async function hit(): Promise<undefined> {
  while (standIn.faults.tally().every((one) => one.hit === 0))
    await new Promise((done) => setTimeout(done, 5));
  return undefined;
}

const withoutDataset = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/forms_\d+_\d+/g, 'dataset'));
