import { isRaw } from './json-object.ts';
import { asText } from './sql-cast.ts';
import type { BqType, BqValue } from './types.ts';

/** The value of an expression as DuckDB hands it out: text for every scalar, lists, structures as lists. */
export function outputSql(sql: string, type: BqType): string {
  switch (type.kind) {
    case 'STRING':
    case 'JSON':
      return sql;
    case 'TIMESTAMP':
      return `CAST(epoch_us(${sql}) AS VARCHAR)`;
    case 'DATETIME':
      return `replace(${asText(sql, 'DATETIME')}, ' ', 'T')`;
    case 'BYTES':
      return `to_base64(${sql})`;
    case 'NUMERIC':
      return asText(sql, 'NUMERIC');
    case 'ARRAY': {
      const element = outputSql('e', type.element);
      return `list_transform(${sql}, lambda e: ${element})`;
    }
    case 'STRUCT': {
      const parts = type.fields.map(
        (field, index) =>
          `f${index + 1} := ${outputSql(`struct_extract(${sql}, 'f${index + 1}')`, field.type)}`,
      );
      return `CASE WHEN ${sql} IS NOT NULL THEN struct_pack(${parts.join(', ')}) END`;
    }
    case 'FLOAT64':
      return `CASE CAST(${sql} AS VARCHAR) WHEN 'nan' THEN 'NaN' WHEN 'inf' THEN 'Infinity' WHEN '-inf' THEN '-Infinity' ELSE CAST(${sql} AS VARCHAR) END`;
    case 'BOOL':
    case 'DATE':
    case 'INT64':
    case 'INTERVAL':
    case 'TIME':
      return `CAST(${sql} AS VARCHAR)`;
    default:
      return type satisfies never;
  }
}

/** What DuckDB handed out, as a plain value. A time is microseconds since the epoch, as text. */
export function valueOf(raw: unknown): BqValue {
  if (raw === null || raw === undefined) return null;
  if (typeof raw === 'string') return raw;
  if (isRaw(raw) && Array.isArray(raw['items'])) return raw['items'].map(valueOf);
  if (isRaw(raw) && isRaw(raw['entries'])) return Object.values(raw['entries']).map(valueOf);
  throw new Error('The store handed out a value that is neither text nor a list.');
}

/** A cell of the REST interface: `{v}` in a row's `f`. */
export function cellOf(value: BqValue, type: BqType, microsAsWhole: boolean): { v: unknown } {
  return { v: wireOf(value, type, microsAsWhole) };
}

function wireOf(value: BqValue, type: BqType, microsAsWhole: boolean): unknown {
  if (type.kind === 'ARRAY') {
    const items = Array.isArray(value) ? value : [];
    return items.map((item: BqValue) => cellOf(item, type.element, microsAsWhole));
  }
  if (value === null) return null;
  if (type.kind === 'STRUCT') {
    const parts = Array.isArray(value) ? value : [];
    return {
      f: type.fields.map((field, index) => cellOf(parts[index] ?? null, field.type, microsAsWhole)),
    };
  }
  if (type.kind === 'TIMESTAMP' && typeof value === 'string' && !microsAsWhole) {
    return secondsText(BigInt(value));
  }
  return value;
}

/** Seconds with their fraction, in the notation that the service uses: `1.7E9`. */
export function secondsText(micros: bigint): string {
  if (micros === 0n) return '0.0';
  const sign = micros < 0n ? '-' : '';
  const digits = String(micros < 0n ? -micros : micros);
  const exponent = digits.length - 7;
  if (exponent < 0) return `${sign}0.${digits.padStart(6, '0').replace(/0+$/, '')}`;
  const fraction = digits.slice(1).replace(/0+$/, '') || '0';
  return `${sign}${digits[0]}.${fraction}E${exponent}`;
}

/** A moment in microseconds as text that a cast to TIMESTAMP takes. */
export function momentText(micros: bigint): string {
  const millis = Number(micros / 1_000n) - (micros % 1_000n < 0n ? 1 : 0);
  const rest = ((micros % 1_000n) + 1_000n) % 1_000n;
  const iso = new Date(millis).toISOString().replace('T', ' ').replace('Z', '');
  return `${iso}${String(rest).padStart(3, '0')}`;
}

/** The text that binds a value to a placeholder of its type. */
export function bindingOf(value: BqValue, type: BqType): string | null {
  if (value === null) return null;
  if (type.kind === 'ARRAY' || type.kind === 'STRUCT') return JSON.stringify(nested(value, type));
  if (typeof value !== 'string') throw new Error('A scalar was bound to a list.');
  return type.kind === 'TIMESTAMP' ? momentText(BigInt(value)) : value;
}

function nested(value: BqValue, type: BqType): unknown {
  if (value === null) return null;
  if (type.kind === 'ARRAY') {
    return Array.isArray(value) ? value.map((item: BqValue) => nested(item, type.element)) : null;
  }
  if (type.kind === 'STRUCT') {
    const parts = Array.isArray(value) ? value : [];
    return Object.fromEntries(
      type.fields.map((field, index) => [
        `f${index + 1}`,
        nested(parts[index] ?? null, field.type),
      ]),
    );
  }
  return bindingOf(value, type);
}
