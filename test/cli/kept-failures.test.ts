import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/health/report.ts';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const FORM = 'customer-feedback';

it('L17: a copy that is gone is reported, and is not called filled while the source refuses to list submissions', async () => {
  const { env, file, sandbox } = await openPlace({ submissions: 30 });
  await runCli(['sync'], env);
  for (const beside of ['', '-wal', '-shm']) rmSync(`${file}${beside}`, { force: true });
  const undo = sandbox.faults.add({ path: '/submissions', status: 403, times: Infinity });
  expect((await runCli(['sync'], env)).code).toBe(1);
  const { stdout } = await runCli(['status'], env);
  expect(stdout).toContain('(COPY_REFILLED)');
  expect(stdout).not.toContain('was filled');
  undo();
  await runCli(['sync'], env);
  expect((await runCli(['status'], env)).stdout).toContain('(COPY_REFILLED)');
});

describe('a damaged file', () => {
  it('L17: contains unknown forms: status says neither that nothing was mirrored, nor 0 rows, nor never', async () => {
    const { env, file } = await openPlace({ submissions: 30 });
    await runCli(['sync'], env);
    for (const beside of ['-wal', '-shm']) rmSync(`${file}${beside}`, { force: true });
    writeFileSync(file, 'no database at all'.repeat(1_000));
    const before = await runCli(['status'], env);
    expect(before.code).toBe(1);
    expect(before.stdout).toContain('its forms could not be read');
    expect(before.stdout).not.toContain('hold no copy');
    await runCli(['sync'], env);
    const { code, stdout } = await runCli(['status'], env);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /· customer-feedback → default: The target denies access; what it holds is not known now; last run failed, /,
    );
    expect(stdout).not.toContain('never');
    const json = await runCli(['status', '--json'], env);
    const { forms } = JSON.parse(json.stdout) as Report;
    expect(forms[0]).toMatchObject({ rows: null, deletedRows: null, rejected: null });
  });

  it('is healthy again once a poll agrees with the restored rows, although no run was needed', async () => {
    const { env, file } = await openPlace({ submissions: 30 });
    await runCli(['sync'], env);
    copyFileSync(file, `${file}.kept`);
    for (const beside of ['-wal', '-shm']) rmSync(`${file}${beside}`, { force: true });
    writeFileSync(file, 'no database at all'.repeat(1_000));
    expect((await runCli(['sync'], env)).code).toBe(1);
    copyFileSync(`${file}.kept`, file);
    expect((await runCli(['status'], env)).code).toBe(1);
    expect((await runCli(['sync'], env)).stdout).toContain('nothing new (0 requests');
    expect((await runCli(['status'], env)).code).toBe(0);
  });
});

describe.each([404, 410])('a form that answered %i before it was ever mirrored', (status) => {
  it('is reported by status, which is not healthy, until it is found', async () => {
    const { env, sandbox } = await openPlace({ submissions: 30 });
    const { id } = sandbox.store.formBySlug(FORM)!;
    const always = Number.POSITIVE_INFINITY;
    sandbox.faults.add({ method: 'GET', path: `/forms/${id}`, status, times: always });
    expect((await runCli(['sync'], env)).code).toBe(1);
    const { code, stdout } = await runCli(['status'], env);
    expect(code).toBe(1);
    expect(stdout).toMatch(/customer-feedback → default: Gone at the source \(FORM_GONE\)/);
    sandbox.faults.clear();
    await runCli(['sync'], env);
    const found = await runCli(['status'], env);
    expect([found.code, found.stdout.includes('FORM_GONE')]).toEqual([0, false]);
  });
});
