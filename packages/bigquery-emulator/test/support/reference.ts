import { analyzerServer, AnalyzerRefusal } from '../../src/analyzer-server.ts';
import { isRaw, objectAt, objectsAt, textAt, type Raw } from '../../src/json-object.ts';
import { LANGUAGE } from '../../src/language.ts';

/** The result of an expression in Google's reference implementation: its value as text, or that it is an error. */
export async function referenceValue(expression: string): Promise<unknown> {
  const server = await analyzerServer();
  try {
    const answer = await server.call('evaluateQuery', {
      sql: `SELECT ${expression} AS x`,
      simpleCatalog: { name: 'empty', builtinFunctionOptions: { languageOptions: LANGUAGE } },
      options: { languageOptions: LANGUAGE, defaultTimezone: 'UTC' },
    });
    const data = objectAt(objectAt(answer, 'content') ?? {}, 'tableData') ?? {};
    const [row] = objectsAt(data, 'row');
    const [cell] = objectsAt(row ?? {}, 'cell');
    return plain(cell ?? {});
  } catch (error) {
    if (error instanceof AnalyzerRefusal) return 'an error';
    throw error;
  }
}

function plain(value: Raw): unknown {
  const kind = value['value'];
  if (typeof kind !== 'string') return null;
  const held = value[kind];
  switch (kind) {
    case 'timestampValue': {
      const at = isRaw(held) ? held : {};
      const seconds = BigInt(textAt(at, 'seconds') ?? '0') * 1_000_000n;
      return String(seconds + BigInt(textAt(at, 'nanos') ?? '0') / 1_000n);
    }
    default:
      return String(held);
  }
}
