import { describe, expect, it } from 'vitest';
import { expectEnd, expectMistake, startCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { filesWith } from '../support/leaks.ts';
import { openMirrored } from '../support/mirrored-form.ts';

/** Answers that occur nowhere else. */
const FIRST = 'Žofie Nezapomenutelná-Quxová 4b1';
const SECOND = 'a remark that nobody else would make 71f3';

const json = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

describe('L18: purge --deleted-before', () => {
  it('removes rows that were marked deleted long ago, with every byte, and counts them with --dry-run', async () => {
    const { place, env, run, id, formId, folder } = await openMirrored([FIRST, SECOND]);
    const other = place.sandbox.store.ids(formId)[0] ?? '';
    place.sandbox.store.delete(id);
    await expectEnd(run('sync --full'), 0);
    const purge = 'purge --deleted-before 30d';
    await expectEnd(run(`${purge} --yes`), 0, 'There is nothing to do.');
    place.change(
      "UPDATE customer_feedback SET _deleted_at = '2026-01-01T00:00:00.000Z' WHERE _deleted_at IS NOT NULL",
    );
    await expectEnd(run(`${purge} --dry-run`), 0, ': remove 1 row marked deleted');
    expect(await run(purge)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(filesWith(folder, [FIRST])).not.toEqual([]);
    const purged = startCli(purge.split(' '), env, false, async () => 'yes');
    await expectEnd(purged.done, 0, '1 row');
    expect(filesWith(folder, [FIRST, id])).toEqual([]);
    expect(filesWith(folder, [other])).not.toEqual([]);
    // Nothing is lost: the next run has no reason to read everything, and adds nothing.
    expect(json((await run('sync --json')).stdout)).toMatchObject({
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
    const { run } = await openPlace({ submissions: 1 });
    await expectMistake(run(args), said);
  });
});

describe('L18: purge --unselected', () => {
  it('empties columns of fields that are no longer selected; until then status lists them', async () => {
    const { run, fields, folder } = await openMirrored([FIRST, SECOND]);
    const [first = ''] = fields;
    const fewer = { TARGET_FIELDS: fields.filter((id) => id !== first).join(',') };
    // No run has accepted these settings yet: a mistake in them would empty every column.
    for (const wrong of [fewer, { TARGET_FIELDS: 'customer-feedbak:*' }])
      for (const how of ['--dry-run', '--yes'])
        await expectEnd(run(`purge --unselected ${how}`, wrong), 1, 'stored under other settings');
    await expectEnd(run('sync --full', fewer), 0);
    const purge = 'purge --unselected --form customer-feedback --target default';
    await expectEnd(
      run('status', fewer),
      0,
      `(${first})`,
      'may still hold answers',
      `forms-mirror ${purge}`,
    );
    expect(json((await run('status --json', fewer)).stdout)).toMatchObject({
      forms: [{ notices: [{ code: 'UNSELECTED_ANSWERS' }] }],
    });

    const dry = await run('purge --unselected --dry-run', fewer);
    expect(dry.stdout).toMatch(new RegExp(`empty .*${first}.* in \\d+ rows`));
    expect(filesWith(folder, [FIRST])).not.toEqual([]);
    const purged = await expectEnd(run('purge --unselected --yes', fewer), 0, first);
    expect(purged.stderr).not.toContain(FIRST);
    expect(filesWith(folder, [FIRST])).toEqual([]);
    expect(filesWith(folder, [SECOND])).not.toEqual([]);
    expect((await run('status', fewer)).stdout).not.toContain('may still hold');
    await expectEnd(run('purge --unselected --yes', fewer), 0, 'There is nothing to do.');

    // If the field is selected again, the column is filled again.
    expect(json((await run('sync --json')).stdout)).toMatchObject({
      runs: [{ full: true, outcome: 'ok' }],
    });
    expect(filesWith(folder, [FIRST])).not.toEqual([]);
    await expectEnd(run('verify'), 0);
  });
});
