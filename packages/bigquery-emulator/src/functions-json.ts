import { invalidQuery, notDone } from './api-error.ts';
import { textLiteral } from './emit.ts';
import { constantText, failure, type Call, type Writer } from './function-call.ts';
import type { PathStep } from './json-text.ts';
import { asText, once } from './sql-cast.ts';
import { duckType, type BqType } from './types.ts';

/** Functions of JSON: in the store it is text, so each of them reads and writes text. */
export const JSON_FUNCTIONS: Readonly<Record<string, Writer>> = {
  json_value: scalar,
  json_extract_scalar: scalar,
  json_query: query,
  json_extract: query,
  json_query_array: array,
  json_extract_array: array,
  json_value_array: values,
  json_extract_string_array: values,
  parse_json: (call) => {
    const mode = call.nodes[1] === undefined ? 'exact' : constantText(call.nodes[1]);
    if (mode === undefined) throw notDone('PARSE_JSON with a wide_number_mode that is no constant');
    if (mode !== 'exact' && mode !== 'round') {
      throw invalidQuery(`Invalid \`wide_number_mode\` specified: ${mode}`);
    }
    const bad = call.isSafe ? 'NULL' : `error(substr(x, 2) || '; error in PARSE_JSON expression')`;
    const body = `CASE WHEN x LIKE '!%' THEN ${bad} ELSE x END`;
    return once(`bq_json_parsed(${call.args[0] ?? 'NULL'}, '${mode}')`, body);
  },
  to_json_string: ({ args, types }) => {
    if (args.length > 1 && args[1] !== 'FALSE') throw notDone('TO_JSON_STRING with pretty_print');
    return `coalesce(CAST(${jsonOf(args[0] ?? 'NULL', types[0], true)} AS VARCHAR), 'null')`;
  },
  to_json: ({ args, types }) => {
    const json = `CAST(${jsonOf(args[0] ?? 'NULL', types[0], false)} AS VARCHAR)`;
    return `coalesce(${sorted(json, types[0])}, 'null')`;
  },
  json_type: ({ args }) => typeName(`json_type(${args[0]})`),
  json_keys: () => {
    throw notDone('the function JSON_KEYS');
  },
  json_object: (call) => {
    if (call.types[0]?.kind === 'ARRAY') throw notDone('JSON_OBJECT of two arrays');
    const parts = call.args.map((arg, index) =>
      index % 2 === 0
        ? arg
        : `coalesce(${jsonOf(arg, call.types[index], false)}, CAST('null' AS JSON))`,
    );
    return `bq_json(CAST(json_object(${parts.join(', ')}) AS VARCHAR))`;
  },
  json_array: (call) => {
    const parts = call.args.map(
      (arg, index) => `coalesce(${jsonOf(arg, call.types[index], false)}, CAST('null' AS JSON))`,
    );
    return `bq_json(CAST(json_array(${parts.join(', ')}) AS VARCHAR))`;
  },
  // Casts of JSON by its value; another kind of value is an error.
  string: (call) => strict(call, ['VARCHAR'], `json_extract_string(${call.args[0]}, '$')`),
  bool: (call) => strict(call, ['BOOLEAN'], `CAST(${call.args[0]} AS BOOLEAN)`),
  int64: (call) => strict(call, ['BIGINT', 'UBIGINT', 'DOUBLE'], wholeOf(call)),
  float64: (call) =>
    strict(call, ['BIGINT', 'UBIGINT', 'DOUBLE'], `CAST(${call.args[0]} AS DOUBLE)`),
  lax_string: ({ args }) => {
    const json = args[0];
    return `CASE WHEN json_type(${json}) IN ('OBJECT', 'ARRAY', 'NULL') THEN NULL ELSE json_extract_string(${json}, '$') END`;
  },
  lax_int64: (call) =>
    `CASE json_extract_string(${call.args[0]}, '$') WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE TRY_CAST(round(TRY_CAST(json_extract_string(${call.args[0]}, '$') AS DECIMAL(38,9))) AS BIGINT) END`,
  lax_float64: (call) => `TRY_CAST(json_extract_string(${call.args[0]}, '$') AS DOUBLE)`,
  lax_bool: (call) => `TRY_CAST(json_extract_string(${call.args[0]}, '$') AS BOOLEAN)`,
};

