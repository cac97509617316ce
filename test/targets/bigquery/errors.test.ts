import { describe, expect, it } from 'vitest';
import { jobError, toBigQueryError } from '../../../src/targets/sql/bigquery/bigquery-errors.ts';

const SUBJECT = {
  project: 'my-project',
  dataset: 'forms',
  email: 'mirror@my-project.iam.gserviceaccount.com',
  writes: true,
};

/** What Google's client throws for an answer. */
const answered = (status: number, reason: string, message: string): unknown =>
  Object.assign(new Error(message), {
    status,
    response: {
      status,
      data: { error: { code: status, message, errors: [{ reason, message }] } },
    },
  });

describe('a refusal of BigQuery', () => {
  it.each([
    [
      'no right to run jobs',
      403,
      'accessDenied',
      'Access Denied: Project my-project: User does not have bigquery.jobs.create permission in project my-project.',
      { code: 'TARGET_DENIED', fault: 'final' },
      /may not run jobs in the project my-project\. Give mirror@my-project\S+ the role BigQuery Job User/,
    ],
    [
      'no right to write',
      403,
      'accessDenied',
      'Access Denied: Table my-project:forms.t: Permission bigquery.tables.updateData denied on table my-project:forms.t (or it may not exist).',
      { code: 'TARGET_DENIED', fault: 'final' },
      /may not change the dataset my-project\.forms\. Give mirror@\S+ the role BigQuery Data Editor in forms/,
    ],
    [
      'no right to make the dataset',
      403,
      'accessDenied',
      'Access Denied: Project my-project: User does not have bigquery.datasets.create permission in project my-project.',
      { code: 'TARGET_DENIED' },
      /may not make one\. Make it in the Cloud console/,
    ],
    [
      'an API that is not enabled',
      403,
      'accessNotConfigured',
      'BigQuery API has not been used in project 123 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/bigquery.googleapis.com/overview?project=123 then retry.',
      { code: 'TARGET_DENIED' },
      /BigQuery API is disabled .* Enable it \(https:\/\/console\.developers\.google\.com\/apis\/api\/bigquery/,
    ],
    [
      'a project without billing',
      403,
      'billingNotEnabled',
      'Billing has not been enabled for this project. Enable billing at https://console.cloud.google.com/billing. DML queries are not allowed in the free tier.',
      { code: 'TARGET_DENIED' },
      /no billing account: BigQuery's sandbox lets nobody change rows\. Link one/,
    ],
    [
      'a project that has not enabled it',
      400,
      'invalid',
      'The project my-project has not enabled BigQuery.',
      { code: 'TARGET_DENIED', fault: 'final' },
      /BigQuery API is disabled in the project my-project, or there is no such project\. Enable it \(https:\/\/console/,
    ],
    [
      'a project that was deleted',
      403,
      'accessDenied',
      'Access Denied: Project my-project: Project has been deleted',
      { code: 'TARGET_DENIED' },
      /project my-project has been deleted\. Restore it within 30 days/,
    ],
    [
      'a billing account that was closed',
      403,
      'accessDenied',
      'The billing account for the owning project is disabled in state closed',
      { code: 'TARGET_DENIED' },
      /billing account of the project my-project is closed or disabled\. .*link another one \(/,
    ],
    [
      'a perimeter of the organization',
      403,
      'vpcServiceControls',
      "VPC Service Controls: Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: hunter2",
      { code: 'TARGET_DENIED' },
      /VPC Service Controls .* forbid this call to the project my-project\. Ask who administers them/,
    ],
    [
      'a refusal that names no dataset',
      403,
      'accessDenied',
      'Access Denied: hunter2',
      { code: 'TARGET_DENIED' },
      /refused a call to the project my-project \(accessDenied\), and named no dataset or table\. Look whether the project and its billing account are active/,
    ],
    [
      'a table whose name speaks of deletion',
      403,
      'accessDenied',
      'Access Denied: Table my-project:forms.deleted: User does not have permission to query table my-project:forms.deleted',
      { code: 'TARGET_DENIED' },
      /may not change the dataset my-project\.forms/,
    ],
    [
      'a project that is not there',
      404,
      'notFound',
      'Not found: Project my-project',
      { code: 'TARGET_DENIED' },
      /There is no project my-project/,
    ],
    [
      'a table that is gone',
      404,
      'notFound',
      'Not found: Table my-project:forms.t was not found in location EU',
      { code: 'TARGET_FAILED', fault: 'absent' },
      /gone from my-project\.forms, or lies in another location/,
    ],
    [
      'a quota of the project',
      403,
      'quotaExceeded',
      'Custom quota exceeded: Your usage exceeded the custom quota for QueryUsagePerDay',
      { code: 'TARGET_BUDGET', fault: 'budget', retryable: true },
      /A quota of the project my-project is used up/,
    ],
    [
      'credentials that have expired',
      401,
      'authError',
      'Request had invalid authentication credentials',
      { code: 'TARGET_DENIED' },
      /expired or revoked/,
    ],
    [
      'a table of that name',
      409,
      'duplicate',
      'Already Exists: Table my-project:forms.t',
      { fault: 'exists' },
      /already/,
    ],
    [
      'a table that changed',
      412,
      'conditionNotMet',
      'Precondition check failed.',
      { fault: 'changed' },
      /changed/,
    ],
    [
      'a result that is too large',
      403,
      'responseTooLarge',
      'Response too large to return',
      { code: 'TARGET_FAILED', fault: 'refused', retryable: true },
      /\(responseTooLarge\)/,
    ],
    [
      'a table that asks for months',
      400,
      'invalidQuery',
      "Cannot query over table 'my-project.forms.hunter2' without a filter over column(s) 'created_at' that can be used for partition elimination",
      { code: 'TARGET_FAILED', fault: 'final', retryable: false },
      /require_partition_filter.*ALTER TABLE forms\.<table> SET OPTIONS \(require_partition_filter = FALSE\)/,
    ],
    [
      'a column whose name is not free yet',
      400,
      'invalid',
      'Column `hunter2` was recently deleted in the table `contact`. Deleted column name is reserved for up to the time travel duration, use a different column name instead.',
      { code: 'TARGET_FAILED', fault: 'final', retryable: false },
      /takes no new one of its name.*RENAME TO/,
    ],
    [
      'a request that is too large',
      400,
      'invalid',
      'Request payload size exceeds the limit: 10485760 bytes.',
      { code: 'TARGET_FAILED', fault: 'final', retryable: false },
      /more than BigQuery takes in a request.*Pick fewer of its fields \(TARGET_FIELDS\)/,
    ],
    [
      'a statement that is too long',
      400,
      'invalidQuery',
      'The query is too large. The maximum standard SQL query length is 1024.00K characters, including comments and white space characters.',
      { code: 'TARGET_FAILED', fault: 'final', retryable: false },
      /Pick fewer of its fields \(TARGET_FIELDS\)/,
    ],
    [
      'a statement that it cannot read',
      400,
      'invalidQuery',
      'Syntax error: Unexpected identifier hunter2 at [1:2]',
      { code: 'TARGET_FAILED', fault: 'refused' },
      /refused a change of my-project\.forms \(invalidQuery\)/,
    ],
  ])('is told apart: %s', (_, status, reason, message, expected, text) => {
    const error = toBigQueryError(answered(status, reason, message), SUBJECT);
    expect(error).toMatchObject(expected);
    expect(error.message).toMatch(text);
    expect(error.message).not.toContain('hunter2');
  });

  it('may be the end of a job', () => {
    expect(jobError({ reason: 'backendError', message: 'x' }, SUBJECT)).toMatchObject({
      fault: 'failed',
    });
    const conflict =
      'Could not serialize access to table my-project:forms.t due to concurrent update';
    expect(jobError({ reason: 'invalidQuery', message: conflict }, SUBJECT)).toMatchObject({
      fault: 'conflict',
    });
    expect(jobError({ reason: 'stopped', message: 'Job cancelled' }, SUBJECT)).toMatchObject({
      fault: 'refused',
    });
  });

  it('that never reached it is no unclear one', () => {
    const cut = (code: string): unknown => Object.assign(new Error('x'), { code });
    expect(toBigQueryError(cut('ECONNREFUSED'), SUBJECT)).toMatchObject({ fault: 'unreachable' });
    expect(toBigQueryError(cut('ECONNRESET'), SUBJECT)).toMatchObject({ fault: 'unclear' });
    expect(toBigQueryError(cut('ECONNRESET'), { ...SUBJECT, writes: false })).toMatchObject({
      fault: 'unreachable',
    });
  });
});
