import { writeSync } from 'node:fs';
import v8 from 'node:v8';

// Preloaded into a process (node --import): prints its peak memory, and how much it allocated, as its last line on stderr.

const usedBytes = (): number => v8.getHeapStatistics().used_heap_size;
const startBytes = usedBytes();
const collections = new v8.GCProfiler();
collections.start();

process.once('exit', () => {
  const freedBytes = collections
    .stop()
    .statistics.map(
      ({ beforeGC, afterGC }) =>
        beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize,
    )
    .reduce((sum, bytes) => sum + bytes, 0);
  const cost = {
    // Kilobytes as Linux and macOS report them through Node.
    peakMB: Math.round(process.resourceUsage().maxRSS / 1_024),
    allocatedBytes: usedBytes() - startBytes + freedBytes,
  };
  writeSync(2, `cost: ${JSON.stringify(cost)}\n`);
});
