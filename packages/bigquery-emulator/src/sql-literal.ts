import { notDone } from './api-error.ts';
import { textLiteral } from './emit.ts';
import { isRaw, objectAt, objectsAt, textAt, type Raw } from './json-object.ts';
import { duckType, type BqType } from './types.ts';

const MICROS = 1_000_000n;

/** A constant of the resolved statement, as DuckDB writes it. */
export function literalSql(value: unknown, type: BqType): string {
  const raw = isRaw(value) ? value : {};
  if (Object.keys(raw).length === 0) return `CAST(NULL AS ${duckType(type)})`;
  return valueSql(raw, type);
}

function valueSql(raw: Raw, type: BqType): string {
  switch (type.kind) {
    case 'STRING':
      return textLiteral(textAt(raw, 'stringValue') ?? '');
    case 'INT64':
      return `CAST(${textAt(raw, 'int64Value') ?? '0'} AS BIGINT)`;
    case 'BOOL':
      return raw['boolValue'] === true ? 'TRUE' : 'FALSE';
    case 'FLOAT64':
      return `CAST('${floatText(raw['doubleValue'])}' AS DOUBLE)`;
    case 'TIMESTAMP': {
      const at = objectAt(raw, 'timestampValue') ?? {};
      const micros =
        BigInt(textAt(at, 'seconds') ?? '0') * MICROS + BigInt(Number(at['nanos'] ?? 0)) / 1_000n;
      return `make_timestamp(CAST(${micros} AS BIGINT))`;
    }
    case 'ARRAY': {
      const elements = objectsAt(objectAt(raw, 'arrayValue') ?? {}, 'element');
      const { element } = type;
      const items = elements.map((item) => literalSql(item, element));
      return `CAST([${items.join(', ')}] AS ${duckType(type)})`;
    }
    case 'STRUCT':
      throw notDone('constants of STRUCT');
  }
}

function floatText(value: unknown): string {
  const number = Number(value ?? 0);
  if (Number.isNaN(number)) return 'nan';
  if (number === Infinity) return 'inf';
  return number === -Infinity ? '-inf' : String(number);
}
