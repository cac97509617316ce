import { notDone } from './api-error.ts';
import { constantText, type Call, type Writer } from './function-call.ts';

/** Functions of text. */
export const TEXT_FUNCTIONS: Readonly<Record<string, Writer>> = {
  // NULL in, NULL out: DuckDB's concat() would skip it.
  concat: ({ args }) => `(${args.join(' || ')})`,
  $concat_op: ({ args }) => `(${args.join(' || ')})`,
  length: ({ args }) => `length(${args[0]})`,
  starts_with: ({ args }) => `starts_with(${args[0]}, ${args[1]})`,
  replace: ({ args }) =>
    `CASE WHEN ${args[1]} = '' THEN ${args[0]} ELSE replace(${args.join(', ')}) END`,
  substr: substring,
  regexp_contains: ({ args }) => `regexp_matches(${args[0]}, ${args[1]})`,
  regexp_extract_all: (call) =>
    `regexp_extract_all(${call.args[0]}, ${call.args[1]}, ${groupOf(call)})`,
};

/** BigQuery counts from 1, treats 0 as 1, and a position before the start as the start. */
function substring({ args }: Call): string {
  const [text, place, length] = args;
  const from = `CASE WHEN ${place} = 0 THEN 1 WHEN ${place} < -length(${text}) THEN 1 ELSE ${place} END`;
  if (length === undefined) return `substring(${text}, ${from})`;
  const bad = `error('Third argument in SUBSTR() cannot be negative')`;
  return `CASE WHEN ${length} < 0 THEN ${bad} ELSE substring(${text}, ${from}, ${length}) END`;
}

/** 1 if the pattern has a group, 0 if it has none; two are refused as in BigQuery. */
function groupOf(call: Call): number {
  const pattern = constantText(call, 1);
  if (/\)[?*{]|\|/.test(pattern)) {
    // DuckDB gives an empty text for a group that did not participate, BigQuery NULL.
    throw notDone(`${call.name.toUpperCase()} with a pattern that has optional parts`);
  }
  const groups = pattern
    .replaceAll(/\\./gs, '')
    .replaceAll(/\[\^?\]?[^\]]*\]/g, '')
    .match(/\((?!\?)|\(\?P?</g);
  return Math.min(1, groups?.length ?? 0);
}
