import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TableShape } from '../../../src/targets/sql/bigquery/bigquery-tables.ts';
import { failure, FakeBigQuery, refusal } from './fake-bigquery.ts';

const SHAPE: TableShape = {
  name: 'contact',
  kind: 'table',
  columns: [
    { name: 'id', type: 'STRING', description: '' },
    { name: 'created_at', type: 'TIMESTAMP', description: 'When it was sent' },
  ],
  partitionedBy: 'created_at',
  clusteredBy: ['id'],
  description: 'Contact',
};
const ABSENT = refusal(404, 'notFound', 'Not found: Table my-project:forms.contact');
const held = (etag: string, ...fields: readonly object[]) => ({
  body: { etag, type: 'TABLE', numRows: '12', schema: { fields } },
});
const ID = { name: 'id', type: 'STRING', mode: 'REQUIRED', policyTags: { names: ['x'] } };

describe('tables of BigQuery', () => {
  let fake: FakeBigQuery;
  beforeEach(async () => {
    fake = await FakeBigQuery.start();
  });
  afterEach(() => fake[Symbol.asyncDispose]());

  it('are made with partitions by month, clustered, and described', async () => {
    fake.answer('POST datasets/forms/tables', [{ body: {} }]);
    const tables = await fake.jobs();
    await tables.createTable(SHAPE);
    expect(fake.requests[0]?.body).toEqual({
      tableReference: { projectId: 'my-project', datasetId: 'forms', tableId: 'contact' },
      description: 'Contact',
      schema: {
        fields: [
          { name: 'id', type: 'STRING', mode: 'NULLABLE' },
          {
            name: 'created_at',
            type: 'TIMESTAMP',
            mode: 'NULLABLE',
            description: 'When it was sent',
          },
        ],
      },
      timePartitioning: { type: 'MONTH', field: 'created_at' },
      clustering: { fields: ['id'] },
    });
  });

  it('that are there already are left as they are: an answer may have been lost', async () => {
    const there = refusal(409, 'duplicate', 'Already Exists: Table my-project:forms.contact');
    fake.answer('POST datasets/forms/tables', ['cut', there]);
    const tables = await fake.jobs();
    await tables.createTable(SHAPE);
    expect(fake.seen('POST datasets/forms/tables')).toHaveLength(2);
  });

  it('that were made just now are asked for until they are known, others once', async () => {
    fake.answer('POST datasets/forms/tables', [{ body: {} }]);
    fake.answer('GET datasets/forms/tables/contact', [ABSENT, ABSENT, held('1', ID), ABSENT]);
    const tables = await fake.jobs();
    await tables.createTable(SHAPE);
    expect((await tables.table('contact'))?.columns).toHaveLength(1);
    expect(await tables.table('contact')).toBeUndefined();
    expect(fake.seen('GET datasets/forms/tables/contact')).toHaveLength(4);
  });

  it('are asked for again where an answer is cut short', async () => {
    fake.answer('GET datasets/forms/tables/contact', [{ body: '{"kind":' }, held('1', ID)]);
    const tables = await fake.jobs();
    expect((await tables.table('contact'))?.columns).toHaveLength(1);
  });

  it('are told of as SQL names their types', async () => {
    fake.answer('GET datasets/forms/tables/contact', [
      {
        body: {
          type: 'TABLE',
          numRows: '12',
          description: 'Contact',
          schema: {
            fields: [
              { name: 'n', type: 'INTEGER' },
              { name: 'b', type: 'BOOLEAN', description: 'Yes' },
            ],
          },
          timePartitioning: { type: 'MONTH', field: 'created_at' },
          clustering: { fields: ['id'] },
          lastModifiedTime: '1789000000000',
        },
      },
      ABSENT,
    ]);
    const tables = await fake.jobs();
    expect(await tables.table('contact')).toEqual({
      ...SHAPE,
      columns: [
        { name: 'n', type: 'INT64', isRequired: false, description: '' },
        { name: 'b', type: 'BOOL', isRequired: false, description: 'Yes' },
      ],
      rows: 12,
      changedAt: '1789000000000',
      isForeign: false,
    });
    expect(await tables.table('contact')).toBeUndefined();
  });

  it('get the columns that they lack, and keep all that others gave theirs', async () => {
    fake
      .answer('GET datasets/forms/tables/contact', [
        held('one', ID),
        held('two', ID, { name: 'NAME', type: 'STRING' }),
      ])
      .answer('PATCH datasets/forms/tables/contact', [
        refusal(412, 'conditionNotMet', 'Precondition check failed.'),
        { body: {} },
      ]);
    const tables = await fake.jobs();
    await tables.addColumns('contact', [
      { name: 'id', type: 'STRING', description: '' },
      { name: 'name', type: 'STRING', description: '' },
      { name: 'age', type: 'NUMERIC', description: 'Age' },
    ]);
    const patches = fake.seen('PATCH datasets/forms/tables/contact');
    expect(patches.map(({ headers }) => headers['if-match'])).toEqual(['one', 'two']);
    expect(patches[1]?.body).toEqual({
      schema: {
        fields: [
          ID,
          { name: 'NAME', type: 'STRING' },
          { name: 'age', type: 'NUMERIC', mode: 'NULLABLE', description: 'Age' },
        ],
      },
    });
  });

  it('are described where that changes something, in 1,024 characters', async () => {
    fake
      .answer('GET datasets/forms/tables/contact', [held('one', { ...ID, description: 'Label' })])
      .answer('PATCH datasets/forms/tables/contact', [{ body: {} }]);
    const tables = await fake.jobs();
    await tables.describe('contact', '', { id: 'Label' });
    expect(fake.seen('PATCH datasets/forms/tables/contact')).toHaveLength(0);
    await tables.describe('contact', '', { id: 'x'.repeat(2_000) });
    const [patch] = fake.seen('PATCH datasets/forms/tables/contact');
    expect(patch?.body).toMatchObject({
      schema: { fields: [{ description: `${'x'.repeat(1_023)}…` }] },
    });
  });

  it('are made into views, which are rewritten only when they differ', async () => {
    const there = refusal(409, 'duplicate', 'Already Exists');
    fake
      .answer('POST datasets/forms/tables', [there])
      .answer('GET datasets/forms/tables/v', [
        { body: { etag: 'e', type: 'VIEW', view: { query: 'SELECT 1' }, schema: { fields: [] } } },
      ])
      .answer('PATCH datasets/forms/tables/v', [{ body: {} }]);
    const tables = await fake.jobs();
    await tables.saveView('v', 'SELECT 1', '', {});
    expect(fake.seen('PATCH datasets/forms/tables/v')).toHaveLength(0);
    await tables.saveView('v', 'SELECT 2', '', {});
    expect(fake.seen('PATCH datasets/forms/tables/v')[0]?.body).toEqual({
      view: { query: 'SELECT 2', useLegacySql: false },
    });
  });

  it('are listed over all pages, and none of a dataset that is not there', async () => {
    const page = (name: string, nextPageToken?: string) => ({
      body: { tables: [{ tableReference: { tableId: name } }], nextPageToken },
    });
    fake.answer('GET datasets/forms/tables', [
      page('a', 'more'),
      page('b'),
      refusal(404, 'notFound', 'Not found: Dataset'),
    ]);
    const tables = await fake.jobs();
    expect(await tables.tables()).toEqual(['a', 'b']);
    expect(await tables.tables()).toEqual([]);
  });

  it('may be removed twice', async () => {
    fake.answer('DELETE datasets/forms/tables/contact', [{ status: 204, body: '' }, ABSENT]);
    const tables = await fake.jobs();
    await tables.dropTable('contact');
    await tables.dropTable('contact');
    expect(fake.requests).toHaveLength(2);
  });

  it('lie in a dataset that is made where the address says, or in US', async () => {
    const missing = refusal(404, 'notFound', 'Not found: Dataset my-project:forms');
    fake
      .answer('GET datasets/forms', [missing, { body: { location: 'EU' } }])
      .answer('POST datasets', [{ body: {} }]);
    const tables = await fake.jobs();
    await tables.ensureDataset();
    expect(fake.seen('POST datasets')[0]?.body).toMatchObject({
      datasetReference: { projectId: 'my-project', datasetId: 'forms' },
      location: 'EU',
    });
    fake.answer('GET datasets/forms', [missing, { body: { location: 'US' } }]);
    const other = await fake.jobs({ location: undefined });
    await other.ensureDataset();
    expect(fake.seen('POST datasets')[1]?.body).toMatchObject({ location: 'US' });
  });

  it('are not looked for in a dataset that lies elsewhere', async () => {
    fake.answer('GET datasets/forms', [{ body: { location: 'US' } }]);
    const tables = await fake.jobs();
    const error = await failure(tables.ensureDataset());
    expect(error.code).toBe('TARGET_DENIED');
    expect(error.message).toContain('lies in US, not in EU. Write ?location=US');
  });
});
