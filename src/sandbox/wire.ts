import { ExactNumber, type Json } from '../mirror/types.ts';
import { jsonReply, type Reply } from './reply.ts';

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
  404: 'not_found',
} as const;

/** The answer to a refused request. */
export const problemReply = ({ status, message, fields }: Problem): Reply =>
  showJson(status, {
    error: CODES[status],
    message,
    ...(status === 400 && { fields: fields.map((field) => ({ ...field })) }),
  });

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
