import { ApiError, type ErrorReason } from './api-error.ts';
import type { FaultRule } from './faults.ts';

type Answer = Pick<FaultRule, 'status' | 'body'>;

function answer(reason: ErrorReason, message: string): Answer {
  const error = new ApiError(reason, message);
  return { status: error.code, body: JSON.stringify(error.body()) };
}

/** Responses in Google's words, to be spread into a rule: `{ method: 'jobs.query', ...GOOGLE_FAULTS.accessDenied }`. */
export const GOOGLE_FAULTS = {
  rateLimitExceeded: answer(
    'rateLimitExceeded',
    'Exceeded rate limits: too many api requests per user per method for this user_method. For more information, see https://cloud.google.com/bigquery/troubleshooting-errors',
  ),
  noCredentials: answer(
    'authError',
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.',
  ),
  apiNotEnabled: answer(
    'accessNotConfigured',
    'BigQuery API has not been used in project 100000000000 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/bigquery.googleapis.com/overview?project=100000000000 then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry.',
  ),
  billingNotEnabled: answer(
    'billingNotEnabled',
    'Billing has not been enabled for this project. Enable billing at https://console.cloud.google.com/billing. DML queries are not allowed in the free tier. Set up a billing account to remove this restriction.',
  ),
  accessDenied: answer(
    'accessDenied',
    'Access Denied: Project emulated: User does not have bigquery.jobs.create permission in project emulated.',
  ),
} as const satisfies Readonly<Record<string, Answer>>;
