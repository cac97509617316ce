import type { AnswerPart } from '../field-column.ts';

/*
 * Behind the hash of a row stands a fingerprint of its columns, which BigQuery makes of what it stores as it stores it: so that what people
 * change in a row shows, without its answers being fetched. Made once more of what stands there it is another one then. What is NULL
 * has no part in it, so that a column that is added later changes none.
 */

/** 66 bits: two versions of one row are told apart. */
const FINGERPRINT_LENGTH = 11;

/** An expression: the fingerprint of a row. `valueOf`: the expression of a column, by its place among these parts. */
export function fingerprintOf(
  parts: readonly AnswerPart[],
  valueOf: (part: AnswerPart, at: number) => string,
): string {
  if (parts.length === 0) return `''`;
  const values = parts.map((part, at) => {
    const value = valueOf(part, at);
    // What a column is called may change; its field does not.
    const key = `${part.field.ordinal}${part.kind === 'text' ? 't' : ''}=`;
    return `IF(${value} IS NULL, NULL, CONCAT('${key}', TO_JSON_STRING(${value})))`;
  });
  return `LEFT(TO_BASE64(SHA256(ARRAY_TO_STRING([${values.join(', ')}], ','))), ${FINGERPRINT_LENGTH})`;
}
