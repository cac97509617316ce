import { createHash } from 'node:crypto';
import { quoted } from '../sql-session.ts';

/** A table or view of a schema as SQL names it. */
export const qualified = (schema: string, name: string): string =>
  `${quoted(schema)}.${quoted(name)}`;

/** A text as a literal, whatever standard_conforming_strings is set to. */
export const literal = (text: string): string =>
  `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

/** Key of an advisory lock: 64 bits, different for each schema and purpose. As text, because it exceeds a double. */
export function lockKey(...parts: readonly string[]): string {
  const digest = createHash('sha256')
    .update(['forms-mirror', ...parts].join('\0'))
    .digest();
  return digest.readBigInt64BE(0).toString();
}
