import type { Formula } from './cell.ts';
import { rewriteReferences, type Corner, type Reference } from './formula-tokens.ts';
import type { Remap } from './remap.ts';

type Axis = 'row' | 'column';

/** `reference` after rows or columns of its tab moved; undefined if its cells were deleted. */
function remapReference(reference: Reference, axis: Axis, remap: Remap): Reference | undefined {
  const { start, end } = reference;
  if (end === undefined) {
    const old = start[axis];
    const index = old === undefined ? undefined : remap.index(old);
    if (index === undefined) return undefined;
    return index === old ? reference : { ...reference, start: { ...start, [axis]: index } };
  }
  const [from, to] = [start[axis], end[axis]];
  // Open on this axis: `A:C` has no rows, `A2:A` has no end.
  if (from === undefined && to === undefined) return reference;
  const span = remap.span(from ?? 0, to === undefined ? 2 ** 30 : to + 1);
  if (span === undefined) return undefined;
  const moved: Reference = {
    ...reference,
    start: from === undefined ? start : { ...start, [axis]: span[0] },
    end: to === undefined ? end : { ...end, [axis]: span[1] - 1 },
  };
  return span[0] === (from ?? span[0]) && span[1] === (to ?? span[1] - 1) + 1 ? reference : moved;
}

/** False for a formula that cannot name a tab: most need not be parsed when another tab changes. */
const mayName = ({ text }: Formula, title: string): boolean =>
  text.includes(title.replaceAll("'", "''"));

/** A formula of a tab called `ownTitle`, after rows or columns of the tab `movedTitle` moved. */
export function remapFormula(
  formula: Formula,
  ownTitle: string,
  movedTitle: string,
  axis: Axis,
  remap: Remap,
): Formula {
  if (ownTitle !== movedTitle && !mayName(formula, movedTitle)) return formula;
  return rewriteReferences(formula, (reference) =>
    (reference.title ?? ownTitle) === movedTitle
      ? remapReference(reference, axis, remap)
      : reference,
  );
}

/**
 * A formula after a tab was renamed, or deleted (`to` is null). References to a deleted one stay broken, even if another tab gets
 * its name later.
 */
export function renameInFormula(formula: Formula, from: string, to: string | null): Formula {
  if (!mayName(formula, from)) return formula;
  return rewriteReferences(formula, (reference) => {
    if (reference.title !== from) return reference;
    return to === null ? undefined : { ...reference, title: to };
  });
}

/** A formula as its copy some rows down and columns right: references move along unless `$` pins them. */
export function copyFormula(formula: Formula, rows: number, columns: number): Formula {
  if (rows === 0 && columns === 0) return formula;
  const shift = (corner: Corner): Corner => ({
    ...corner,
    row: corner.row === undefined || corner.rowPinned ? corner.row : corner.row + rows,
    column:
      corner.column === undefined || corner.columnPinned ? corner.column : corner.column + columns,
  });
  const inGrid = ({ row, column }: Corner): boolean => (row ?? 0) >= 0 && (column ?? 0) >= 0;
  return rewriteReferences(formula, (reference) => {
    const start = shift(reference.start);
    const end = reference.end === undefined ? undefined : shift(reference.end);
    return inGrid(start) && (end === undefined || inGrid(end))
      ? { ...reference, start, end }
      : undefined;
  });
}
