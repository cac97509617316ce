import { ExactNumber, type Json } from '../mirror/types.ts';
import type { SandboxBehaviour } from './behaviour.ts';
import { htmlReply, jsonReply, type Reply } from './faults.ts';

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
  500: 'internal_error',
} as const;

/** The answer to a refused request, with a body as the behavior has it. */
export function problemReply(
  { status, message, fields }: Problem,
  { errorBody, extraFields }: SandboxBehaviour,
): Reply {
  if (errorBody === 'empty') return { status, headers: {}, body: '' };
  if (errorBody === 'html') {
    const title = `<html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`;
    return htmlReply(status, `<!doctype html>${title}`);
  }
  const json = encodeJson({
    error: CODES[status],
    message,
    ...(status === 400 && { fields: fields.map((field) => ({ ...field })) }),
    ...(extraFields && { traceId: '4bf92f3577b34da6', docs: null }),
  });
  return jsonReply(status, errorBody === 'cut' ? json.slice(0, Math.ceil(json.length / 2)) : json);
}

/** JSON to be sent, with Maps for objects whose keys are field IDs. Properties that are undefined are left out. */
export type Wire =
  | Json
  | undefined
  | ReadonlyMap<string, Json>
  | readonly Wire[]
  | { readonly [key: string]: Wire };

/** An object before it is sent. */
export type WireObject = { [key: string]: Wire };

/** A JSON answer. */
export const showJson = (status: number, value: WireObject): Reply =>
  jsonReply(status, encodeJson(value));

/** JSON text; exact numbers digit by digit, `__proto__` as a key like any other. */
const encodeJson = (value: Wire): string =>
  JSON.stringify(value, (_key, part: unknown) => (part instanceof Map ? objectOf(part) : part));

function objectOf(map: ReadonlyMap<string, unknown>): object {
  // Without a prototype, `__proto__` is an ordinary property.
  const object = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of map) object[key] = value;
  return object;
}

/** The value of a JSON text, with every number in its original digits. Throws SyntaxError. */
export function decodeJson(text: string): Json {
  const revive = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
    typeof value !== 'number' || source === undefined || String(value) === source
      ? value
      : new ExactNumber(source);
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown) as Json;
}

/** True for a JSON object. */
export const isObject = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof ExactNumber);
