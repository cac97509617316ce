/** The errors of the emulator, in the envelope of BigQuery. Clients depend on `error.errors[].reason`. */

/** The reasons of BigQuery that the emulator uses. */
export type ErrorReason =
  | 'accessDenied'
  | 'accessNotConfigured'
  | 'authError'
  | 'billingNotEnabled'
  | 'bytesBilledLimitExceeded'
  | 'duplicate'
  | 'internalError'
  | 'invalid'
  | 'invalidQuery'
  | 'notFound'
  | 'notImplemented'
  | 'rateLimitExceeded'
  | 'required'
  | 'stopped'
  | 'conditionNotMet';

const HTTP: Readonly<Record<ErrorReason, readonly [code: number, status: string]>> = {
  accessDenied: [403, 'PERMISSION_DENIED'],
  accessNotConfigured: [403, 'PERMISSION_DENIED'],
  authError: [401, 'UNAUTHENTICATED'],
  billingNotEnabled: [403, 'PERMISSION_DENIED'],
  bytesBilledLimitExceeded: [400, 'INVALID_ARGUMENT'],
  conditionNotMet: [412, 'FAILED_PRECONDITION'],
  duplicate: [409, 'ALREADY_EXISTS'],
  internalError: [500, 'INTERNAL'],
  invalid: [400, 'INVALID_ARGUMENT'],
  invalidQuery: [400, 'INVALID_ARGUMENT'],
  notFound: [404, 'NOT_FOUND'],
  notImplemented: [501, 'UNIMPLEMENTED'],
  rateLimitExceeded: [403, 'PERMISSION_DENIED'],
  required: [400, 'INVALID_ARGUMENT'],
  stopped: [400, 'CANCELLED'],
};

/** A response other than 200, thrown anywhere below the router; also the error of a failed job. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: ErrorReason;
  /** `query` for a mistake in a statement; absent if Google has none. */
  readonly location: string | undefined;

  constructor(reason: ErrorReason, message: string, location?: string) {
    super(message);
    this.reason = reason;
    this.location = location;
  }

  /** The HTTP status code. */
  get code(): number {
    return HTTP[this.reason][0];
  }

  /** The body as Google sends it. */
  body(): object {
    const { message, reason, location } = this;
    const [code, status] = HTTP[reason];
    const entry = {
      message,
      domain: 'global',
      reason,
      ...(location !== undefined && { location, locationType: 'parameter' }),
    };
    return { error: { code, message, errors: [entry], status } };
  }
}

/** 400 for a statement that is wrong or failed. */
export const invalidQuery = (message: string): ApiError =>
  new ApiError('invalidQuery', message, 'query');

/** 400 for a request that is wrong. */
export const invalid = (message: string): ApiError => new ApiError('invalid', message);

/** 501: the emulator reports everything that it does not support, so that no test treats silence as success. */
export const notDone = (what: string): ApiError =>
  new ApiError('notImplemented', `bigquery-emulator does not do ${what}`);

/** 404 of a dataset. */
export const datasetNotFound = (project: string, dataset: string): ApiError =>
  new ApiError('notFound', `Not found: Dataset ${project}:${dataset}`);

/** 404 of a table or view. */
export const tableNotFound = (project: string, dataset: string, table: string): ApiError =>
  new ApiError('notFound', `Not found: Table ${project}:${dataset}.${table}`);

/** 404 of a job. */
export const jobNotFound = (project: string, location: string, job: string): ApiError =>
  new ApiError('notFound', `Not found: Job ${project}:${location}.${job}`);
