import { describe, expect, it } from 'vitest';
import { expectEnd } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

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
