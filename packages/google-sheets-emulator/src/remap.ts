/** Maps indexes before rows (or columns) were inserted, deleted or moved to those after. */
export interface Remap {
  /** The new place of a row or column; undefined if it was deleted. */
  readonly index: (index: number) => number | undefined;
  /** The new place of a half-open span; undefined if all of it was deleted. */
  readonly span: (start: number, end: number) => readonly [number, number] | undefined;
}

/** `count` new ones before `at`. A span grows if they come inside it, not at its edges. */
export function insertRemap(at: number, count: number): Remap {
  const shift = (index: number): number => (index < at ? index : index + count);
  return {
    index: shift,
    span: (start, end) => [shift(start), end <= at ? end : end + count],
  };
}

/** Those from `start` up to `end` are removed. */
export function deleteRemap(start: number, end: number): Remap {
  const drop = (index: number): number =>
    index < start ? index : index < end ? start : index - (end - start);
  return {
    index: (index) => (index >= start && index < end ? undefined : drop(index)),
    span(from, to) {
      const [a, b] = [drop(from), drop(to)];
      return a < b ? [a, b] : undefined;
    },
  };
}

/**
 * Those from `start` up to `end` move before `destination` (counted before the move, as in moveDimension). A span
 * inside the moved block moves along; another one loses the part that left it and grows around the part that entered
 * it.
 */
export function moveRemap(start: number, end: number, destination: number): Remap {
  const count = end - start;
  const target = destination > start ? destination - count : destination;
  const [without, within] = [deleteRemap(start, end), insertRemap(target, count)];
  const index = (old: number): number =>
    old >= start && old < end ? target + old - start : (within.index(without.index(old) ?? 0) ?? 0);
  return {
    index,
    span(from, to) {
      if (from >= start && to <= end) return [index(from), index(to - 1) + 1];
      const rest = without.span(from, to);
      return rest === undefined ? undefined : within.span(rest[0], rest[1]);
    },
  };
}
