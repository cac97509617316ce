import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATASET, PROJECT, refusalOf, startBed, type Bed } from './support/bed.ts';

/* What the service refuses, in its words where they are known. */

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.emulator.close());

const IN = { projectId: PROJECT, datasetId: DATASET };
const TAKEN = 'nothing: it was taken';
const said = (request: Promise<unknown>): Promise<string> => request.then(() => TAKEN, refusalOf);
let made = 0;

/** What is said of a table that is made with this. */
function tableWith(requestBody: object): Promise<string> {
  const tableReference = { ...IN, tableId: `made_${++made}` };
  return said(bed.api.tables.insert({ ...IN, requestBody: { tableReference, ...requestBody } }));
}

const TYPES = 'STRING INT64 NUMERIC BOOL TIMESTAMP DATETIME DATE FLOAT64 BYTES TIME JSON';
const FIELDS = TYPES.split(' ').map((type) => ({ name: `c_${type.toLowerCase()}`, type }));
const SCHEMA = {
  fields: [
    ...FIELDS,
    { name: 'c_list', type: 'DATE', mode: 'REPEATED' },
    { name: 'c_record', type: 'RECORD', fields: [{ name: 'day', type: 'DATE' }] },
  ],
};
const UNFIT = (name: string, type: string): string =>
  `invalid: Field ${name} has type ${type}, which is not supported for clustering.`;
const ABSENT = (use: string, name: string): string =>
  `invalid: The field specified for ${use} cannot be found in the schema. Invalid field: ${name}.`;

describe('clusters', () => {
  it.each([
    [['c_string', 'c_int64', 'c_numeric', 'c_bool'], TAKEN],
    [['c_timestamp', 'c_datetime', 'c_date'], TAKEN],
    [['c_float64'], UNFIT('c_float64', 'FLOAT')],
    [['c_string', 'c_json'], UNFIT('c_json', 'JSON')],
    [['c_bytes'], UNFIT('c_bytes', 'BYTES')],
    [['c_time'], UNFIT('c_time', 'TIME')],
    [['c_record'], UNFIT('c_record', 'RECORD')],
    [['c_list'], 'invalid: Field c_list has mode REPEATED, which is not supported for clustering.'],
    [['c_record.day'], ABSENT('clustering', 'c_record.day')],
    [['nope'], ABSENT('clustering', 'nope')],
    [['c_string', 'C_STRING'], 'invalid: Duplicate clustering field: c_string.'],
    [
      ['c_string', 'c_int64', 'c_numeric', 'c_bool', 'c_date'],
      'invalid: Too many clustering fields: 5. The limit is 4.',
    ],
  ])('by %s', async (fields, answer) => {
    expect(await tableWith({ schema: SCHEMA, clustering: { fields } })).toBe(answer);
  });

  it.each([
    ['a STRING, b INT64', 'a, b', TAKEN],
    ['a BYTES', 'a', UNFIT('a', 'BYTES')],
    ['a TIME', 'a', UNFIT('a', 'TIME')],
    ['a STRUCT<b STRING>', 'a', UNFIT('a', 'RECORD')],
    ['a ARRAY<STRING>', 'a', 'Field a has mode REPEATED'],
    ['a FLOAT64', 'a', 'CLUSTER BY expression may not be a floating point type'],
    ['a JSON', 'a', 'CLUSTER BY expression must be groupable, but type is JSON'],
    ['a STRING', 'a, a', 'Duplicate clustering field: a.'],
    ['a STRING, b STRING, c STRING, d STRING, e STRING', 'a, b, c, d, e', 'Too many clustering'],
  ])('CREATE TABLE of %s CLUSTER BY %s', async (columns, by, answer) => {
    const sql = `CREATE TABLE ddl_${++made} (${columns}) CLUSTER BY ${by}`;
    expect(await bed.refusal(sql)).toContain(answer);
  });
});

describe('partitions', () => {
  it.each([
    ['c_date', TAKEN],
    [
      'c_string',
      'invalid: The field specified for partitioning can only be of type TIMESTAMP, DATE or DATETIME. The type found is: STRING.',
    ],
    ['c_list', 'invalid: Field c_list has mode REPEATED, which is not supported for partitioning.'],
    ['c_record.day', ABSENT('partitioning', 'c_record.day')],
  ])('by %s', async (field, answer) => {
    const timePartitioning = { type: 'MONTH', field };
    expect(await tableWith({ schema: SCHEMA, timePartitioning })).toBe(answer);
  });
});

