import { describe, expect, it } from 'vitest';
import { jobHandlers } from '../../src/cli/service.ts';
import { createLogger } from '../../src/base/logger.ts';
import { expectEnd } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { openParts } from '../support/mirrored-form.ts';

describe('settings that match nothing', () => {
  it.each(['sync', 'sync --full', 'verify', 'check', 'start'])(
    'L17: %s ends with 2 and names the forms, and nothing is stored',
    async (command) => {
      const { run, rows } = await openPlace({ submissions: 30 });
      const wrong = { TARGET_FIELDS: 'custmer-feedback:*,prihlaska-na-pozici:*' };
      const { code, stdout, stderr } = await run(command, wrong);
      expect(code).toBe(2);
      expect(stdout + stderr).toMatch(
        /TARGET_FIELDS names custmer-feedback:\*, and there is no such form: the forms are .*customer-feedback/,
      );
      expect(stdout).not.toMatch(/proven/);
      expect(() => rows('SELECT * FROM customer_feedback')).toThrow(/no such table|unable to open/);
    },
  );

  it('L12: an unreachable target makes no name a mistake, and the command fails for its own reason', async () => {
    const { run } = await openPlace({ submissions: 30 });
    const TARGET_URL = 'postgres://nobody@127.0.0.1:1/nowhere';
    const { stderr } = await expectEnd(run('sync', { TARGET_URL, TARGET_FORMS: 'nosuch' }), 1);
    expect(stderr).not.toContain('there is no such form');
  });
});

describe('a running worker', () => {
  it('L12, L17: continues with the other forms and lists unmatched names in its plan', async () => {
    const { env } = await openPlace({ submissions: 30 });
    const lines: string[] = [];
    const logger = createLogger('info', { write: (line) => void lines.push(line) });
    const TARGET_FORMS = 'customer-feedback,custmer-feedback';
    const app = openParts({ ...env, TARGET_FORMS, TARGET_FIELDS: '*' }, logger);
    const handlers = jobHandlers(app);
    const { signal } = new AbortController();
    expect((await handlers.poll(signal)).syncs).toHaveLength(1);
    await handlers.poll(signal);
    expect(app.planner.planned?.unmatched).toEqual([
      {
        variable: 'TARGET_FORMS',
        name: 'custmer-feedback',
        message: expect.stringContaining('there is no such form: the forms are '),
        example: "TARGET_FORMS='contact'",
      },
    ]);
    // Once, as a mistake, not with every plan.
    expect(
      lines.filter((line) => line.includes('TARGET_FORMS names custmer-feedback')),
    ).toHaveLength(1);
    expect(lines[0]).toContain('"level":50');
  });
});
