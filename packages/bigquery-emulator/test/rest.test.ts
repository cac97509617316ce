import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATASET, PROJECT, refusalOf, startBed, type Bed } from './support/bed.ts';

const clock = { ms: Date.parse('2026-05-17T10:00:00Z'), now: () => clock.ms };
let bed: Bed;
beforeAll(async () => {
  bed = await startBed({ clock });
});
afterAll(() => bed.emulator.close());

const IN = { projectId: PROJECT, datasetId: DATASET };

describe('datasets', () => {
  it('are made, found, listed and removed', async () => {
    const reference = { projectId: PROJECT, datasetId: 'other' };
    await bed.api.datasets.insert({
      projectId: PROJECT,
      requestBody: { datasetReference: reference, location: 'eu', description: 'mine' },
    });
    const { data } = await bed.api.datasets.get(reference);
    expect(data).toMatchObject({ location: 'EU', description: 'mine', maxTimeTravelHours: '168' });
    const again = bed.api.datasets.insert({
      projectId: PROJECT,
      requestBody: { datasetReference: reference },
    });
    expect(await again.catch(refusalOf)).toBe('duplicate: Already Exists: Dataset emulated:other');
    const list = await bed.api.datasets.list({ projectId: PROJECT });
    expect(list.data.datasets?.map(({ id }) => id)).toEqual(['emulated:mirror', 'emulated:other']);
    await bed.query('CREATE TABLE other.t (a INT64)');
    expect(await bed.api.datasets.delete(reference).catch(refusalOf)).toContain('resourceInUse');
    await bed.api.datasets.delete({ ...reference, deleteContents: true });
    expect(await bed.api.datasets.get(reference).catch(refusalOf)).toBe(
      'notFound: Not found: Dataset emulated:other',
    );
  });
});

const SCHEMA = {
  fields: [
    { name: 'id', type: 'STRING', mode: 'REQUIRED', description: 'the key' },
    { name: 'created_at', type: 'TIMESTAMP' },
    { name: 'n', type: 'NUMERIC' },
    { name: 'tags', type: 'STRING', mode: 'REPEATED' },
    { name: 'who', type: 'RECORD', fields: [{ name: 'age', type: 'INTEGER' }] },
  ],
};

describe('jobs', () => {
  it('refuse fields that nobody has, and those that are not done', async () => {
    const ask = (more: object): Promise<unknown> =>
      bed.api.jobs
        .query({
          projectId: PROJECT,
          requestBody: { query: 'SELECT 1', useLegacySql: false, ...more },
        })
        .catch(refusalOf);
    expect(await ask({ maximumBytesBiled: '1' })).toBe(
      'invalid: Invalid JSON payload received. Unknown name "maximumBytesBiled": Cannot find field.',
    );
    expect(await ask({ writeIncrementalResults: true })).toContain('jobs with writeIncremental');
    expect(await ask({ jobTimeoutMs: '1000', useQueryCache: false })).toHaveProperty('data');
  });

  it('tell how they were asked for, with the values of parameters', async () => {
    const queryParameters = [
      { name: 'a', parameterType: { type: 'STRING' }, parameterValue: { value: 'secret' } },
    ];
    const { data } = await bed.api.jobs.query({
      projectId: PROJECT,
      requestBody: { query: 'SELECT @a', useLegacySql: false, queryParameters },
    });
    const job = await bed.api.jobs.get({
      projectId: PROJECT,
      jobId: data.jobReference?.jobId ?? '',
    });
    expect(job.data.configuration?.query).toMatchObject({ query: 'SELECT @a', queryParameters });
  });
});

