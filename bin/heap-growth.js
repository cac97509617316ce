import v8 from 'node:v8';

/**
 * How much garbage V8 lets pile up before it looks for it, in percent of what is in use. A flag of V8's
 * (src/flags/flag-definitions.h), which is asked for each time that the next limit is set.
 */
const GROWTH_PERCENT = 100;
/**
 * Where the heap may become so large, V8 by itself lets it grow to four times what is in use, if much is made and dropped, as
 * batches are: a pass over a million takes a fifth more memory then, and is hardly quicker. Below it grows to twice at most.
 */
const LARGE_BYTES = 2 * 1_024 ** 3;
/**
 * The space for new objects, both halves. V8 begins with 1 MB, which a few pages of the source fill: a client then spends a third of
 * its time on copying what is in use. It would let it grow to 64 MB, and batches are not collected any sooner.
 */
const NEW_BYTES = 8 * 1_024 ** 2;
/** It grows after 1 or 2 MB; where a flag of Node's keeps it small, it never does. */
const MOST_LISTS = 100_000;

/**
 * Keeps the heap of this process, and of threads that it begins, small; whether there was anything to do. Call it once, before there
 * is much in it, and before the compile cache is enabled: that is kept by V8's flags, and a thread looks for it by those that there are
 * then.
 */
export function boundHeapGrowth() {
  if (v8.getHeapStatistics().heap_size_limit < LARGE_BYTES) return false;
  v8.setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  // Other threads cost more than they help: there is little to copy each time.
  v8.setFlagsFromString('--no-parallel-scavenge');
  v8.setFlagsFromString('--semi-space-growth-factor=4');
  fillNewSpace();
  v8.setFlagsFromString('--semi-space-growth-factor=1');
  return true;
}

/** V8 makes the space for new objects larger when much in it is in use. */
function fillNewSpace() {
  const lists = [];
  const isSmall = () =>
    v8
      .getHeapSpaceStatistics()
      .some(({ space_name, space_size }) => space_name === 'new_space' && space_size < NEW_BYTES);
  while (lists.length < MOST_LISTS && (lists.length % 1_000 > 0 || isSmall())) lists.push([lists]);
}
