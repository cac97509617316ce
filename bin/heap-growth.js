import v8 from 'node:v8';

/**
 * How much garbage V8 lets accumulate before it collects it, in percent of the memory in use. A V8 flag
 * (src/flags/flag-definitions.h), which V8 reads each time it sets the next limit.
 */
const GROWTH_PERCENT = 100;
/**
 * If the heap may become this large, V8 lets it grow to four times the memory in use when many objects are created and dropped,
 * as batches are. Reading a million rows then takes a fifth more memory, and is hardly faster. With a smaller limit it grows to
 * twice at most.
 */
const LARGE_BYTES = 2 * 1_024 ** 3;
/**
 * The space for new objects, both halves. V8 begins with 1 MB, which a few pages of the source fill: a client then spends a third of
 * its time copying live objects. V8 would let it grow to 64 MB, which makes runs no faster.
 */
const NEW_BYTES = 16 * 1_024 ** 2;
/** In Node 24, the space has grown after 85,000 lists. If a flag of Node keeps it small, it never grows. */
const MOST_LISTS = 200_000;

/**
 * Keeps the heap of this process and of the threads that it starts small. Returns whether it changed anything. Call it once, while
 * the heap is small, and before the compile cache is enabled: its entries depend on V8's flags, and a thread looks for them by its
 * own flags.
 */
export function boundHeapGrowth() {
  if (v8.getHeapStatistics().heap_size_limit < LARGE_BYTES) return false;
  v8.setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  // Helper threads cost more than they gain, because there is little to copy each time.
  v8.setFlagsFromString('--no-parallel-scavenge');
  v8.setFlagsFromString('--semi-space-growth-factor=2');
  fillNewSpace();
  v8.setFlagsFromString('--semi-space-growth-factor=1');
  return true;
}

/** V8 doubles the space for new objects when much of it is in use. */
function fillNewSpace() {
  const lists = [];
  const isSmall = () =>
    v8
      .getHeapSpaceStatistics()
      .some(({ space_name, space_size }) => space_name === 'new_space' && space_size < NEW_BYTES);
  while (lists.length < MOST_LISTS && (lists.length % 1_000 > 0 || isSmall())) lists.push([lists]);
}
