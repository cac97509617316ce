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
 * Keeps the heap of this process, and of threads that it begins, small; whether there was anything to do. Call it once, before there
 * is much in it, and before the compile cache is enabled: that is kept by V8's flags, and a thread looks for it by those that there are
 * then.
 */
export function boundHeapGrowth() {
  if (v8.getHeapStatistics().heap_size_limit < LARGE_BYTES) return false;
  v8.setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  // The space for new objects stays as it is at the start. It would grow to 100 MB in all, and batches are not collected any sooner.
  v8.setFlagsFromString('--semi-space-growth-factor=1');
  return true;
}