/** The steps of the constant JSONPath of a call. */
function pathOf(call: Call): PathStep[] {
  const node = call.nodes[1];
  if (node === undefined) return [];
  const text = constantText(node);
  if (text === undefined) {
    throw notDone(`${call.name.toUpperCase()} with a path that is no constant`);
  }
  const isOld = call.name.startsWith('json_extract');
  let rest = text.replace(/^\s*\$/, '');
  if (rest === text) throw invalidQuery(`Invalid JSONPath: ${text}`);
  const steps: PathStep[] = [];
  while (rest !== '') {
    const step = /^\.([\w-]+|"(?:[^"\\]|\\.)*")|^\[(\d+)\]|^\['((?:[^'\\]|\\.)*)'\]/.exec(rest);
    const [whole = '', name, place, key] = step ?? [];
    const isQuoted = name?.startsWith('"') ?? false;
    // The old functions quote names in brackets, the new ones after a dot.
    if (step === null || (isQuoted && isOld) || (key !== undefined && !isOld)) {
      throw invalidQuery(`Unsupported operator in JSONPath: ${text}`);
    }
    if (place !== undefined) steps.push(Number(place));
    else steps.push(isQuoted ? String(JSON.parse(name ?? '""')) : (key ?? name ?? ''));
    rest = rest.slice(whole.length);
  }
  return steps;
}

/** The path as DuckDB writes it. */
const nativePath = (steps: readonly PathStep[]): string =>
  textLiteral(
    steps.reduce<string>(
      (path, step) => path + (typeof step === 'number' ? `[${step}]` : `.${JSON.stringify(step)}`),
      '$',
    ),
  );

/** The path as the store's own functions take it. */
const ownPath = (steps: readonly PathStep[]): string => textLiteral(JSON.stringify(steps));

const isJson = (call: Call): boolean => call.types[0]?.kind === 'JSON';

/** Text that is no JSON gives NULL; JSON itself is always sound. */
const guarded = (call: Call, sql: string): string =>
  isJson(call) ? sql : `CASE WHEN json_valid(${call.args[0]}) THEN ${sql} END`;

/** A number of a text comes out as it was written; DuckDB would write it anew. */
function scalar(call: Call): string {
  const [json, steps] = [call.args[0], pathOf(call)];
  const path = nativePath(steps);
  const number = `WHEN 'DOUBLE' THEN bq_json_at(${json}, ${ownPath(steps)})`;
  const nothing = `WHEN 'OBJECT' THEN NULL WHEN 'ARRAY' THEN NULL WHEN 'NULL' THEN NULL`;
  return guarded(
    call,
    `CASE json_type(${json}, ${path}) ${nothing} ${number} ELSE json_extract_string(${json}, ${path}) END`,
  );
}

function query(call: Call): string {
  const at = `bq_json_at(${call.args[0]}, ${ownPath(pathOf(call))})`;
  return isJson(call) ? at : `nullif(${at}, 'null')`;
}

function array(call: Call): string {
  const elements = `bq_json_elements(${call.args[0]}, ${ownPath(pathOf(call))})`;
  return `from_json(${elements}, '["VARCHAR"]')`;
}

