import { closeSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/health/report.ts';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

/** SQLite takes a file whose header asks for a newer version for writing as read-only, for root too. */
function setWriteVersion(file: string, version: number): void {
  {
    using database = new DatabaseSync(file);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.from([version]), 0, 1, 18);
  closeSync(descriptor);
}

const FORM = 'customer-feedback';

describe('a failure that the target cannot hold', () => {
  it('is said by status, until it is over', async () => {
    const place = await openPlace({ submissions: 30 });
    const env = { ...place.env, TARGET_FORMS: FORM };
    const run = (...args: string[]) => runCli(args, env);
    const time = (): string => new Date().toISOString();
    const status = async (): Promise<{ code: number; stdout: string; report: Report }> => {
      const { code, stdout } = await run('status');
      const json = await run('status', '--json');
      expect(json.code).toBe(code);
      return { code, stdout, report: JSON.parse(json.stdout) as Report };
    };
    const began = time();
    expect((await run('sync')).code).toBe(0);
    const before = await status();
    expect(before.code).toBe(0);
    expect(before.report.forms[0]).toMatchObject({ lastRun: { outcome: 'ok' }, problems: [] });

    const refusedAt = time();
    setWriteVersion(place.file, 3);
    const { id: formId } = place.sandbox.store.formBySlug(FORM)!;
    place.sandbox.store.insert({ formId, data: {} });
    expect((await run('sync')).code).toBe(1);
    const { code, stdout, report } = await status();
    expect(code).toBe(1);
    expect(report.state).toBe('failed');
    for (const form of report.forms) {
      const [problem] = form.problems;
      expect(form).toMatchObject({ state: 'failed', lastRun: { outcome: 'failed' } });
      expect(problem?.code).toMatch(/^TARGET_/);
      expect(problem?.remedy ?? problem?.message).toMatch(/\w/);
      // Proven ranges are still claimed, with an earlier time.
      const claimed = form.claim.submissionsAsOf ?? '';
      expect([began <= claimed, claimed < refusedAt]).toEqual([true, true]);
    }
    const [headline = ''] = stdout.split('\n');
    expect(headline).toMatch(/^✗ /);
    expect(headline).not.toMatch(/complete|proven|up to date/i);
    expect(stdout).toMatch(/\(TARGET_[A-Z_]+\) for /);
    expect((await run('check')).code).toBe(1);

    setWriteVersion(place.file, 2);
    expect((await run('sync')).code).toBe(0);
    const after = await status();
    expect(after.code).toBe(0);
    expect(after.report.forms[0]).toMatchObject({ lastRun: { outcome: 'ok' }, problems: [] });
    expect(readdirSync(join(place.env['DATA_DIR'] ?? '', 'failures'))).toEqual([]);
  });
});

describe('a file that was damaged', () => {
  it('L17: holds unknown forms: status says neither that nothing was mirrored, nor 0 rows, nor never', async () => {
    const { env, file } = await openPlace({ submissions: 30 });
    await runCli(['sync'], env);
    for (const beside of ['-wal', '-shm']) rmSync(`${file}${beside}`, { force: true });
    writeFileSync(file, 'no database at all'.repeat(1_000));
    const before = await runCli(['status'], env);
    expect(before.code).toBe(1);
    expect(before.stdout).toContain('its forms could not be read');
    expect(before.stdout).not.toContain('Nothing has been mirrored yet');
    await runCli(['sync'], env);
    const { code, stdout } = await runCli(['status'], env);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /customer-feedback +default +Failed.* unknown +unknown +unknown +failed, .* unknown +unknown /,
    );
    expect(stdout).not.toContain('never');
    const json = await runCli(['status', '--json'], env);
    const { forms } = JSON.parse(json.stdout) as Report;
    expect(forms[0]).toMatchObject({ rows: null, deletedRows: null, rejected: null });
  });
});

describe('a form that answers 404 before it was ever mirrored', () => {
  it('is named by status, which is not well, until it is found', async () => {
    const { env, sandbox } = await openPlace({ submissions: 30 });
    const { id } = sandbox.store.formBySlug(FORM)!;
    const always = Number.POSITIVE_INFINITY;
    sandbox.faults.add({ method: 'GET', path: `/forms/${id}`, status: 404, times: always });
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
