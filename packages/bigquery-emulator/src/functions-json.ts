import { invalidQuery, notDone } from './api-error.ts';
import { textLiteral } from './emit.ts';
import { constantText, type Call, type Writer } from './function-call.ts';
import type { PathStep } from './json-text.ts';
import { asText } from './sql-cast.ts';
import type { BqType } from './types.ts';

/** Functions of JSON, which is text in our columns. */
export const JSON_FUNCTIONS: Readonly<Record<string, Writer>> = {
  json_value: scalar,
  json_query: query,
  json_query_array: array,
  to_json_string: ({ args, nodes }) => {
    if (args.length > 1 && args[1] !== 'FALSE') throw notDone('TO_JSON_STRING with pretty_print');
    return `coalesce(CAST(${jsonOf(args[0] ?? 'NULL', nodes[0]?.type())} AS VARCHAR), 'null')`;
  },
};

/** The steps of the constant JSONPath of a call. */
function pathOf(call: Call): PathStep[] {
  if (call.nodes.length < 2) return [];
  const text = constantText(call, 1);
  let rest = text.replace(/^\s*\$/, '');
  if (rest === text) throw invalidQuery(`Invalid JSONPath: ${text}`);
  const steps: PathStep[] = [];
  while (rest !== '') {
    const step = /^\.([\w-]+|"(?:[^"\\]|\\.)*")|^\[(\d+)\]/.exec(rest);
    if (step === null) throw invalidQuery(`Unsupported operator in JSONPath: ${text}`);
    const [whole, name = '', place] = step;
    if (place !== undefined) steps.push(Number(place));
    else steps.push(name.startsWith('"') ? String(JSON.parse(name)) : name);
    rest = rest.slice(whole.length);
  }
  return steps;
}

/** The path in DuckDB's notation. */
const nativePath = (steps: readonly PathStep[]): string =>
  textLiteral(
    steps.reduce<string>(
      (path, step) => path + (typeof step === 'number' ? `[${step}]` : `.${JSON.stringify(step)}`),
      '$',
    ),
  );

/** The path in the notation of the store's own functions. */
const ownPath = (steps: readonly PathStep[]): string => textLiteral(JSON.stringify(steps));

/** A number in a text is returned as written; DuckDB would format it again. */
function scalar(call: Call): string {
  const [json, steps] = [call.args[0], pathOf(call)];
  const path = nativePath(steps);
  const number = `WHEN 'DOUBLE' THEN bq_json_at(${json}, ${ownPath(steps)})`;
  const nothing = `WHEN 'OBJECT' THEN NULL WHEN 'ARRAY' THEN NULL WHEN 'NULL' THEN NULL`;
  const value = `CASE json_type(${json}, ${path}) ${nothing} ${number} ELSE json_extract_string(${json}, ${path}) END`;
  // Text that is not JSON gives NULL.
  return `CASE WHEN json_valid(${json}) THEN ${value} END`;
}

function query(call: Call): string {
  return `nullif(bq_json_at(${call.args[0]}, ${ownPath(pathOf(call))}), 'null')`;
}

function array(call: Call): string {
  const elements = `bq_json_elements(${call.args[0]}, ${ownPath(pathOf(call))})`;
  return `from_json(${elements}, '["VARCHAR"]')`;
}

/** A value as DuckDB's JSON, formatted as BigQuery does. */
function jsonOf(sql: string, type: BqType | undefined): string {
  if (type?.kind === 'STRING') return `to_json(${sql})`;
  if (type?.kind === 'FLOAT64') {
    const others = `CASE CAST(${sql} AS VARCHAR) WHEN 'inf' THEN 'Infinity' WHEN '-inf' THEN '-Infinity' ELSE 'NaN' END`;
    return `CASE WHEN isfinite(${sql}) THEN CAST(${asText(sql, 'FLOAT64')} AS JSON) WHEN ${sql} IS NOT NULL THEN to_json(${others}) END`;
  }
  if (type?.kind !== 'STRUCT') throw notDone(`TO_JSON_STRING of ${type?.kind}`);
  const parts = type.fields.map((field, index) => {
    const value = jsonOf(`struct_extract(${sql}, 'f${index + 1}')`, field.type);
    return `${textLiteral(field.name)}, coalesce(${value}, CAST('null' AS JSON))`;
  });
  return `CASE WHEN ${sql} IS NOT NULL THEN json_object(${parts.join(', ')}) END`;
}
