import { DuckDBScalarFunction, VARCHAR } from '@duckdb/node-api';
import { elementsAt, jsonAt, type PathStep } from './json-text.ts';

/** Functions of texts that the store lacks: NULL in, NULL out. */
const FUNCTIONS: Readonly<Record<string, (...args: string[]) => string | undefined>> = {
  /** The JSON at a path, as written. */
  bq_json_at: (text = '', path = '[]') => jsonAt(text, pathOf(path)),
  /** The elements of the list at a path, as a JSON list of texts. */
  bq_json_elements: (text = '', path = '[]') => {
    const elements = elementsAt(text, pathOf(path));
    return elements === undefined ? undefined : JSON.stringify(elements);
  },
};

const PATHS = new Map<string, PathStep[]>();

function pathOf(text: string): PathStep[] {
  const known = PATHS.get(text);
  if (known !== undefined) return known;
  const steps: unknown = JSON.parse(text);
  const path = Array.isArray(steps) ? steps.filter((step) => typeof step !== 'object') : [];
  PATHS.set(text, path);
  return path;
}

/** The functions, for registration with a database. */
export function storeFunctions(): DuckDBScalarFunction[] {
  return Object.entries(FUNCTIONS).map(([name, run]) =>
    DuckDBScalarFunction.create({
      name,
      returnType: VARCHAR,
      parameterTypes: [VARCHAR, VARCHAR],
      mainFunction: (_, input, output) => {
        const columns = Array.from({ length: input.columnCount }, (__, index) =>
          input.getColumnVector(index),
        );
        for (let row = 0; row < input.rowCount; row++) {
          const values = columns.map((column) => column.getItem(row));
          const isWhole = values.every((value) => typeof value === 'string');
          output.setItem(row, isWhole ? (run(...values) ?? null) : null);
        }
        output.flush();
      },
    }),
  );
}
