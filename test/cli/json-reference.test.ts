import { describe, expect, it } from 'vitest';
import { judge } from '../../src/health/judge.ts';
import { busy, factsOf, job, queueAway } from '../health/facts.ts';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { type JsonFields, STATUS_FIELDS, SYNC_FIELDS, pathsOf } from '../support/json-reference.ts';

/** The fields of a document that docs/reference/json.md does not list. */
function undocumented(stdout: string, fields: JsonFields): string[] {
  const paths = new Set(pathsOf(JSON.parse(stdout), fields));
  return [...paths].filter((path) => !(path in fields));
}

describe('docs/reference/json.md', () => {
  it('lists every field of sync --json and status --json, with and without failures', async () => {
    const { env, sandbox } = await openPlace();
    for (const answersWell of [true, false]) {
      if (!answersWell) await sandbox.stop();
      const sync = await runCli(['sync', '--json'], env);
      const status = await runCli(['status', '--json'], env);
      expect(sync.code).toBe(answersWell ? 0 : 1);
      expect(undocumented(sync.stdout, SYNC_FIELDS)).toEqual([]);
      expect(undocumented(status.stdout, STATUS_FIELDS)).toEqual([]);
    }
  });

  it('lists every field of the queue, which the status page also shows', () => {
    const { problems } = queueAway(0);
    const queue = { ...busy(job()), problem: problems[0] ?? null };
    const page = JSON.stringify(judge(factsOf({ queue })));
    expect(undocumented(page, STATUS_FIELDS)).toEqual([]);
  });
});
