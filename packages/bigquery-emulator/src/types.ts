import { invalid, notDone } from './api-error.ts';
import { isRaw, objectAt, objectsAt, textAt, type Raw } from './json-object.ts';

/** A type that is neither a list nor a structure. */
export type ScalarKind = 'STRING' | 'INT64' | 'FLOAT64' | 'BOOL' | 'TIMESTAMP';

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

/** A scalar outside of the database: text in BigQuery's format, a time in microseconds since the epoch. */
export type BqValue = string | null;

/** The DuckDB type that stores a scalar. TIMESTAMP is UTC without a zone. */
const DUCKDB: Readonly<Record<ScalarKind, string>> = {
  STRING: 'VARCHAR',
  INT64: 'BIGINT',
  FLOAT64: 'DOUBLE',
  BOOL: 'BOOLEAN',
  TIMESTAMP: 'TIMESTAMP',
};

/**
 * DuckDB's name for the type; fields of structures are `f1`, `f2` …, because in BigQuery they may lack a name or share
 * one.
 */
export function duckType(type: BqType): string {
  if (type.kind === 'ARRAY') return `${duckType(type.element)}[]`;
  if (type.kind !== 'STRUCT') return DUCKDB[type.kind];
  const fields = type.fields.map((field, index) => `f${index + 1} ${duckType(field.type)}`);
  return `STRUCT(${fields.join(', ')})`;
}

const PROTO_KINDS: Readonly<Record<string, ScalarKind>> = {
  TYPE_STRING: 'STRING',
  TYPE_INT64: 'INT64',
  TYPE_DOUBLE: 'FLOAT64',
  TYPE_BOOL: 'BOOL',
  TYPE_TIMESTAMP: 'TIMESTAMP',
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

/** To the analyzer's form of the type of a column or parameter. */
export function toProto(type: BqType): Raw {
  if (type.kind === 'ARRAY') {
    return { typeKind: 'TYPE_ARRAY', arrayType: { elementType: toProto(type.element) } };
  }
  const kind = Object.entries(PROTO_KINDS).find(([, scalar]) => scalar === type.kind)?.[0];
  if (kind === undefined) throw new Error(`No type of the analyzer for ${type.kind}.`);
  return { typeKind: kind };
}

const REST_NAMES: Readonly<Record<string, ScalarKind>> = {
  STRING: 'STRING',
  INTEGER: 'INT64',
  INT64: 'INT64',
  FLOAT: 'FLOAT64',
  FLOAT64: 'FLOAT64',
  BOOLEAN: 'BOOL',
  BOOL: 'BOOL',
  TIMESTAMP: 'TIMESTAMP',
};

/** A scalar by the name that the REST interface has for it, in old or new spelling. */
export function scalarOf(name: string): ScalarKind {
  const kind = REST_NAMES[name.toUpperCase()];
  if (kind === undefined) throw notDone(`the type ${name}`);
  return kind;
}

/** The name of a type in schemas of the REST interface: the old spelling. */
export function restName({ kind }: BqType): string {
  if (kind === 'INT64') return 'INTEGER';
  if (kind === 'FLOAT64') return 'FLOAT';
  return kind === 'BOOL' ? 'BOOLEAN' : kind;
}

/** From the type of a query parameter: a scalar, or a list of texts. */
export function fromParameterType(raw: Raw): BqType {
  const name = textAt(raw, 'type') ?? '';
  if (name === '') throw invalid('Query parameter has no type');
  if (name.toUpperCase() !== 'ARRAY') return { kind: scalarOf(name) };
  const element = objectAt(raw, 'arrayType');
  if (element === undefined) throw invalid('Array parameter has no element type');
  return { kind: 'ARRAY', element: { kind: scalarOf(textAt(element, 'type') ?? '') } };
}
