import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseBigQueryUrl } from '../../../src/targets/sql/bigquery/bigquery-address.ts';
import { checkBigQuery } from '../../../src/targets/sql/bigquery/bigquery-check.ts';
import type { CheckResult } from '../../../src/mirror/target.ts';
import { done, type FakeAnswer, FakeBigQuery, refusal, type SeenRequest } from './fake-bigquery.ts';

const EMAIL = 'mirror@my-project.iam.gserviceaccount.com';
const STATE = 'datasets/forms/tables/mirror_state';
const PERMISSIONS = [
  'bigquery.tables.get',
  'bigquery.tables.getData',
  'bigquery.tables.updateData',
  'bigquery.tables.update',
];
const ABSENT = refusal(404, 'notFound', 'Not found: Dataset my-project:forms');

describe('check of a BigQuery target', () => {
  let fake: FakeBigQuery;
  /** Answers of dry runs by how their statement begins. */
  let dryRuns: Map<string, FakeAnswer>;
  beforeEach(async () => {
    fake = await FakeBigQuery.start();
    dryRuns = new Map();
    fake
      .answer('POST queries', ({ body }: SeenRequest) => {
        const sql = String(body['query']);
        return [...dryRuns].find(([start]) => sql.startsWith(start))?.[1] ?? done();
      })
      .answer('GET datasets/forms', [{ body: { location: 'EU' } }])
      .answer(`GET ${STATE}`, [{ body: { type: 'TABLE' } }])
      .answer(`POST ${STATE}:testIamPermissions`, [{ body: { permissions: PERMISSIONS } }]);
  });
  afterEach(() => fake[Symbol.asyncDispose]());

  const check = async (url = 'bigquery://my-project/forms?location=EU'): Promise<CheckResult[]> => {
    const address = parseBigQueryUrl(url);
    const jobs = await fake.jobs({ location: address.location });
    return checkBigQuery({ jobs, address, email: EMAIL });
  };
  const failures = (all: CheckResult[]): CheckResult[] => all.filter(({ ok }) => !ok);

  it('says what it could do, and changes nothing', async () => {
    expect(await check()).toEqual([
      { ok: true, message: `Google is asked as ${EMAIL}.` },
      { ok: true, message: 'Jobs can be run in the project my-project.' },
      { ok: true, message: 'The dataset my-project.forms is in EU.' },
      { ok: true, message: 'Its tables can be changed.' },
    ]);
    expect(fake.queries.every(({ dryRun }) => dryRun === true)).toBe(true);
    const changing = fake.requests.filter(
      ({ method, path }) => method !== 'GET' && path !== 'queries' && !path.endsWith('Permissions'),
    );
    expect(changing).toEqual([]);
  });

  it('tries to make a table where there is none yet', async () => {
    fake.answer(`GET ${STATE}`, [refusal(404, 'notFound', 'Not found: Table')]);
    expect((await check()).at(-1)).toEqual({ ok: true, message: 'Tables can be made in it.' });
    expect(fake.queries.at(-1)?.['query']).toMatch(/^CREATE TABLE `mirror_state`/);
  });

  it('is content with a dataset that can be made, and says where', async () => {
    fake.answer('GET datasets/forms', [ABSENT]);
    const [last] = (await check('bigquery://my-project/forms')).slice(-1);
    expect(last).toMatchObject({ ok: true });
    expect(last?.message).toMatch(/the first pass makes it, in US\. Write \?location=EU/);
    expect((await check()).at(-1)?.message).toMatch(/makes it, in EU\. Whether/);
  });

  it.each<[string, Record<string, FakeAnswer>, RegExp, RegExp]>([
    [
      'no right to run jobs',
      {
        SELECT: refusal(
          403,
          'accessDenied',
          'Access Denied: Project my-project: User does not have bigquery.jobs.create permission in project my-project.',
        ),
      },
      /may not run jobs/,
      /role BigQuery Job User/,
    ],
    [
      'an API that is not enabled',
      {
        SELECT: refusal(
          403,
          'accessNotConfigured',
          'BigQuery API has not been used in project 1 before or it is disabled.',
        ),
      },
      /API is disabled/,
      /Enable it/,
    ],
    [
      'a project that has not enabled it',
      { SELECT: refusal(400, 'invalid', 'The project my-project has not enabled BigQuery.') },
      /API is disabled in the project my-project/,
      /Enable it/,
    ],
    [
      'a project that was deleted',
      {
        SELECT: refusal(
          403,
          'accessDenied',
          'Access Denied: Project my-project: Project has been deleted',
        ),
      },
      /has been deleted/,
      /Restore it/,
    ],
    [
      'a wrong project',
      { SELECT: refusal(404, 'notFound', 'Not found: Project my-project') },
      /no project my-project/,
      /ID of the project/,
    ],
    [
      'credentials that have expired',
      { SELECT: refusal(401, 'authError', 'Invalid Credentials') },
      /expired or revoked/,
      /Create a new key/,
    ],
    [
      'no right to change tables, as a dry run shows',
      {
        UPDATE: refusal(
          403,
          'accessDenied',
          'Access Denied: Table my-project:forms.mirror_state: Permission bigquery.tables.updateData denied',
        ),
      },
      /may not change the dataset my-project\.forms/,
      /role BigQuery Data Editor in forms/,
    ],
    [
      'a project without billing',
      {
        UPDATE: refusal(
          403,
          'billingNotEnabled',
          'Billing has not been enabled for this project. DML queries are not allowed in the free tier.',
        ),
      },
      /no billing account/,
      /Link one/,
    ],
  ])('reports %s', async (_, refusals, message, remedy) => {
    dryRuns = new Map(Object.entries(refusals));
    expect(failures(await check())).toEqual([
      { ok: false, message: expect.stringMatching(message), remedy: expect.stringMatching(remedy) },
    ]);
  });

  it('reports a dataset that is missing and may not be made', async () => {
    fake.answer('GET datasets/forms', [ABSENT]);
    dryRuns.set(
      'CREATE SCHEMA',
      refusal(
        403,
        'accessDenied',
        'Access Denied: Project my-project: User does not have bigquery.datasets.create permission',
      ),
    );
    expect(failures(await check())).toEqual([
      {
        ok: false,
        message: 'There is no dataset my-project.forms, and the account may not make one.',
        remedy: expect.stringMatching(/Make it in the Cloud console.* Data Editor/),
      },
    ]);
  });

  it('reports a dataset in another location', async () => {
    expect(failures(await check('bigquery://my-project/forms?location=US'))).toEqual([
      {
        ok: false,
        message: 'The dataset my-project.forms lies in EU, not in US.',
        remedy: expect.stringContaining('?location=EU'),
      },
    ]);
  });

  it('reports rights that are missing at the tables that are there', async () => {
    fake.answer(`POST ${STATE}:testIamPermissions`, [
      { body: { permissions: PERMISSIONS.slice(0, 2) } },
    ]);
    expect(failures(await check())[0]?.message).toContain(
      'bigquery.tables.updateData, bigquery.tables.update.',
    );
  });

  it('goes on where rights cannot be asked for, as the dry run tries them', async () => {
    fake.answer(`POST ${STATE}:testIamPermissions`, [refusal(404, 'notFound', 'Not Found')]);
    expect((await check()).at(-1)?.message).toBe('Its tables can be changed.');
  });

  it('reports tables that expire, and recognises a project without billing by it', async () => {
    fake.answer('GET datasets/forms', [
      { body: { location: 'EU', defaultTableExpirationMs: '5184000000' } },
    ]);
    const [failed] = failures(await check());
    expect(failed?.message).toContain('expire after 60 d: rows would vanish');
    expect(failed?.remedy).toContain('link a billing account first');
  });

  it('rejects when it is stopped', async () => {
    const address = parseBigQueryUrl('bigquery://my-project/forms');
    const jobs = await fake.jobs();
    const stopped = checkBigQuery({ jobs, address, email: EMAIL }, AbortSignal.abort());
    await expect(stopped).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});