describe('tables', () => {
  it('are made with partitions and clusters, changed under their etag, and removed', async () => {
    const tableId = 'rest_table';
    await bed.api.tables.insert({
      ...IN,
      requestBody: {
        tableReference: { ...IN, tableId },
        schema: SCHEMA,
        description: 'rows',
        timePartitioning: { type: 'MONTH', field: 'created_at' },
        clustering: { fields: ['id'] },
        labels: { made: 'here' },
      },
    });
    await bed.query(
      `INSERT INTO ${tableId} (id, tags, who) VALUES ('a', ['x'], STRUCT(7 AS age)), ('b', [], NULL)`,
    );
    const { data } = await bed.api.tables.get({ ...IN, tableId });
    expect(data).toMatchObject({
      type: 'TABLE',
      numRows: '2',
      timePartitioning: { type: 'MONTH', field: 'created_at' },
      clustering: { fields: ['id'] },
      labels: { made: 'here' },
      location: 'EU',
    });
    expect(data.schema?.fields?.[4]).toMatchObject({
      type: 'RECORD',
      fields: [{ type: 'INTEGER' }],
    });
    const fields = [
      ...(data.schema?.fields ?? []),
      { name: 'more', type: 'JSON', description: 'm' },
    ];
    const patch = (etag: string, requestBody: object): Promise<unknown> =>
      bed.api.tables.patch({ ...IN, tableId, requestBody }, { headers: { 'If-Match': etag } });
    expect(await patch('0', { schema: { fields } }).catch(refusalOf)).toContain('conditionNotMet');
    await patch(data.etag ?? '', { schema: { fields } });
    expect((await bed.query(`SELECT who.age, more FROM ${tableId} ORDER BY id`)).rows).toEqual([
      ['7', null],
      [null, null],
    ]);
    const narrower = { schema: { fields: fields.slice(1) } };
    expect(
      await bed.api.tables.patch({ ...IN, tableId, requestBody: narrower }).catch(refusalOf),
    ).toContain('Field id is missing in new schema');
    await bed.api.tables.delete({ ...IN, tableId });
    expect(await bed.api.tables.get({ ...IN, tableId }).catch(refusalOf)).toBe(
      'notFound: Not found: Table emulated:mirror.rest_table',
    );
  });

  it('say when their rows last changed: another time after each change that is committed', async () => {
    const tableId = 'rest_changed';
    await bed.query(`CREATE TABLE ${tableId} (n INT64)`);
    const changedAt = async (): Promise<number> =>
      Number((await bed.api.tables.get({ ...IN, tableId })).data.lastModifiedTime);
    const times = [await changedAt()];
    for (const sql of [
      `INSERT INTO ${tableId} VALUES (1)`,
      `UPDATE ${tableId} SET n = 2 WHERE TRUE`,
      `BEGIN TRANSACTION; UPDATE ${tableId} SET n = 3 WHERE TRUE; COMMIT TRANSACTION;`,
    ]) {
      await bed.query(sql);
      times.push(await changedAt());
    }
    expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b));
    await bed.query(
      `BEGIN TRANSACTION; UPDATE ${tableId} SET n = 4 WHERE TRUE; ROLLBACK TRANSACTION;`,
    );
    expect(await changedAt()).toBe(times.at(-1));
    await bed.api.tables.delete({ ...IN, tableId });
  });

  it('are changed by one of two that had the same etag', async () => {
    const tableId = 'rest_raced';
    const view = (n: number): object => ({
      view: { query: `SELECT ${n} AS n`, useLegacySql: false },
    });
    await bed.api.tables.insert({
      ...IN,
      requestBody: { tableReference: { ...IN, tableId }, ...view(0) },
    });
    const { data } = await bed.api.tables.get({ ...IN, tableId });
    const headers = { 'If-Match': data.etag ?? '' };
    const both = [1, 2].map((n) =>
      bed.api.tables
        .patch({ ...IN, tableId, requestBody: view(n) }, { headers })
        .then(() => 'changed', refusalOf),
    );
    expect((await Promise.all(both)).toSorted()).toEqual([
      'changed',
      expect.stringContaining('conditionNotMet'),
    ]);
    await bed.api.tables.delete({ ...IN, tableId });
  });

  it('may be views, whose query is checked and described', async () => {
    await bed.query('CREATE OR REPLACE TABLE base (a STRING)');
    const insert = (query: string, more: object = {}): Promise<unknown> =>
      bed.api.tables.insert({
        ...IN,
        requestBody: {
          tableReference: { ...IN, tableId: 'rest_view' },
          view: { query, useLegacySql: false },
          description: 'shows',
          ...more,
        },
      });
    const schema = { fields: [{ name: 'label', type: 'STRING', description: 'said so' }] };
    expect(await insert('SELECT b AS label FROM mirror.base').catch(refusalOf)).toContain(
      'Unrecognized name: b',
    );
    const shown = 'SELECT a AS label FROM mirror.base';
    expect(await insert(shown, { schema }).catch(refusalOf)).toContain(
      "Schema field shouldn't be used as input with a view",
    );
    await insert(shown);
    await bed.api.tables.patch({ ...IN, tableId: 'rest_view', requestBody: { schema } });
    const { data } = await bed.api.tables.get({ ...IN, tableId: 'rest_view' });
    expect(data).toMatchObject({
      type: 'VIEW',
      description: 'shows',
      view: { query: 'SELECT a AS label FROM mirror.base' },
      schema: { fields: [{ name: 'label', description: 'said so' }] },
    });
    const page = await bed.api.tables.list({ ...IN, maxResults: 1 });
    expect(page.data).toMatchObject({ totalItems: 2, nextPageToken: expect.any(String) });
  });

  it.each([
    ['an unfit name', { fields: [{ name: 'a b', type: 'STRING' }] }, 'Invalid field name'],
    [
      'a name that is too long',
      { fields: [{ name: 'x'.repeat(301), type: 'STRING' }] },
      'Invalid field name',
    ],
    [
      'two of one name',
      {
        fields: [
          { name: 'a', type: 'STRING' },
          { name: 'A', type: 'STRING' },
        ],
      },
      'Duplicate field',
    ],
    [
      'a long description',
      { fields: [{ name: 'a', type: 'STRING', description: 'x'.repeat(1_025) }] },
      'too long',
    ],
    ['an unknown type', { fields: [{ name: 'a', type: 'TEXT' }] }, 'Invalid value for type'],
    [
      'a type that is not done',
      { fields: [{ name: 'a', type: 'GEOGRAPHY' }] },
      'does not do the type GEOGRAPHY',
    ],
  ])('refuse %s', async (_, schema, message) => {
    const made = bed.api.tables.insert({
      ...IN,
      requestBody: { tableReference: { ...IN, tableId: 'refused' }, schema },
    });
    expect(await made.catch(refusalOf)).toContain(message);
  });

  it('say which permissions the caller has', async () => {
    await bed.query('CREATE OR REPLACE TABLE base (a STRING)');
    const resource = `projects/${PROJECT}/datasets/${DATASET}/tables/base`;
    const permissions = ['bigquery.tables.get', 'bigquery.tables.updateData'];
    bed.emulator.withheldPermissions = ['bigquery.tables.updateData'];
    const { data } = await bed.api.tables.testIamPermissions({
      resource,
      requestBody: { permissions },
    });
    expect(data.permissions).toEqual(['bigquery.tables.get']);
    bed.emulator.withheldPermissions = [];
  });

  it('take neither streams nor loads', async () => {
    await bed.query('CREATE OR REPLACE TABLE base (a STRING)');
    const streamed = bed.api.tabledata.insertAll({
      ...IN,
      tableId: 'base',
      requestBody: { rows: [] },
    });
    expect(await streamed.catch(refusalOf)).toBe(
      'notImplemented: bigquery-emulator does not do streaming inserts',
    );
    const loaded = bed.api.jobs.insert({
      projectId: PROJECT,
      requestBody: { configuration: { load: {} } },
    });
    expect(await loaded.catch(refusalOf)).toContain('does not do jobs that load');
  });
});

