import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Cost {
  submissions: number;
  largestForm: number;
  bytes: number;
  peakMB: number;
}

/** What serving so many submissions costs a process of its own, which reads pages from all over the largest form. */
function costOf(submissions: number, pages: number): Cost {
  const probe = fileURLToPath(import.meta.resolve('./memory-probe.ts'));
  const output = execFileSync(process.execPath, [probe, String(submissions), String(pages)], {
    encoding: 'utf8',
  });
  return JSON.parse(output) as Cost;
}

describe('the memory of the sandbox', () => {
  it('hardly grows with its submissions: a million fit in 500 MB', () => {
    const few = costOf(2_000, 200);
    const many = costOf(200_000, 200);
    expect([many.submissions, many.largestForm]).toEqual([200_000, 100_000]);
    expect(many.bytes).toBeGreaterThan(200 * 100 * 300);
    // 500 MB for a million leaves 100 MB for a fifth of it, on top of what any Node process needs.
    expect(many.peakMB - few.peakMB).toBeLessThan(100);
    expect(many.peakMB).toBeLessThan(300);
  });
});
