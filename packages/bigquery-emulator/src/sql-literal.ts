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
    case 'JSON':
      return textLiteral(textAt(raw, 'jsonValue') ?? 'null');
    case 'BYTES':
      return `from_hex('${bytesOf(raw['bytesValue']).toString('hex')}')`;
    case 'INT64':
      return `CAST(${textAt(raw, 'int64Value') ?? '0'} AS BIGINT)`;
    case 'BOOL':
      return raw['boolValue'] === true ? 'TRUE' : 'FALSE';
    case 'FLOAT64':
      return `CAST('${floatText(raw['doubleValue'])}' AS DOUBLE)`;
    case 'NUMERIC':
      return `CAST('${numericText(bytesOf(raw['numericValue']))}' AS DECIMAL(38,9))`;
    case 'DATE':
      return `(DATE '1970-01-01' + CAST(${Number(raw['dateValue'] ?? 0)} AS INTEGER))`;
    case 'TIMESTAMP': {
      const at = objectAt(raw, 'timestampValue') ?? {};
      const micros =
        BigInt(textAt(at, 'seconds') ?? '0') * MICROS + BigInt(Number(at['nanos'] ?? 0)) / 1_000n;
      return `make_timestamp(CAST(${micros} AS BIGINT))`;
    }
    case 'DATETIME': {
      const at = objectAt(raw, 'datetimeValue') ?? {};
      return `CAST('${datetimeText(at)}' AS TIMESTAMP)`;
    }
    case 'TIME':
      return `CAST('${timeText(BigInt(textAt(raw, 'timeValue') ?? '0'))}' AS TIME)`;
    case 'ARRAY': {
      const elements = objectsAt(objectAt(raw, 'arrayValue') ?? {}, 'element');
      const { element } = type;
      const items = elements.map((item) => literalSql(item, element));
      return `CAST([${items.join(', ')}] AS ${duckType(type)})`;
    }
    case 'STRUCT': {
      const fields = objectsAt(objectAt(raw, 'structValue') ?? {}, 'field');
      const items = type.fields.map(
        (field, index) => `f${index + 1} := ${literalSql(fields[index], field.type)}`,
      );
      return `struct_pack(${items.join(', ')})`;
    }
    case 'INTERVAL':
      return intervalSql(bytesOf(raw['intervalValue']));
    default:
      throw notDone('such a constant');
  }
}

function bytesOf(value: unknown): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value);
  return Buffer.from(typeof value === 'string' ? value : '', 'base64');
}

function floatText(value: unknown): string {
  const number = Number(value ?? 0);
  if (Number.isNaN(number)) return 'nan';
  if (number === Infinity) return 'inf';
  return number === -Infinity ? '-inf' : String(number);
}

/** NUMERIC comes as a whole number of billionths, little end first, in two's complement. */
export function numericText(bytes: Buffer): string {
  let whole = 0n;
  for (let index = bytes.length - 1; index >= 0; index--) {
    whole = (whole << 8n) | BigInt(bytes[index] ?? 0);
  }
  if (bytes.length > 0 && ((bytes.at(-1) ?? 0) & 0x80) !== 0)
    whole -= 1n << BigInt(bytes.length * 8);
  const sign = whole < 0n ? '-' : '';
  const digits = (whole < 0n ? -whole : whole).toString().padStart(10, '0');
  const fraction = digits.slice(-9).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -9)}${fraction === '' ? '' : `.${fraction}`}`;
}

const two = (number: bigint | number): string => String(number).padStart(2, '0');

/** Year, month, day, hour, minute and second are packed into bits: 14, 4, 5, 5, 6, 6. */
function datetimeText(raw: Raw): string {
  const bits = BigInt(textAt(raw, 'bitFieldDatetimeSeconds') ?? '0');
  const [second, minute, hour] = [bits & 63n, (bits >> 6n) & 63n, (bits >> 12n) & 31n];
  const [day, month, year] = [(bits >> 17n) & 31n, (bits >> 22n) & 15n, bits >> 26n];
  const micros = Math.floor(Number(raw['nanos'] ?? 0) / 1_000);
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
  return `${date} ${two(hour)}:${two(minute)}:${two(second)}.${String(micros).padStart(6, '0')}`;
}

/** Hour, minute, second and nanoseconds are packed into bits: 5, 6, 6, 30. */
function timeText(bits: bigint): string {
  const nanos = bits & ((1n << 30n) - 1n);
  const [second, minute, hour] = [(bits >> 30n) & 63n, (bits >> 36n) & 63n, (bits >> 42n) & 31n];
  return `${two(hour)}:${two(minute)}:${two(second)}.${String(nanos / 1_000n).padStart(6, '0')}`;
}

/** Microseconds, days and months with sixteen bytes: 64, 32 and 32 bits. */
function intervalSql(bytes: Buffer): string {
  const micros = bytes.readBigInt64LE(0);
  const days = bytes.readInt32LE(8);
  const packed = bytes.readUInt32LE(12);
  const months = (packed >> 13) & 0x3ffff;
  const sign = (packed & 0x8000_0000) !== 0 ? -1 : 1;
  return `(to_months(${sign * months}) + to_days(${days}) + to_microseconds(CAST(${micros} AS BIGINT)))`;
}
