import { setFlagsFromString } from 'node:v8';

/**
 * How much garbage V8 lets pile up before it looks for it, in percent of what is in use. By itself it lets the heap grow to four
 * times that where much is made and dropped, as batches are; a pass over a million then takes a third more memory, and is hardly
 * quicker. A flag of V8's (src/flags/flag-definitions.h), which is asked for each time that the next limit is set.
 */
const GROWTH_PERCENT = 100;

/** Keeps the heap of this process, and of threads that it begins, small. Call it once, before there is much in it. */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