/** NULL when one element is no scalar. */
function values(call: Call): string {
  const [json, path] = [call.args[0], nativePath(pathOf(call))];
  const items = path.replace(/'$/, "[*]'");
  const types = `json_type(${json}, ${items})`;
  return guarded(
    call,
    `CASE WHEN json_type(${json}, ${path}) = 'ARRAY' AND NOT list_has_any(${types}, ['OBJECT', 'ARRAY']) THEN json_extract_string(${json}, ${items}) END`,
  );
}

function strict(call: Call, types: readonly string[], sql: string): string {
  if (call.types[0]?.kind !== 'JSON') return converted(call);
  const json = call.args[0];
  const kinds = types.map((type) => `'${type}'`).join(', ');
  const bad = failure(
    call,
    `The provided JSON input is not ${call.name === 'int64' ? 'an integer' : `a ${call.name}`}`,
  );
  return `CASE WHEN ${json} IS NULL THEN NULL WHEN json_type(${json}) IN (${kinds}) THEN ${sql} ELSE ${bad} END`;
}

/** 1.0 is a whole number, 1.5 is none. */
function wholeOf(call: Call): string {
  const number = `CAST(${call.args[0]} AS DOUBLE)`;
  const bad = failure(call, 'The provided JSON number cannot be converted to an integer');
  return `CASE WHEN json_type(${call.args[0]}) <> 'DOUBLE' OR ${number} = trunc(${number}) THEN CAST(trunc(CAST(${call.args[0]} AS DECIMAL(38,9))) AS BIGINT) ELSE ${bad} END`;
}

/** STRING(timestamp) and the like share their name with the functions of JSON. */
function converted(call: Call): string {
  const type = call.types[0];
  if (call.name !== 'string' || type === undefined || call.args.length > 1) {
    throw notDone(`the function ${call.name.toUpperCase()} of such arguments`);
  }
  if (type.kind === 'ARRAY' || type.kind === 'STRUCT') throw notDone('STRING of such a value');
  return asText(call.args[0] ?? 'NULL', type.kind);
}

const typeName = (sql: string): string =>
  `CASE ${sql} WHEN 'VARCHAR' THEN 'string' WHEN 'OBJECT' THEN 'object' WHEN 'ARRAY' THEN 'array' WHEN 'BOOLEAN' THEN 'boolean' WHEN 'NULL' THEN 'null' WHEN NULL THEN NULL ELSE CASE WHEN ${sql} IS NOT NULL THEN 'number' END END`;

/** TO_JSON_STRING writes a number that a double may not hold as text. */
function exact(sql: string, kind: 'NUMERIC' | 'INT64'): string {
  const text = asText(sql, kind);
  const isSafe = `${sql} = trunc(${sql}) AND abs(${sql}) <= 9007199254740992`;
  return `CASE WHEN ${isSafe} THEN CAST(${text} AS JSON) ELSE to_json(${text}) END`;
}

/** Keys of JSON are sorted; only structures bring unsorted ones. */
const sorted = (sql: string, type: BqType | undefined): string =>
  type?.kind === 'STRUCT' || type?.kind === 'ARRAY' ? `bq_json(${sql})` : sql;

/** A value as DuckDB's JSON, written as BigQuery writes it: NUMERIC as a number, times as text. */
function jsonOf(sql: string, type: BqType | undefined, asString: boolean): string {
  if (type === undefined) throw notDone('TO_JSON of such a value');
  switch (type.kind) {
    case 'JSON':
      return `CAST(${sql} AS JSON)`;
    case 'TIMESTAMP':
      return `to_json(replace(replace(${asText(sql, 'TIMESTAMP')}, ' ', 'T'), '+00', 'Z'))`;
    case 'DATETIME':
      return `to_json(replace(${asText(sql, 'DATETIME')}, ' ', 'T'))`;
    case 'NUMERIC':
      return asString ? exact(sql, type.kind) : `CAST(${asText(sql, 'NUMERIC')} AS JSON)`;
    case 'INT64':
      return asString ? exact(sql, type.kind) : `to_json(${sql})`;
    case 'BYTES':
      return `to_json(to_base64(${sql}))`;
    case 'FLOAT64':
      return `CASE WHEN isfinite(${sql}) THEN CAST(${asText(sql, 'FLOAT64')} AS JSON) ELSE to_json(CAST(${sql} AS VARCHAR)) END`;
    case 'ARRAY':
      return `to_json(list_transform(${sql}, lambda e: ${jsonOf('e', type.element, asString)}))`;
    case 'STRUCT': {
      const parts = type.fields.map(
        ({ name, type }, index) =>
          `${textLiteral(name)}, coalesce(${jsonOf(`struct_extract(${sql}, 'f${index + 1}')`, type, asString)}, CAST('null' AS JSON))`,
      );
      return `CASE WHEN ${sql} IS NOT NULL THEN json_object(${parts.join(', ')}) END`;
    }
    case 'BOOL':
    case 'DATE':
    case 'INTERVAL':
    case 'STRING':
    case 'TIME':
      return `to_json(CAST(${sql} AS ${duckType(type)}))`;
  }
}