describe('CREATE TABLE … PARTITION BY', () => {
  it.each([
    ['a ARRAY<DATE>', 'a'],
    ['a STRUCT<d DATE>', 'a.d'],
    ['a STRUCT<d DATE>', 'DATE_TRUNC(a.d, MONTH)'],
    ['a STRING', 'a'],
  ])('of %s by %s', async (columns, by) => {
    expect(
      await bed.refusal(`CREATE TABLE parted_${++made} (${columns}) PARTITION BY ${by}`),
    ).toContain('invalidQuery: PARTITION BY expression must be');
  });
});

describe('names of columns', () => {
  it.each(['_CHANGE_TYPE', '_change_sequence_number_2', '_CHANGE_TIMESTAMP', '_PARTITIONTIME'])(
    'with a reserved prefix: %s',
    async (name) => {
      const answer = `Invalid field name "${name}". Field names are not allowed to start with a reserved prefix.`;
      expect(await tableWith({ schema: { fields: [{ name, type: 'STRING' }] } })).toContain(answer);
      expect(await bed.refusal(`CREATE TABLE named_${++made} (${name} STRING)`)).toContain(answer);
    },
  );
});

describe('labels', () => {
  const many = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, '']));
  const KEY = (key: string): string => `invalid: Label key "${key}" has invalid characters.`;
  const VALUE = (value: string): string =>
    `invalid: Label value "${value}" has invalid characters.`;

  it.each<[string, Record<string, string>, string]>([
    ['of all that is allowed', { 'éa_-9': '9-_é', 表: '', [`a${'b'.repeat(62)}`]: '1' }, TAKEN],
    ['a key that begins with a digit', { '9a': '' }, KEY('9a')],
    ['an empty key', { '': 'x' }, KEY('')],
    ['a capital in a key', { App: 'x' }, KEY('App')],
    ['a key of 64', { ['a'.repeat(64)]: '' }, KEY('a'.repeat(64))],
    ['a capital in a value', { app: 'X' }, VALUE('X')],
    ['a point in a value', { app: 'a.b' }, VALUE('a.b')],
    ['a value of 64', { app: 'x'.repeat(64) }, VALUE('x'.repeat(64))],
    ['64 of them', many(64), TAKEN],
    ['65 of them', many(65), 'invalid: Too many labels: 65. The limit is 64.'],
  ])('%s, of tables, datasets and jobs', async (_, labels, answer) => {
    expect(await tableWith({ labels })).toBe(answer);
    const reference = { projectId: PROJECT, datasetId: `labelled_${++made}` };
    const dataset = { datasetReference: reference, labels };
    const { projectId } = IN;
    expect(await said(bed.api.datasets.insert({ projectId, requestBody: dataset }))).toBe(answer);
    expect(await said(bed.api.datasets.patch({ ...IN, requestBody: { labels } }))).toBe(answer);
    expect(await said(bed.query('SELECT 1', {}, { labels }))).toBe(answer);
    const configuration = { labels, query: { query: 'SELECT 1', useLegacySql: false } };
    const job = bed.api.jobs.insert({ projectId, requestBody: { configuration } });
    expect(await said(job)).toBe(answer);
  });

  it('of CREATE TABLE', async () => {
    const options = (labels: string): Promise<string> =>
      bed.refusal(`CREATE TABLE labelled_${++made} (a INT64) OPTIONS (labels = [${labels}])`);
    expect(await options("('a', 'b'), ('c', '')")).toBe(TAKEN);
    expect(await options("('A', 'b')")).toBe(KEY('A'));
    expect(await options("('a', 'b'), ('a', 'c')")).toContain('Duplicate label keys');
  });
});

describe('request IDs', () => {
  it.each([
    ['7b0a6e3c-5d1f-4e0a-9a53-1d2c3b4a5968', TAKEN],
    [`7b0a6e3c-5d1f-4e0a-9a53-1d2c3b4a5968x`, 'invalid: Invalid request ID'],
    ['é', 'invalid: Invalid request ID'],
  ])('%s', async (requestId, answer) => {
    expect(await said(bed.query('SELECT 1', {}, { requestId }))).toContain(answer);
  });
});

