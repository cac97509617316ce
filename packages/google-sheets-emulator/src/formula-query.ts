import { type Grid, single } from './formula-arrays.ts';
import { CellError, compareValues, type Value } from './formula-values.ts';

/** The only supported kind of query: the values of a column, each with its count. */
const COUNTS =
  /^select Col1, count\(Col1\) group by Col1 order by (count\(Col1\) desc, Col1|Col1) limit (\d+) label count\(Col1\) ''$/i;

/**
 * QUERY over an array, if it counts the values of one column. Case-sensitive, as in Google's. Any other query gives an
 * error, instead of a wrong result.
 */
export function query(grid: Grid, text: Value): Grid {
  const match = typeof text === 'string' ? COUNTS.exec(text) : null;
  if (match === null) return single(new CellError('VALUE', 'The emulator does not do this QUERY.'));
  const [, order = '', limit = ''] = match;
  const values = grid.map(([value]) => value ?? null);
  const error = values.find((value) => value instanceof CellError);
  if (error instanceof CellError) return single(error);
  const counts = new Map<Value, number>();
  for (const value of ofOneType(values)) counts.set(value, (counts.get(value) ?? 0) + 1);
  const byValue = ([a]: [Value, number], [b]: [Value, number]): number => inOrder(a, b);
  const rows = [...counts].sort((a, b) =>
    /^count/i.test(order) ? b[1] - a[1] || byValue(a, b) : byValue(a, b),
  );
  return rows.length > 0
    ? rows.slice(0, Number(limit))
    : single(new CellError('N_A', 'Query completed with an empty output.'));
}

/** A column of a query has one type, that of most of its values; the others count as empty. */
function ofOneType(values: readonly Value[]): Value[] {
  const filled = values.filter((value) => value !== null);
  const numbers = filled.filter((value) => typeof value === 'number');
  return numbers.length * 2 > filled.length
    ? numbers
    : filled.filter((value) => typeof value === 'string');
}

function inOrder(a: Value, b: Value): number {
  const order = compareValues(a, b);
  if (order !== 0 || typeof a !== 'string' || typeof b !== 'string') return order;
  return a < b ? -1 : 1;
}
