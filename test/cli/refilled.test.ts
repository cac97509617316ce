import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const DAY = 24 * 3_600_000;
const inDays = (days: number) => ({ ...systemClock, now: () => Date.now() + days * DAY });

/** Removes the file of the target, and the files beside it. */
function remove(file: string): void {
  for (const name of readdirSync(dirname(file)).filter((one) => one.startsWith('copy.sqlite'))) {
    rmSync(join(dirname(file), name), { recursive: true });
  }
}

interface Status {
  readonly forms: readonly {
    readonly state: string;
    readonly problems: readonly { readonly code: string; readonly message: string }[];
  }[];
}

const problemsOf = (json: string): string[] =>
  (JSON.parse(json) as Status).forms.flatMap(({ problems }) => problems.map(({ code }) => code));

describe('a whole copy that is gone', () => {
  it('L17: is made again and reported, with the losses, for a week', async () => {
    const { env, file } = await openPlace({ submissions: 30 });
    const first = await runCli(['sync'], env);
    expect([first.code, first.stderr.includes('COPY_REFILLED')]).toEqual([0, false]);
    expect(problemsOf((await runCli(['status', '--json'], env)).stdout)).not.toContain(
      'COPY_REFILLED',
    );
    remove(file);
    const again = await runCli(['sync'], env);
    expect(again.code).toBe(0);
    expect(again.stderr).toMatch(
      /"code":"COPY_REFILLED".*Target default held a copy of form .* and was empty at .*Lost for good: .*history of statuses/,
    );
    const { forms } = JSON.parse((await runCli(['status', '--json'], env)).stdout) as Status;
    expect(forms.length).toBeGreaterThan(0);
    for (const { state, problems } of forms) {
      expect(state).toBe('attention');
      expect(problems).toMatchObject([
        { code: 'COPY_REFILLED', message: expect.stringContaining('Lost for good') },
      ]);
    }
    expect((await runCli(['check'], env)).stdout).toContain('held a copy of form');
    // It is reported where it happened, and not of the passes that follow.
    expect((await runCli(['sync', '--full'], env)).stderr).not.toContain('COPY_REFILLED');
    const later = await runCli(['status', '--json'], env, false, inDays(8));
    expect(problemsOf(later.stdout)).not.toContain('COPY_REFILLED');
  });
});
