import { writeSync } from 'node:fs';

// Preloaded into a process (node --import): prints its peak memory as its last line on stderr.

process.once('exit', () => {
  // Kilobytes as Linux and macOS report them through Node.
  writeSync(2, `peak-mb: ${Math.round(process.resourceUsage().maxRSS / 1_024)}\n`);
});
