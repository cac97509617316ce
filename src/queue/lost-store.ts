import { errorCode } from '../base/error-code.ts';
import { MirrorError, isAbort, toMirrorError } from '../base/errors.ts';
import { unreachable } from './backends/backend.ts';

/** Codes of the system, and of PostgreSQL: class 08 (connection), and a server that shuts down or starts up. */
const CODES =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08[0-9A-Z]{3}|57P0[1-5])$/;
/** What the drivers say without a code; it is matched and never quoted. */
const MESSAGES =
  /^connection (?:terminated|is closed)|timeout exceeded when trying to connect|client has encountered a connection error|max retries per request/i;

/**
 * Why a job failed. Source and targets translate what their connections meet: what is foreign here and tells of a connection
 * comes from the queue's own, between the parts of a job.
 */
export function jobFailure(error: unknown): MirrorError {
  if (error instanceof MirrorError || isAbort(error) || !(error instanceof Error)) {
    return toMirrorError(error);
  }
  const isLost = CODES.test(errorCode(error) ?? '') || MESSAGES.test(error.message);
  return isLost ? unreachable('The queue', error) : toMirrorError(error);
}
