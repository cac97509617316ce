import { describe, expect, it } from 'vitest';
import { measurePasses } from '../support/pass-memory.ts';

/**
 * Bounds on the heap, so that what is measured is what the program holds and not what the garbage collector leaves
 * lying about on a machine with much memory. `npm run bench memory` measures without them, over 500,000.
 */
const flags = '--max-semi-space-size=2 --max-old-space-size=64';

describe('the memory of a full pass', { timeout: 600_000 }, () => {
  it('L14: does not grow with the form: 100,000 submissions peak where 20,000 do', async () => {
    const few = await measurePasses(20_000, { flags });
    const many = await measurePasses(100_000, { flags });
    process.stdout.write(`memory: ${JSON.stringify([few, many])}\n`);
    // 10 bytes an ID and some slack are the only thing that grows: 2 MB here.
    expect(many.firstMB / few.firstMB).toBeLessThan(1.15);
    expect(many.againMB / few.againMB).toBeLessThan(1.15);
  });
});
