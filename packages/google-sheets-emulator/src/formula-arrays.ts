import type { Node } from './formula-parser.ts';
import { CellError, toBoolean, type Value } from './formula-values.ts';

/** Values in rows and columns: the content of a range, and the results of ARRAYFORMULA, FILTER and QUERY. */
export type Grid = readonly (readonly Value[])[];

/** One value. */
export const single = (value: Value): Grid => [[value]];

/** The error in place of a grid. */
const errorOf = (grid: Grid): CellError | undefined => {
  const [[value] = []] = grid;
  return grid.length === 1 && value instanceof CellError ? value : undefined;
};

/** True for an error, of any kind or only of a missing value: those that IFERROR and IFNA catch. */
export const isFailure = (value: unknown, ofAnyKind: boolean): boolean =>
  value instanceof CellError && (ofAnyKind || value.type === 'N_A');

/** Functions whose result may be larger than their cell. */
const ARRAY_FUNCTIONS: ReadonlySet<string> = new Set(['ARRAYFORMULA', 'FILTER', 'QUERY']);

/** Functions of one value that ARRAYFORMULA and FILTER apply to each value of a range. */
export const MAPPED_FUNCTIONS: ReadonlySet<string> = new Set(['ISNUMBER']);

/** True for a formula whose result may fill cells besides its own. */
export function givesArray(node: Node): boolean {
  if (node.kind !== 'call') return false;
  if (ARRAY_FUNCTIONS.has(node.name)) return true;
  const [tried] = node.args;
  return (
    (node.name === 'IFNA' || node.name === 'IFERROR') && tried !== undefined && givesArray(tried)
  );
}

/** Computes cell by cell; a grid of one row or column is repeated along the others. */
export function broadcast(grids: readonly Grid[], compute: (values: Value[]) => Value): Grid {
  const rows = Math.max(...grids.map((grid) => grid.length));
  const columns = Math.max(...grids.map((grid) => grid[0]?.length ?? 0));
  const missing = new CellError('N_A', 'Array arguments are of different size.');
  const at = (grid: Grid, row: number, column: number): Value => {
    const line = grid.length === 1 ? grid[0] : grid[row];
    const value = line?.length === 1 ? line[0] : line?.[column];
    return value === undefined ? missing : value;
  };
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, column) =>
      compute(grids.map((grid) => at(grid, row, column))),
    ),
  );
}

/** FILTER: the rows in which every condition holds. */
export function filterRows(grid: Grid, conditions: readonly Grid[]): Grid {
  const failed = [grid, ...conditions].map(errorOf).find((error) => error !== undefined);
  if (failed !== undefined) return single(failed);
  if (conditions.some((condition) => condition.length !== grid.length))
    return single(new CellError('N_A', 'FILTER has mismatched range sizes.'));
  const rows: (readonly Value[])[] = [];
  for (const [at, row] of grid.entries()) {
    const truths = conditions.map((condition) => toBoolean(condition[at]?.[0] ?? null));
    const error = truths.find((truth) => truth instanceof CellError);
    if (error instanceof CellError) return single(error);
    if (truths.every((truth) => truth === true)) rows.push(row);
  }
  return rows.length > 0
    ? rows
    : single(new CellError('N_A', 'No matches are found in FILTER evaluation.'));
}
