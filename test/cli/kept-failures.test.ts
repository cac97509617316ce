import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/health/report.ts';
import { expectEnd } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

it('L17: a copy that is gone is reported, and is not called filled while the source refuses to list submissions', async () => {
  const { run, file, sandbox } = await openPlace({ submissions: 30 });
  await run('sync');
  for (const beside of ['', '-wal', '-shm']) rmSync(`${file}${beside}`, { force: true });
  const undo = sandbox.faults.add({ path: '/submissions', status: 403, times: Infinity });
  await expectEnd(run('sync'), 1);
  const { stdout } = await run('status');
  expect(stdout).toContain('(COPY_REFILLED)');
  expect(stdout).not.toContain('was filled');
  undo();
  await run('sync');
  expect((await run('status')).stdout).toContain('(COPY_REFILLED)');
});

it('L17: a failure belongs to the address at which it happened', async () => {
  const { run, file, change } = await openPlace({ submissions: 30 });
  await run('sync');
  copyFileSync(file, `${file}.kept`);
  change(`UPDATE _mirror_records SET value = '"1"' WHERE name = 'schema'`);
  const why = `Target default (sqlite:${file}): the tables there were written by another build`;
  await expectEnd(run('sync'), 1, why);
  await expectEnd(run('status'), 1, 'Another build wrote the target (OTHER_SCHEMA)');
  const healthy = { TARGET_URL: `sqlite:${file}.kept` };
  await expectEnd(run('status', healthy), 0, /^✓ Up to date/);
  await expectEnd(run('check', healthy), 0);
});

/** Puts something else in place of a database. */
function damage(file: string): void {
  for (const beside of ['-wal', '-shm']) rmSync(`${file}${beside}`, { force: true });
  writeFileSync(file, 'no database at all'.repeat(1_000));
}

describe('a damaged file', () => {
  it('L17: contains unknown forms: status says neither that nothing was mirrored, nor 0 rows, nor never', async () => {
    const { run, file } = await openPlace({ submissions: 30 });
    await run('sync');
    damage(file);
    const before = await expectEnd(run('status'), 1, 'its forms could not be read');
    expect(before.stdout).not.toContain('hold no copy');
    await run('sync');
    const { stdout } = await expectEnd(
      run('status'),
      1,
      /· customer-feedback → default: The target denies access; what it holds is not known now; last run failed, /,
    );
    expect(stdout).not.toContain('never');
    const json = await run('status --json');
    const { forms } = JSON.parse(json.stdout) as Report;
    expect(forms[0]).toMatchObject({ rows: null, deletedRows: null, rejected: null });
  });

  it('is healthy again once a poll agrees with the restored rows, although no run was needed', async () => {
    const { run, file } = await openPlace({ submissions: 30 });
    await run('sync');
    copyFileSync(file, `${file}.kept`);
    damage(file);
    await expectEnd(run('sync'), 1);
    copyFileSync(`${file}.kept`, file);
    await expectEnd(run('status'), 1);
    await expectEnd(run('sync'), 0, 'nothing written (0 requests');
    await expectEnd(run('status'), 0);
  });
});
