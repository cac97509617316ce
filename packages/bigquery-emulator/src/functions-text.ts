import { notDone } from './api-error.ts';
import { textLiteral } from './emit.ts';
import { once } from './sql-cast.ts';
import { constantText, failure, type Call, type Writer } from './function-call.ts';

/** Functions of text and bytes. */
export const TEXT_FUNCTIONS: Readonly<Record<string, Writer>> = {
  // NULL in, NULL out: DuckDB's concat() would skip it.
  concat: ({ args }) => `(${args.join(' || ')})`,
  $concat_op: ({ args }) => `(${args.join(' || ')})`,
  // DuckDB maps one character to one: ß has no capital of its own.
  lower: ({ args }) =>
    once(args[0] ?? '', 'CASE WHEN strlen(x) = length(x) THEN lower(x) ELSE bq_lower(x) END'),
  upper: ({ args }) =>
    once(args[0] ?? '', 'CASE WHEN strlen(x) = length(x) THEN upper(x) ELSE bq_upper(x) END'),
  trim: trimmed('trim'),
  ltrim: trimmed('ltrim'),
  rtrim: trimmed('rtrim'),
  length: (call) => (isBytes(call) ? `octet_length(${call.args[0]})` : `length(${call.args[0]})`),
  char_length: ({ args }) => `length(${args[0]})`,
  byte_length: (call) =>
    isBytes(call) ? `octet_length(${call.args[0]})` : `strlen(${call.args[0]})`,
  octet_length: (call) =>
    isBytes(call) ? `octet_length(${call.args[0]})` : `strlen(${call.args[0]})`,
  starts_with: ({ args }) => `starts_with(${args[0]}, ${args[1]})`,
  ends_with: ({ args }) => `ends_with(${args[0]}, ${args[1]})`,
  strpos: ({ args }) => `CAST(strpos(${args[0]}, ${args[1]}) AS BIGINT)`,
  replace: ({ args }) =>
    `CASE WHEN ${args[1]} = '' THEN ${args[0]} ELSE replace(${args.join(', ')}) END`,
  reverse: ({ args }) => `reverse(${args[0]})`,
  repeat: ({ args }) => `repeat(${args.join(', ')})`,
  left: ({ args }) => `left(${args.join(', ')})`,
  right: ({ args }) => `right(${args.join(', ')})`,
  lpad: ({ args }) => `lpad(${args[0]}, CAST(${args[1]} AS INTEGER), ${args[2] ?? "' '"})`,
  rpad: ({ args }) => `rpad(${args[0]}, CAST(${args[1]} AS INTEGER), ${args[2] ?? "' '"})`,
  substr: substring,
  substring,
  split: ({ args, types }) => {
    if (types[0]?.kind !== 'STRING') throw notDone('SPLIT of bytes');
    return `string_split(${args[0]}, ${args[1] ?? "','"})`;
  },
  unicode: ({ args }) =>
    `CAST(CASE WHEN ${args[0]} = '' THEN 0 ELSE unicode(${args[0]}) END AS BIGINT)`,
  chr: ({ args }) => `chr(CAST(${args[0]} AS INTEGER))`,
  ascii: ({ args }) =>
    `CAST(CASE WHEN ${args[0]} = '' THEN 0 ELSE ascii(${args[0]}) END AS BIGINT)`,
  to_code_points: ({ args }) =>
    `list_transform(regexp_extract_all(${args[0]}, '(?s).'), lambda e: CAST(unicode(e) AS BIGINT))`,
  code_points_to_string: ({ args }) =>
    `array_to_string(list_transform(${args[0]}, lambda e: chr(CAST(e AS INTEGER))), '')`,
  contains_substr: () => {
    throw notDone('the function CONTAINS_SUBSTR');
  },
  regexp_contains: ({ args }) => `regexp_matches(${args[0]}, ${args[1]})`,
  regexp_extract: (call) => {
    if (call.args.length > 2) throw notDone('REGEXP_EXTRACT from a position');
    const group = groupOf(call);
    const [text, pattern] = call.args;
    return `CASE WHEN regexp_matches(${text}, ${pattern}) THEN regexp_extract(${text}, ${pattern}, ${group}) END`;
  },
  regexp_extract_all: (call) =>
    `regexp_extract_all(${call.args[0]}, ${call.args[1]}, ${groupOf(call)})`,
  regexp_replace: ({ args }) => `regexp_replace(${args[0]}, ${args[1]}, ${args[2]}, 'g')`,
  to_hex: ({ args }) => `lower(hex(${args[0]}))`,
  from_hex: ({ args }) => `from_hex(${args[0]})`,
  to_base64: ({ args }) => `to_base64(${args[0]})`,
  from_base64: ({ args }) => `from_base64(${args[0]})`,
  sha256: ({ args }) => `from_hex(sha256(${args[0]}))`,
  sha1: ({ args }) => `from_hex(sha1(${args[0]}))`,
  md5: ({ args }) => `from_hex(md5(${args[0]}))`,
  safe_convert_bytes_to_string: ({ args }) => `TRY(decode(${args[0]}))`,
  format: (call) => formatted(call),
};

