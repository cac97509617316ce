import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { runCli, startCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { filesWith } from '../support/leaks.ts';
import { openMirrored } from '../support/mirrored-form.ts';

/** Answers that occur nowhere else. */
const FIRST = 'Žofie Nezapomenutelná-Quxová 4b1';
const SECOND = 'a remark that nobody else would make 71f3';

const json = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

describe('L18: purge --deleted-before', () => {
  it('removes rows that were marked deleted long ago, with every byte, and counts them with --dry-run', async () => {
    const { place, env, id, formId } = await openMirrored([FIRST, SECOND]);
    const other = place.sandbox.store.ids(formId)[0] ?? '';
    place.sandbox.store.delete(id);
    expect((await runCli(['sync', '--full'], env)).code).toBe(0);
    expect((await runCli(['purge', '--deleted-before', '30d', '--yes'], env)).stdout).toContain(
      'There is nothing to do.',
    );
    {
      using database = new DatabaseSync(place.file);
      database.exec(
        "UPDATE customer_feedback SET _deleted_at = '2026-01-01T00:00:00.000Z' WHERE _deleted_at IS NOT NULL",
      );
    }
    const dry = await runCli(['purge', '--deleted-before', '30d', '--dry-run'], env);
    expect([dry.code, dry.stdout]).toEqual([
      0,
      expect.stringContaining(': remove 1 row marked deleted'),
    ]);
    const unasked = await runCli(['purge', '--deleted-before', '30d'], env);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(filesWith(dirname(place.file), [FIRST])).not.toEqual([]);
    const purged = await startCli(
      ['purge', '--deleted-before', '30d'],
      env,
      false,
      async () => 'yes',
    ).done;
    expect(purged).toMatchObject({ code: 0, stdout: expect.stringContaining('1 row') });
    expect(filesWith(dirname(place.file), [FIRST, id])).toEqual([]);
    expect(filesWith(dirname(place.file), [other])).not.toEqual([]);
    // Nothing is lost: the next run has no reason to read everything, and adds nothing.
    expect(json((await runCli(['sync', '--json'], env)).stdout)).toMatchObject({
      runs: [{ full: false, outcome: 'ok', inserted: 0, reasons: [] }],
    });
  });

  it.each([
    [['purge'], 'either --deleted-before'],
    [['purge', '--unselected', '--deleted-before', '3d'], 'either --deleted-before'],
    [['purge', '--deleted-before', 'long ago'], '30d'],
    [['purge', '--unselected', '--target', 'nowhere'], 'There is no target nowhere'],
    // As from a script with a variable that is not set.
    [['purge', '--unselected', '--form', '', '--yes'], 'There is no form'],
  ])('%j is a mistake that it explains', async (args, said) => {
    const { env } = await openPlace({ submissions: 1 });
    expect(await runCli(args, env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(said),
    });
  });
});

describe('L18: purge --unselected', () => {
  it('empties columns of fields that are no longer selected; until then status lists them', async () => {
    const { env, fields, folder } = await openMirrored([FIRST, SECOND]);
    const [first = ''] = fields;
    const fewer = { ...env, TARGET_FIELDS: fields.filter((id) => id !== first).join(',') };
    expect((await runCli(['sync', '--full'], fewer)).code).toBe(0);
    const told = await runCli(['status'], fewer);
    expect(told.stdout).toContain(`(${first})`);
    expect(told.stdout).toContain('may still hold answers');
    expect(told.stdout).toContain(
      'forms-mirror purge --unselected --form customer-feedback --target default',
    );
    const status = await runCli(['status', '--json'], fewer);
    expect(json(status.stdout)).toMatchObject({
      forms: [{ notices: [{ code: 'UNSELECTED_ANSWERS' }] }],
    });

    const dry = await runCli(['purge', '--unselected', '--dry-run'], fewer);
    expect(dry.stdout).toMatch(new RegExp(`empty .*${first}.* in \\d+ rows`));
    expect(filesWith(folder, [FIRST])).not.toEqual([]);
    const purged = await runCli(['purge', '--unselected', '--yes'], fewer);
    expect(purged).toMatchObject({ code: 0, stdout: expect.stringContaining(first) });
    expect(purged.stderr).not.toContain(FIRST);
    expect(filesWith(folder, [FIRST])).toEqual([]);
    expect(filesWith(folder, [SECOND])).not.toEqual([]);
    expect((await runCli(['status'], fewer)).stdout).not.toContain('may still hold');
    expect((await runCli(['purge', '--unselected', '--yes'], fewer)).stdout).toContain(
      'There is nothing to do.',
    );

    // If the field is selected again, the column is filled again.
    expect(json((await runCli(['sync', '--json'], env)).stdout)).toMatchObject({
      runs: [{ full: true, outcome: 'ok' }],
    });
    expect(filesWith(folder, [FIRST])).not.toEqual([]);
    expect((await runCli(['verify'], env)).code).toBe(0);
  });
});
