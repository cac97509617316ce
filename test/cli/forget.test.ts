import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectEnd, startCli } from '../support/cli-host.ts';
import { filesWith } from '../support/leaks.ts';
import { openMirrored, SLUG } from '../support/mirrored-form.ts';

/** Answers that occur nowhere else. */
const NAME = 'Žofie Nezapomenutelná-Quxová';
const NOTE = 'a remark that nobody else would make 71f3';
const json = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

/** A mirrored form, and whether its target holds a submission. */
async function open() {
  const mirrored = await openMirrored([NAME, NOTE], 60);
  const { id, place } = mirrored;
  const isHeld = (one = id): boolean =>
    place.rows(`SELECT id FROM customer_feedback WHERE id = '${one}'`).length > 0;
  return { ...mirrored, isHeld };
}

describe('L18: forget', () => {
  it('removes a submission permanently: no byte of its answers is left, and no run brings it back', async () => {
    const { id, place, run, folder } = await open();
    expect(filesWith(folder, [NAME, NOTE])).not.toEqual([]);
    const done = `✓ ${SLUG} → default: remove 1 submission, forget 1: done`;
    const forgot = await expectEnd(run(`forget ${id} --yes`), 0, done);
    expect(forgot.stderr).not.toContain(id);
    expect(forgot.stderr).toContain('"command":"forget"');
    expect(filesWith(folder, [NAME, NOTE, id])).toEqual([]);
    for (const command of ['sync --json', 'sync --full --json']) {
      expect(json((await expectEnd(run(command), 0)).stdout)).toMatchObject({
        runs: [{ outcome: 'ok', inserted: 0, rejected: 0, reasons: [] }],
      });
    }
    expect(place.rows('SELECT count(*) AS n FROM customer_feedback')).not.toEqual([{ n: 0 }]);
    expect(filesWith(folder, [NAME, NOTE, id])).toEqual([]);
    expect(json((await expectEnd(run('verify --json'), 0)).stdout)).toMatchObject({
      same: true,
      forms: [{ outcome: 'same', forgotten: 1, missing: { count: 0 } }],
    });
    const explained = await run(`explain ${id}`);
    expect(explained.stdout).toContain('default: forgotten');
    expect(explained.stdout).not.toContain(NAME);
  });

  it('changes nothing with --dry-run, nor if the person says no, nor without a terminal', async () => {
    const { id, env, run, isHeld } = await open();
    await expectEnd(run(`forget ${id} --dry-run`), 0, 'remove 1 submission');
    expect(await run(`forget ${id}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes'),
    });
    const asked: string[] = [];
    const answering = (text: string) =>
      startCli(['forget', id], env, false, async (question) => {
        asked.push(question);
        return text;
      }).done;
    await expectEnd(answering(''), 1);
    expect(isHeld()).toBe(true);
    await expectEnd(answering('y'), 0);
    expect(asked).toEqual([expect.stringContaining('1 submission'), expect.any(String)]);
    expect(isHeld()).toBe(false);
  });

  it('--undo lets it come back with the next run, which reads everything', async () => {
    const { id, run, isHeld } = await open();
    await run(`forget ${id} --yes`);
    expect(await run(`forget --undo ${id}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes'),
    });
    await expectEnd(run('sync --full'), 0);
    expect(isHeld()).toBe(false);
    await expectEnd(run(`forget --undo ${id} --yes`), 0, 'come back');
    expect(json((await run('sync --json')).stdout)).toMatchObject({
      runs: [{ full: true, outcome: 'ok', inserted: 1 }],
    });
    expect(isHeld()).toBe(true);
  });

  it('reaches every target, whether the source answers or not; a target that refuses delays no other', async () => {
    const { id, place, run, folder } = await open();
    const both = {
      TARGETS: 'one,two',
      TARGET_ONE_URL: `sqlite:${join(folder, 'one.sqlite')}`,
      TARGET_TWO_URL: `sqlite:${join(folder, 'two.sqlite')}`,
    };
    await expectEnd(run('sync --full', both), 0);
    place.sandbox.store.delete(id);
    const forgot = await run(`forget ${id} --yes`, both);
    for (const target of ['one', 'two'])
      expect(forgot.stdout).toContain(`→ ${target}: remove 1 submission, forget 1: done`);
    const others = filesWith(folder, [NAME]).filter((file) => !file.startsWith(place.file));
    expect(others).toEqual([]);
    const denied = { ...both, TARGET_ONE_URL: `sqlite:${join(place.file, 'nowhere.sqlite')}` };
    await expectEnd(
      run(`forget ${id} --form ${SLUG} --yes`, denied),
      1,
      '✓ customer-feedback → two: remove 0 submissions, forget 1: done',
      /✗ customer-feedback → one: .*\(TARGET_/,
    );
  });

  it('reports an unknown ID, and trusts --form', async () => {
    const { place, run, isHeld } = await open();
    const unknown = 'forget sub_nobody_knows --yes';
    await expectEnd(run(unknown), 1, '--form', 'Nothing that could be asked has sub_');
    // L17: a part that does not answer may have it.
    await expectEnd(
      run(unknown, { FORMS_API_KEY: 'revoked_key_1234567890' }),
      1,
      '--form',
      /the key was refused.*\n.*Nothing that could be asked has sub_/,
    );
    const away = { TARGET_URL: 'postgres://nobody@127.0.0.1:1/x?sslmode=disable' };
    await expectEnd(
      run(unknown, away),
      1,
      '--form',
      /does not answer.*\n.*Nothing that could be asked/,
    );
    const unset = { FORMS_API_URL: '', FORMS_API_KEY: '' };
    await expectEnd(
      run(unknown, unset),
      1,
      '--form',
      'Nothing that could be asked has sub_nobody_knows.',
    );
    const { store } = place.sandbox;
    const formId = store.formBySlug(SLUG)?.id ?? '';
    await expectEnd(run(`forget sub_to_come --form ${SLUG} --yes`), 0);
    store.insert({ formId, id: 'sub_to_come', data: {} });
    await expectEnd(run('sync'), 0);
    expect(isHeld('sub_to_come')).toBe(false);
  });

  it('L17: says that it remembers nothing of a form that no target mirrors, and what to do', async () => {
    const { id, place, run } = await open();
    const other = place.sandbox.store.forms().find(({ slug }) => slug !== SLUG);
    const [far = ''] = place.sandbox.store.ids(other?.id ?? '');
    const said = `✗ Nothing was remembered for ${far}: its form "${other?.name}" (${other?.id}) is not mirrored in default.`;
    const alone = await expectEnd(run(`forget ${far} --yes`), 1, 'TARGET_FORMS');
    expect(alone.stdout).toContain(said);
    expect(alone.stdout).not.toContain('nothing to do');
    const both = await expectEnd(run(`forget ${id} ${far} --yes`), 1, 'forget 1: done');
    expect(both.stdout).toContain(said);
    // As the message says.
    const more = { TARGET_FORMS: `${SLUG},${other?.id}` };
    await expectEnd(run(`forget ${far} --yes`, more), 0, 'forget 1: done');
    await expectEnd(run('sync', more), 0);
    expect(filesWith(dirname(place.file), [far])).toEqual([]);
  });
});
