import { invalid, invalidQuery } from './api-error.ts';
import { canonicalJson, inexactNumber } from './json-text.ts';
import { objectAt, objectsAt, textAt, type Raw } from './json-object.ts';
import type { Parameters, Typed } from './session.ts';
import { fromParameterType, type BqType, type BqValue } from './types.ts';

const MAX_PARAMETERS = 10_000;

/** The query parameters of a job. */
export function parametersOf(query: Raw): Parameters {
  const given = objectsAt(query, 'queryParameters');
  if (given.length > MAX_PARAMETERS) {
    throw invalid(`Too many query parameters: ${given.length}. The limit is ${MAX_PARAMETERS}.`);
  }
  const mode = textAt(query, 'parameterMode')?.toUpperCase();
  const isNamed = given.some((parameter) => (textAt(parameter, 'name') ?? '') !== '');
  if (mode === 'POSITIONAL' && isNamed) throw invalid('Positional parameters have no names');
  if (mode === 'NAMED' && given.some((parameter) => (textAt(parameter, 'name') ?? '') === '')) {
    throw invalid('Named parameters need names');
  }
  const values = given.map((parameter) => {
    const type = fromParameterType(objectAt(parameter, 'parameterType') ?? {});
    const value = valueAt(objectAt(parameter, 'parameterValue') ?? {}, type);
    return { name: (textAt(parameter, 'name') ?? '').toLowerCase(), typed: { type, value } };
  });
  if (!isNamed) return { named: new Map(), positional: values.map(({ typed }) => typed) };
  const named = new Map<string, Typed>();
  for (const { name, typed } of values) {
    if (named.has(name)) throw invalid(`Duplicate query parameter name: ${name}`);
    named.set(name, typed);
  }
  return { named, positional: [] };
}

function valueAt(raw: Raw, type: BqType): BqValue {
  if (type.kind === 'ARRAY') {
    const items = raw['arrayValues'];
    // As the service does: an array parameter without values is empty, never NULL.
    if (items === undefined || items === null) return [];
    return objectsAt(raw, 'arrayValues').map((item) => valueAt(item, type.element));
  }
  if (type.kind === 'STRUCT') {
    const parts = objectAt(raw, 'structValues');
    if (parts === undefined) return null;
    return type.fields.map(({ name, type }) => valueAt(objectAt(parts, name) ?? {}, type));
  }
  const text = textAt(raw, 'value');
  return text === undefined ? null : checked(text, type.kind);
}

/** What each type takes as the text of a parameter. */
const SHAPES: Readonly<Record<string, RegExp>> = {
  INT64: /^[+-]?\d+$/,
  FLOAT64: /^([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?|nan)$/i,
  NUMERIC: /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/,
  BOOL: /^(true|false)$/i,
  DATE: /^\d{4}-\d{1,2}-\d{1,2}$/,
  DATETIME: /^\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,6})?)?$/,
  TIME: /^\d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,6})?$/,
};

function checked(text: string, kind: string): string {
  if (kind === 'TIMESTAMP') return microsOf(text);
  if (kind === 'JSON') {
    const json = canonicalJson(text);
    if (json === undefined) {
      throw invalidQuery('Invalid value for parameter of type JSON: it cannot be parsed');
    }
    const number = inexactNumber(text);
    if (number !== undefined) {
      throw invalidQuery(
        `Invalid value for parameter of type JSON: Input number: ${number} cannot round-trip through string representation`,
      );
    }
    return json;
  }
  const shape = SHAPES[kind];
  if (shape !== undefined && !shape.test(text)) {
    throw invalid(`Invalid value for query parameter of type ${kind}`);
  }
  return text;
}

/** A moment as text in microseconds since the epoch. */
function microsOf(text: string): string {
  const [, day, hours = '00:00:00', fraction = '', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?)?\s?(Z|UTC|[+-]\d\d(?::?\d\d)?)?$/i.exec(
      text,
    ) ?? [];
  const offset = /^(z|utc)$/i.test(zone) ? 'Z' : zone.length === 3 ? `${zone}:00` : zone;
  const millis = Date.parse(`${day}T${hours}${offset}`);
  if (Number.isNaN(millis)) throw invalid('Invalid value for query parameter of type TIMESTAMP');
  return String(BigInt(millis) * 1_000n + BigInt(fraction.padEnd(6, '0')));
}
