import { writeSync } from 'node:fs';

// Preloaded into a process (node --import): tells on its last line of stderr how much memory it took at its peak.

process.once('exit', () => {
  // Kilobytes as Linux and macOS report them through Node.
  writeSync(2, `peak-mb: ${Math.round(process.resourceUsage().maxRSS / 1_024)}\n`);
});
