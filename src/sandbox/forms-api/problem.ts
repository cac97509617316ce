import { htmlReply, jsonReply, type Reply } from '../reply.ts';
import type { SandboxBehaviour } from './behaviour.ts';
import { encodeJson, type Wire } from './json.ts';

/** The error of one field or parameter of a request. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** A request that the API refuses. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: keyof typeof CODES;
  readonly fields: readonly FieldError[];

  constructor(status: Problem['status'], message: string, fields: readonly FieldError[] = []) {
    super(message);
    this.status = status;
    this.fields = fields;
  }
}

const CODES = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  422: 'unprocessable',
  429: 'too_many_requests',
  500: 'internal_error',
} as const;

/** The answer to a refused request, with a body as the behaviour has it. */
export function problemReply(problem: Problem, behaviour: SandboxBehaviour): Reply {
  const { status, message } = problem;
  const kind = status === 400 ? behaviour.badRequestBody : behaviour.errorBody;
  if (kind === 'empty') return { status, headers: {}, body: '' };
  if (kind === 'html') {
    return htmlReply(
      status,
      `<!doctype html><html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`,
    );
  }
  const json = encodeJson({
    error: CODES[status],
    message,
    ...(status === 400 && { fields: fieldsOf(problem.fields, behaviour.fieldErrors) }),
    ...(behaviour.extraFields && { traceId: '4bf92f3577b34da6', docs: null }),
  });
  return jsonReply(status, kind === 'cut' ? json.slice(0, Math.ceil(json.length / 2)) : json);
}

function fieldsOf(errors: readonly FieldError[], shape: SandboxBehaviour['fieldErrors']): Wire {
  if (shape === 'map') return new Map(errors.map(({ field, message }) => [field, message]));
  if (shape === 'sentences') return errors.map(({ field, message }) => `${field}: ${message}`);
  return errors.map(({ field, message }) => ({ field, message }));
}