describe('declarations', () => {
  const LATE =
    'invalidQuery: Variable declarations are allowed only at the start of a block or script at';
  it.each([
    ['SELECT 1;\n  DECLARE x INT64;', `${LATE} [2:3]`],
    ['IF TRUE THEN DECLARE x INT64; END IF', `${LATE} [1:14]`],
    ['IF FALSE THEN SELECT 1; ELSE DECLARE x INT64; END IF', `${LATE} [1:30]`],
    ['BEGIN SELECT 1; DECLARE x INT64; END', `${LATE} [1:17]`],
    ['BEGIN SELECT 1; EXCEPTION WHEN ERROR THEN DECLARE x INT64; END', `${LATE} [1:43]`],
    [
      'DECLARE x, x INT64',
      "invalidQuery: Variable 'x' redeclaration at [1:12]; x previously declared here at [1:9]",
    ],
    [
      'DECLARE x INT64;\nBEGIN DECLARE y, X INT64; END',
      "invalidQuery: Variable 'X' redeclaration at [2:18]; X previously declared here at [1:9]",
    ],
    [
      'DECLARE x INT64; IF FALSE THEN BEGIN DECLARE x INT64; END; END IF',
      "invalidQuery: Variable 'x' redeclaration at [1:46]; x previously declared here at [1:9]",
    ],
    ['BEGIN DECLARE x INT64; END; BEGIN DECLARE x STRING; END', TAKEN],
    [
      'BEGIN DECLARE x INT64; SELECT x; EXCEPTION WHEN ERROR THEN BEGIN DECLARE x INT64; END; END',
      TAKEN,
    ],
  ])('%s', async (sql, answer) => {
    expect(await bed.refusal(sql)).toBe(answer);
  });

  it('are refused before anything of the script runs', async () => {
    await bed.query('CREATE OR REPLACE TABLE ran (n INT64)');
    expect(await bed.refusal('INSERT INTO ran VALUES (1); DECLARE x INT64')).toContain(LATE);
    expect((await bed.query('SELECT COUNT(*) FROM ran')).rows).toEqual([['0']]);
  });

  it('of what a session has already', async () => {
    const { data } = await bed.query('DECLARE kept INT64 DEFAULT 7', {}, { createSession: true });
    const value = data.sessionInfo?.sessionId ?? '';
    const more = { connectionProperties: [{ key: 'session_id', value }] };
    expect((await bed.query('SELECT kept', {}, more)).rows).toEqual([['7']]);
    expect(await said(bed.query('DECLARE Kept INT64; SELECT 1', {}, more))).toBe(
      "invalidQuery: Variable 'Kept' redeclaration at [1:9]",
    );
  });
});

describe('parameters of type JSON', () => {
  it.each([
    ['[1.5, 12345678901234567890]', TAKEN],
    [
      '{"a": 0.55587577846274}',
      'Input number: 0.55587577846274 cannot round-trip through string representation',
    ],
  ])('%s', async (value, answer) => {
    const queryParameters = [
      { name: 'a', parameterType: { type: 'JSON' }, parameterValue: { value } },
    ];
    expect(await said(bed.query('SELECT @a', {}, { queryParameters }))).toContain(answer);
  });

  it('and PARSE_JSON tell the number', async () => {
    expect(await bed.refusal(`SELECT PARSE_JSON('[1, 0.55587577846274]')`)).toBe(
      'invalidQuery: Invalid input: Input number: 0.55587577846274 cannot round-trip through string representation; error in PARSE_JSON expression',
    );
    expect(await bed.refusal(`SELECT PARSE_JSON('nope')`)).toBe(
      'invalidQuery: Invalid input: syntax error while parsing value; error in PARSE_JSON expression',
    );
  });
});