describe('jobs', () => {
  it('hand out long results in pages, of the moment they were made', async () => {
    await bed.query(
      'CREATE OR REPLACE TABLE numbers AS SELECT n FROM UNNEST(GENERATE_ARRAY(1, 5)) AS n',
    );
    const first = await bed.query('SELECT n FROM numbers ORDER BY n', {}, { maxResults: 2 });
    expect(first.rows).toEqual([['1'], ['2']]);
    expect(first.data).toMatchObject({ totalRows: '5', jobComplete: true });
    await bed.query('DELETE FROM numbers WHERE TRUE');
    const jobId = first.data.jobReference?.jobId ?? '';
    const pageToken = first.data.pageToken ?? '';
    const { data } = await bed.api.jobs.getQueryResults({
      projectId: PROJECT,
      jobId,
      pageToken,
      location: 'EU',
    });
    expect(data.rows?.map(({ f }) => f?.[0]?.v)).toEqual(['3', '4', '5']);
    expect(data.pageToken).toBeUndefined();
    const elsewhere = bed.api.jobs.get({ projectId: PROJECT, jobId, location: 'US' });
    expect(await elsewhere.catch(refusalOf)).toBe(`notFound: Not found: Job emulated:US.${jobId}`);
  });

  it('run once for one request ID, as long as the request is the same', async () => {
    await bed.query('CREATE OR REPLACE TABLE once (n INT64)');
    const insert = (n: number, requestId: string): Promise<unknown> =>
      bed.query('INSERT INTO once VALUES (@n)', { n }, { requestId });
    await insert(1, 'r1');
    await insert(1, 'r1');
    await insert(2, 'r1');
    await insert(1, 'r2');
    expect((await bed.query('SELECT n FROM once ORDER BY n')).rows).toEqual([['1'], ['1'], ['2']]);
    clock.ms += 15 * 60_000 + 1;
    await insert(1, 'r2');
    expect((await bed.query('SELECT COUNT(*) FROM once')).rows).toEqual([['4']]);
  });

  it('check without running (dryRun), and tell the columns', async () => {
    await bed.query('CREATE OR REPLACE TABLE once (n INT64)');
    const dry = await bed.query('SELECT n AS m FROM once', {}, { dryRun: true });
    expect(dry.data).toMatchObject({ schema: { fields: [{ name: 'm', type: 'INTEGER' }] } });
    await bed.query('INSERT INTO once VALUES (1)', {}, { dryRun: true });
    expect((await bed.query('SELECT COUNT(*) FROM once')).rows).toEqual([['0']]);
    const wrong = bed.query('SELECT nope FROM once', {}, { dryRun: true });
    expect(await wrong.catch(refusalOf)).toContain('Unrecognized name: nope');
  });

  it('are inserted, asked for, and refused twice under one ID', async () => {
    const requestBody = {
      jobReference: { projectId: PROJECT, jobId: 'mine', location: 'EU' },
      configuration: { query: { query: 'SELECT 1 / 0', useLegacySql: false } },
    };
    await bed.api.jobs.insert({ projectId: PROJECT, requestBody });
    expect(await bed.api.jobs.insert({ projectId: PROJECT, requestBody }).catch(refusalOf)).toBe(
      'duplicate: Already Exists: Job emulated:EU.mine',
    );
    const results = bed.api.jobs.getQueryResults({ projectId: PROJECT, jobId: 'mine' });
    expect(await results.catch(refusalOf)).toBe('invalidQuery: division by zero');
    const { data } = await bed.api.jobs.get({ projectId: PROJECT, jobId: 'mine' });
    expect(data.status).toMatchObject({ state: 'DONE', errorResult: { reason: 'invalidQuery' } });
  });

  it('find nothing in another location', async () => {
    const moved = bed.query('SELECT COUNT(*) FROM once', {}, { location: 'US' });
    expect(await moved.catch(refusalOf)).toBe(
      'notFound: Not found: Dataset emulated:mirror was not found in location US',
    );
  });

  it('refuse legacy SQL and texts over a megabyte', async () => {
    const old = bed.query('SELECT 1', {}, { useLegacySql: true });
    expect(await old.catch(refusalOf)).toContain('does not do legacy SQL');
    expect(await bed.refusal(`SELECT '${'x'.repeat(1_048_576)}'`)).toContain('query is too large');
  });

  it('write a moment in seconds unless whole microseconds are asked for', async () => {
    const sql =
      "SELECT TIMESTAMP '2026-01-05 10:00:00.123456+00', TIMESTAMP '1970-01-01', TIMESTAMP '1969-12-31 23:59:59.5+00'";
    const { rows } = await bed.query(sql, {}, { formatOptions: {} });
    expect(rows).toEqual([['1.767607200123456E9', '0.0', '-0.5']]);
  });
});
