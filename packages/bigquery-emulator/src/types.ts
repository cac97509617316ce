import { invalid, notDone } from './api-error.ts';
import { isRaw, objectAt, objectsAt, textAt, type Raw } from './json-object.ts';

/** A type that is no list and no structure. */
export type ScalarKind =
  | 'STRING'
  | 'BYTES'
  | 'INT64'
  | 'FLOAT64'
  | 'NUMERIC'
  | 'BOOL'
  | 'TIMESTAMP'
  | 'DATETIME'
  | 'DATE'
  | 'TIME'
  | 'JSON'
  | 'INTERVAL';

/** A BigQuery type. */
export type BqType =
  | { readonly kind: ScalarKind }
  | { readonly kind: 'ARRAY'; readonly element: BqType }
  | { readonly kind: 'STRUCT'; readonly fields: readonly BqField[] };

/** A field of a structure; its name may be empty. */
export interface BqField {
  readonly name: string;
  readonly type: BqType;
}

/** A value outside of the database: text as BigQuery writes it; a structure by position. */
export type BqValue = string | null | readonly BqValue[];

/** In which type of DuckDB a scalar is held. JSON is canonical text; TIMESTAMP is UTC without a zone. */
const DUCKDB: Readonly<Record<ScalarKind, string>> = {
  STRING: 'VARCHAR',
  BYTES: 'BLOB',
  INT64: 'BIGINT',
  FLOAT64: 'DOUBLE',
  NUMERIC: 'DECIMAL(38,9)',
  BOOL: 'BOOLEAN',
  TIMESTAMP: 'TIMESTAMP',
  DATETIME: 'TIMESTAMP',
  DATE: 'DATE',
  TIME: 'TIME',
  JSON: 'VARCHAR',
  INTERVAL: 'INTERVAL',
};

/** How DuckDB names the type; fields of structures are `f1`, `f2` …: in BigQuery they may lack a name or share one. */
export function duckType(type: BqType): string {
  if (type.kind === 'ARRAY') return `${duckType(type.element)}[]`;
  if (type.kind !== 'STRUCT') return DUCKDB[type.kind];
  const fields = type.fields.map((field, index) => `f${index + 1} ${duckType(field.type)}`);
  return `STRUCT(${fields.join(', ')})`;
}

/** How BigQuery's messages and INFORMATION_SCHEMA name the type. */
export function sqlName(type: BqType): string {
  if (type.kind === 'ARRAY') return `ARRAY<${sqlName(type.element)}>`;
  if (type.kind !== 'STRUCT') return type.kind;
  const fields = type.fields.map(({ name, type }) => `${name} ${sqlName(type)}`.trim());
  return `STRUCT<${fields.join(', ')}>`;
}

const PROTO_KINDS: Readonly<Record<string, ScalarKind>> = {
  TYPE_STRING: 'STRING',
  TYPE_BYTES: 'BYTES',
  TYPE_INT64: 'INT64',
  TYPE_DOUBLE: 'FLOAT64',
  TYPE_NUMERIC: 'NUMERIC',
  TYPE_BOOL: 'BOOL',
  TYPE_TIMESTAMP: 'TIMESTAMP',
  TYPE_DATETIME: 'DATETIME',
  TYPE_DATE: 'DATE',
  TYPE_TIME: 'TIME',
  TYPE_JSON: 'JSON',
  TYPE_INTERVAL: 'INTERVAL',
};

/** From the analyzer's form of a type. */
export function fromProto(proto: unknown): BqType {
  if (!isRaw(proto)) throw new Error('The analyzer gave no type.');
  const kind = textAt(proto, 'typeKind') ?? '';
  const scalar = PROTO_KINDS[kind];
  if (scalar !== undefined) return { kind: scalar };
  if (kind === 'TYPE_ARRAY') {
    return { kind: 'ARRAY', element: fromProto(objectAt(proto, 'arrayType')?.['elementType']) };
  }
  if (kind === 'TYPE_STRUCT') {
    const fields = objectsAt(objectAt(proto, 'structType') ?? {}, 'field').map((field) => ({
      name: textAt(field, 'fieldName') ?? '',
      type: fromProto(field['fieldType']),
    }));
    return { kind: 'STRUCT', fields };
  }
  throw notDone(`the type ${kind.replace(/^TYPE_/, '')}`);
}

/** To the analyzer's form of a type. */
export function toProto(type: BqType): Raw {
  if (type.kind === 'ARRAY') {
    return { typeKind: 'TYPE_ARRAY', arrayType: { elementType: toProto(type.element) } };
  }
  if (type.kind === 'STRUCT') {
    const field = type.fields.map(({ name, type }) => ({
      fieldName: name,
      fieldType: toProto(type),
    }));
    return { typeKind: 'TYPE_STRUCT', structType: { field } };
  }
  const kind = Object.entries(PROTO_KINDS).find(([, scalar]) => scalar === type.kind)?.[0];
  if (kind === undefined) throw new Error(`No type of the analyzer for ${type.kind}.`);
  return { typeKind: kind };
}

const REST_NAMES: Readonly<Record<string, ScalarKind>> = {
  STRING: 'STRING',
  BYTES: 'BYTES',
  INTEGER: 'INT64',
  INT64: 'INT64',
  FLOAT: 'FLOAT64',
  FLOAT64: 'FLOAT64',
  NUMERIC: 'NUMERIC',
  BOOLEAN: 'BOOL',
  BOOL: 'BOOL',
  TIMESTAMP: 'TIMESTAMP',
  DATETIME: 'DATETIME',
  DATE: 'DATE',
  TIME: 'TIME',
  JSON: 'JSON',
};

/** A scalar by the name that the REST interface has for it, in old or new spelling. */
export function scalarOf(name: string): ScalarKind {
  const kind = REST_NAMES[name.toUpperCase()];
  if (kind !== undefined) return kind;
  if (/^(BIGNUMERIC|BIGDECIMAL|GEOGRAPHY|RANGE|INTERVAL)$/i.test(name)) {
    throw notDone(`the type ${name}`);
  }
  throw invalid(`Invalid value for type: ${name} is not a valid value`);
}

/** The name of a scalar in schemas of the REST interface: the old spelling. */
export function restName(kind: ScalarKind): string {
  if (kind === 'INT64') return 'INTEGER';
  if (kind === 'FLOAT64') return 'FLOAT';
  return kind === 'BOOL' ? 'BOOLEAN' : kind;
}

/** From the type of a query parameter. */
export function fromParameterType(raw: Raw): BqType {
  const name = (textAt(raw, 'type') ?? '').toUpperCase();
  if (name === 'ARRAY') {
    const element = objectAt(raw, 'arrayType');
    if (element === undefined) throw invalid('Array parameter has no element type');
    return { kind: 'ARRAY', element: fromParameterType(element) };
  }
  if (name === 'STRUCT' || name === 'RECORD') {
    const fields = objectsAt(raw, 'structTypes').map((field) => ({
      name: textAt(field, 'name') ?? '',
      type: fromParameterType(objectAt(field, 'type') ?? {}),
    }));
    return { kind: 'STRUCT', fields };
  }
  if (name === '') throw invalid('Query parameter has no type');
  return { kind: scalarOf(name) };
}

/** True when both are the same type, names of fields included. */
export const sameType = (a: BqType, b: BqType): boolean => sqlName(a) === sqlName(b);
