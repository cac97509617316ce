/**
 * The errors of the emulator, in Google's words. Each text comes from a recorded response or a public bug report;
 * the doc comment mentions it if Google's own text is unknown.
 */

/** The `status` names of google.rpc.Code that Sheets answers with. */
export type RpcStatus =
  | 'INVALID_ARGUMENT'
  | 'UNAUTHENTICATED'
  | 'NOT_FOUND'
  | 'INTERNAL'
  | 'UNIMPLEMENTED';

const HTTP_CODES: Record<RpcStatus, number> = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  NOT_FOUND: 404,
  INTERNAL: 500,
  UNIMPLEMENTED: 501,
};

/** One entry of `error.details`. */
export type ErrorDetail = { '@type': string } & Record<string, unknown>;

/** An answer other than 200, thrown anywhere below the router and turned into Google's error envelope there. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: RpcStatus;
  readonly details: readonly ErrorDetail[];

  constructor(status: RpcStatus, message: string, details: readonly ErrorDetail[] = []) {
    super(message);
    this.status = status;
    this.details = details;
  }

  /** The HTTP status code. */
  get code(): number {
    return HTTP_CODES[this.status];
  }

  /** The body as Google sends it; `details` only if there are some. */
  body(): { error: Record<string, unknown> } {
    const { code, message, status, details } = this;
    return { error: { code, message, status, ...(details.length > 0 && { details }) } };
  }
}

/** 400 INVALID_ARGUMENT. */
export const invalid = (message: string): ApiError => new ApiError('INVALID_ARGUMENT', message);

/** 400 for a body or parameter that does not fit the schema: the message and the same text as field violations. */
export function badRequest(
  violations: readonly { field: string; description: string }[],
): ApiError {
  const message = violations.map((violation) => violation.description).join('\n');
  const fieldViolations = violations.map(({ field, description }) =>
    field === '' ? { description } : { field, description },
  );
  const type = 'type.googleapis.com/google.rpc.BadRequest';
  return new ApiError('INVALID_ARGUMENT', message, [{ '@type': type, fieldViolations }]);
}

/** 404 of a wrong spreadsheet ID, also of a deleted file. */
export const entityNotFound = (): ApiError =>
  new ApiError('NOT_FOUND', 'Requested entity was not found.');

/** 400 of a hard protection that does not name the caller as an editor. */
export const protectedCell = (): ApiError =>
  invalid(
    'You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection if you need to edit.',
  );

/** 400 for a range that lies outside the grid. `range` is A1 with the tab's title. */
export const exceedsGrid = (range: string, rows: number, columns: number): ApiError =>
  invalid(`Range (${range}) exceeds grid limits. Max rows: ${rows}, max columns: ${columns}`);

/** 400 beyond ten million cells. */
export const tooManyCells = (limit: number): ApiError =>
  invalid(
    `This action would increase the number of cells in the workbook above the limit of ${limit} cells.`,
  );

/** 400 beyond 50,000 characters in a cell. */
export const cellTooLong = (limit: number): ApiError =>
  invalid(`Your input contains more than the maximum of ${limit} characters in a single cell.`);

/** Puts Google's `Invalid requests[3].updateCells: ` before the message of a failed request of a batch. */
export function inRequest(error: unknown, index: number, kind: string): unknown {
  if (!(error instanceof ApiError) || error.status !== 'INVALID_ARGUMENT') return error;
  return new ApiError(
    error.status,
    `Invalid requests[${index}].${kind}: ${error.message}`,
    error.details,
  );
}
