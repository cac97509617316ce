import { invalid, notDone } from './api-error.ts';
import { objectAt, objectsAt, textAt, type Raw } from './json-object.ts';
import { fromParameterType, type BqType, type ScalarKind } from './types.ts';

const MAX_PARAMETERS = 10_000;

/** A parameter: its value as text for the store; a list as JSON. */
export interface Parameter {
  readonly type: BqType;
  readonly text: string | null;
}

/** The parameters of a job, by their names in lower case. */
export type Parameters = ReadonlyMap<string, Parameter>;

/** The query parameters of a job. */
export function parametersOf(query: Raw): Parameters {
  const given = objectsAt(query, 'queryParameters');
  if (given.length > MAX_PARAMETERS) {
    throw invalid(`Too many query parameters: ${given.length}. The limit is ${MAX_PARAMETERS}.`);
  }
  const named = new Map<string, Parameter>();
  for (const parameter of given) {
    const name = (textAt(parameter, 'name') ?? '').toLowerCase();
    if (name === '') throw notDone('parameters without a name');
    if (named.has(name)) throw invalid(`Duplicate query parameter name: ${name}`);
    const type = fromParameterType(objectAt(parameter, 'parameterType') ?? {});
    named.set(name, { type, text: textOf(objectAt(parameter, 'parameterValue') ?? {}, type) });
  }
  return named;
}

function textOf(raw: Raw, type: BqType): string | null {
  if (type.kind === 'ARRAY') {
    // As in the service, an array parameter without values is empty, never NULL.
    const { element } = type;
    return JSON.stringify(objectsAt(raw, 'arrayValues').map((item) => textOf(item, element)));
  }
  const text = textAt(raw, 'value');
  if (text === undefined) return null;
  const shape = SHAPES[type.kind];
  if (shape === undefined) throw notDone(`parameters of the type ${type.kind}`);
  if (!shape.test(text)) throw invalid(`Invalid value for query parameter of type ${type.kind}`);
  return text;
}

/** The valid texts of a parameter, by type. */
const SHAPES: Readonly<Partial<Record<ScalarKind | 'STRUCT', RegExp>>> = {
  STRING: /^/,
  INT64: /^[+-]?\d+$/,
  FLOAT64: /^([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?|nan)$/i,
};