const isBytes = (call: Call): boolean => call.types[0]?.kind === 'BYTES';

function trimmed(name: string): Writer {
  return (call) => {
    if (isBytes(call)) throw notDone(`${name.toUpperCase()} of bytes`);
    if (call.args.length === 2) return `${name}(${call.args.join(', ')})`;
    // Without a second argument BigQuery takes away white space of every kind.
    const [text = 'NULL'] = call.args;
    const left = name === 'rtrim' ? text : `regexp_replace(${text}, '^[\\s\\p{Z}]+', '')`;
    return name === 'ltrim' ? left : `regexp_replace(${left}, '[\\s\\p{Z}]+$', '')`;
  };
}

/** BigQuery counts from 1, takes 0 for 1, and a place before the start for the start. */
function substring(call: Call): string {
  const [text, place, length] = call.args;
  if (isBytes(call)) throw notDone('SUBSTR of bytes');
  const from = `CASE WHEN ${place} = 0 THEN 1 WHEN ${place} < -length(${text}) THEN 1 ELSE ${place} END`;
  if (length === undefined) return `substring(${text}, ${from})`;
  const bad = failure(call, 'Third argument in SUBSTR() cannot be negative');
  return `CASE WHEN ${length} < 0 THEN ${bad} ELSE substring(${text}, ${from}, ${length}) END`;
}

/** 1 when the pattern has a group, 0 when it has none; two are refused as BigQuery refuses them. */
function groupOf(call: Call): number {
  const pattern = constantText(call.nodes[1]);
  if (pattern === undefined)
    throw notDone(`${call.name.toUpperCase()} with a pattern that is no constant`);
  if (/\)[?*{]|\|/.test(pattern)) {
    // DuckDB gives an empty text for a group that took no part, BigQuery NULL.
    throw notDone(`${call.name.toUpperCase()} with a pattern that has optional parts`);
  }
  const groups = pattern
    .replaceAll(/\\./gs, '')
    .replaceAll(/\[\^?\]?[^\]]*\]/g, '')
    .match(/\((?!\?)|\(\?P?</g);
  return Math.min(1, groups?.length ?? 0);
}

/** FORMAT with a constant pattern of `%s`, `%d` and `%%`. */
function formatted(call: Call): string {
  const pattern = constantText(call.nodes[0]);
  if (pattern === undefined) throw notDone('FORMAT with a pattern that is no constant');
  const parts: string[] = [];
  let argument = 1;
  for (const piece of pattern.split(/(%[a-zA-Z%])/)) {
    if (piece === '%%') parts.push(textLiteral('%'));
    else if (piece === '%s' || piece === '%d' || piece === '%t') {
      const type = call.types[argument]?.kind;
      if (type !== 'STRING' && type !== 'INT64') throw notDone(`FORMAT of ${type}`);
      parts.push(`CAST(${call.args[argument]} AS VARCHAR)`);
      argument++;
    } else if (piece.includes('%')) throw notDone(`FORMAT with ${piece}`);
    else if (piece !== '') parts.push(textLiteral(piece));
  }
  return parts.length === 0 ? "''" : `(${parts.join(' || ')})`;
}