describe('fields of requests', () => {
  const unknown = (name: string, at: string): string =>
    `invalid: Invalid JSON payload received. Unknown name "${name}" at '${at}': Cannot find field.`;
  const undone = (what: string): string => `notImplemented: bigquery-emulator does not do ${what}`;
  const schema = { fields: [{ name: 'a', type: 'STRING' }] };

  /** What is said of a table that is made, patched and updated with this; the words are the same. */
  async function tableSaid(body: object): Promise<string> {
    const tableId = 'fields_of';
    await bed.query(`CREATE OR REPLACE TABLE ${tableId} (a STRING)`);
    const requestBody = { ...body };
    const answers = [
      await tableWith(body),
      await said(bed.api.tables.patch({ ...IN, tableId, requestBody })),
      await said(bed.api.tables.update({ ...IN, tableId, requestBody })),
    ];
    expect(new Set(answers).size).toBe(1);
    return answers[0] ?? '';
  }

  it.each([
    ['nobody has', { schema, clustring: {} }, unknown('clustring', 'table')],
    [
      'nobody has, more than one, before what is not done',
      { model: {}, clustring: 1, lables: 2 },
      `${unknown('clustring', 'table')}\n${unknown('lables', 'table').replace('invalid: ', '')}`,
    ],
    ['of a schema', { schema: { field: [] } }, unknown('field', 'table.schema')],
    [
      'of a column in a column',
      {
        schema: {
          fields: [...schema.fields, { name: 'b', type: 'RECORD', fields: [{ nam: 'c' }] }],
        },
      },
      unknown('nam', 'table.schema.fields[1].fields[0]'),
    ],
    [
      'of partitions',
      { timePartitioning: { type: 'DAY', colum: 'a' } },
      unknown('colum', 'table.time_partitioning'),
    ],
    ['of clusters', { clustering: { field: ['a'] } }, unknown('field', 'table.clustering')],
    ['of a view', { view: { sql: 'SELECT 1' } }, unknown('sql', 'table.view')],
    ['that are not done', { expirationTime: '1' }, undone('tables with expirationTime')],
    [
      'of columns that are not done',
      { schema: { fields: [{ ...schema.fields[0], maxLength: '7' }] } },
      undone('columns with maxLength'),
    ],
    [
      'that Google ignores',
      { schema, etag: 'x', id: 'y', numRows: '7', creationTime: '1', type: 'TABLE', selfLink: 'z' },
      TAKEN,
    ],
  ])('of tables: %s', async (_, body, answer) => {
    expect(await tableSaid(body)).toBe(answer);
  });

  it('of tables: how rows are kept, which stays as it is', async () => {
    const tableId = 'kept_layout';
    await bed.query(
      `CREATE OR REPLACE TABLE ${tableId} (a STRING, d DATE) PARTITION BY d CLUSTER BY a`,
    );
    const patch = (requestBody: object): Promise<string> =>
      said(bed.api.tables.patch({ ...IN, tableId, requestBody }));
    const { data } = await bed.api.tables.get({ ...IN, tableId });
    expect(await patch(data)).toBe(TAKEN);
    expect(await patch({ clustering: { fields: ['d'] } })).toBe(undone('another clustering'));
    expect(await patch({ timePartitioning: { type: 'MONTH', field: 'd' } })).toBe(
      undone('another timePartitioning'),
    );
    expect(await patch({ requirePartitionFilter: true })).toBe(
      undone('another requirePartitionFilter'),
    );
    const view = { query: 'SELECT 1 AS one', useLegacySql: false };
    expect(await tableWith({ view, clustering: { fields: ['one'] } })).toBe(
      undone('views with clustering'),
    );
    expect(await tableWith({ schema, requirePartitionFilter: true })).toBe(
      undone('requirePartitionFilter'),
    );
  });

  it.each([
    ['nobody has', { lable: {} }, unknown('lable', 'dataset')],
    ['that are not done', { access: [] }, undone('datasets with access')],
    ['that Google ignores', { etag: 'x', type: 'DEFAULT', creationTime: '1' }, TAKEN],
  ])('of datasets: %s', async (_, body, answer) => {
    const reference = { projectId: PROJECT, datasetId: `with_fields_${++made}` };
    const requestBody: object = { datasetReference: reference, ...body };
    const patched: object = body;
    const { projectId } = IN;
    expect(await said(bed.api.datasets.insert({ projectId, requestBody }))).toBe(answer);
    expect(await said(bed.api.datasets.patch({ ...IN, requestBody: patched }))).toBe(answer);
  });

  it.each([
    ['of the job', {}, { config: {} }, unknown('config', 'job')],
    ['of its configuration', { lable: {} }, {}, unknown('lable', 'job.configuration')],
    [
      'that jobs.query has alone',
      { query: { query: 'SELECT 1', maxResults: 1 } },
      {},
      unknown('maxResults', 'job.configuration.query'),
    ],
    [
      'of a parameter',
      { query: { query: 'SELECT 1', queryParameters: [{ typ: {} }] } },
      {},
      unknown('typ', 'job.configuration.query.query_parameters[0]'),
    ],
    [
      'of the value of a parameter',
      {
        query: {
          queryParameters: [{ parameterValue: { structValues: { any: { valu: '1' } } } }],
        },
      },
      {},
      unknown(
        'valu',
        'job.configuration.query.query_parameters[0].parameter_value.struct_values.any',
      ),
    ],
    [
      'that are not done',
      { query: { query: 'SELECT 1', destinationTable: {} } },
      {},
      undone('jobs with destinationTable'),
    ],
  ])('of jobs.insert: %s', async (_, configuration, more, answer) => {
    const requestBody: object = { configuration, ...more };
    expect(await said(bed.api.jobs.insert({ projectId: PROJECT, requestBody }))).toBe(answer);
  });

  it('that jobs.insert has alone are unknown to jobs.query', async () => {
    const more: object = { destinationTable: { ...IN, tableId: 't' } };
    expect(await said(bed.query('SELECT 1', {}, more))).toBe(
      'invalid: Invalid JSON payload received. Unknown name "destinationTable": Cannot find field.',
    );
  });
});
