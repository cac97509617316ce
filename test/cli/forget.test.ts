import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { runCli, startCli } from '../support/cli-host.ts';
import { filesWith } from '../support/leaks.ts';
import { openMirrored, SLUG } from '../support/mirrored-form.ts';

/** Answers that occur nowhere else. */
const NAME = 'Žofie Nezapomenutelná-Quxová';
const NOTE = 'a remark that nobody else would make 71f3';
const json = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

describe('L18: forget', () => {
  it('removes a submission permanently: no byte of its answers is left, and no run brings it back', async () => {
    const { id, place, env, folder } = await openMirrored([NAME, NOTE], 60);
    expect(filesWith(folder, [NAME, NOTE])).not.toEqual([]);
    const forgot = await runCli(['forget', id, '--yes'], env);
    expect([forgot.code, forgot.stdout]).toEqual([
      0,
      expect.stringContaining(`✓ ${SLUG} → default: remove 1 submission, forget 1: done`),
    ]);
    expect(forgot.stderr).not.toContain(id);
    expect(forgot.stderr).toContain('"command":"forget"');
    expect(filesWith(folder, [NAME, NOTE, id])).toEqual([]);
    for (const args of [['sync'], ['sync', '--full']]) {
      const pass = await runCli([...args, '--json'], env);
      expect([pass.code, json(pass.stdout)]).toMatchObject([
        0,
        { runs: [{ outcome: 'ok', inserted: 0, rejected: 0, reasons: [] }] },
      ]);
    }
    expect(place.rows('SELECT count(*) AS n FROM customer_feedback')).not.toEqual([{ n: 0 }]);
    expect(filesWith(folder, [NAME, NOTE, id])).toEqual([]);
    const verified = await runCli(['verify', '--json'], env);
    expect([verified.code, json(verified.stdout)]).toMatchObject([
      0,
      { same: true, forms: [{ outcome: 'same', forgotten: 1, missing: { count: 0 } }] },
    ]);
    const explained = await runCli(['explain', id], env);
    expect(explained.stdout).toContain('default: forgotten');
    expect(explained.stdout).not.toContain(NAME);
  });

  it('changes nothing with --dry-run, nor if the person says no, nor without a terminal', async () => {
    const { id, place, env } = await openMirrored([NAME, NOTE], 60);
    const held = (): unknown =>
      place.rows(`SELECT count(*) AS n FROM customer_feedback WHERE id = '${id}'`);
    const dry = await runCli(['forget', id, '--dry-run'], env);
    expect(dry).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('remove 1 submission'),
    });
    const unasked = await runCli(['forget', id], env);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    const asked: string[] = [];
    const answer = (text: string) => (question: string) => {
      asked.push(question);
      return Promise.resolve(text);
    };
    expect((await startCli(['forget', id], env, false, answer('')).done).code).toBe(1);
    expect(held()).toEqual([{ n: 1 }]);
    expect((await startCli(['forget', id], env, false, answer('y')).done).code).toBe(0);
    expect(asked).toEqual([expect.stringContaining('1 submission'), expect.any(String)]);
    expect(held()).toEqual([{ n: 0 }]);
  });

  it('--undo lets it come back with the next run, which reads everything', async () => {
    const { id, place, env } = await openMirrored([NAME, NOTE], 60);
    await runCli(['forget', id, '--yes'], env);
    const unasked = await runCli(['forget', '--undo', id], env);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect((await runCli(['sync', '--full'], env)).code).toBe(0);
    expect(place.rows(`SELECT id FROM customer_feedback WHERE id = '${id}'`)).toEqual([]);
    const undone = await runCli(['forget', '--undo', id, '--yes'], env);
    expect(undone).toMatchObject({ code: 0, stdout: expect.stringContaining('come back') });
    expect(json((await runCli(['sync', '--json'], env)).stdout)).toMatchObject({
      runs: [{ full: true, outcome: 'ok', inserted: 1 }],
    });
    expect(place.rows(`SELECT id FROM customer_feedback WHERE id = '${id}'`)).toEqual([{ id }]);
  });

  it('reaches every target, whether the source answers or not; a target that refuses delays no other', async () => {
    const { id, place, env, folder } = await openMirrored([NAME, NOTE], 60);
    const [one, two] = [join(folder, 'one.sqlite'), join(folder, 'two.sqlite')];
    const both = {
      ...env,
      TARGETS: 'one,two',
      TARGET_ONE_URL: `sqlite:${one}`,
      TARGET_TWO_URL: `sqlite:${two}`,
    };
    expect((await runCli(['sync', '--full'], both)).code).toBe(0);
    place.sandbox.store.delete(id);
    const forgot = await runCli(['forget', id, '--yes'], both);
    for (const target of ['one', 'two'])
      expect(forgot.stdout).toContain(`→ ${target}: remove 1 submission, forget 1: done`);
    const others = filesWith(folder, [NAME]).filter((file) => !file.startsWith(place.file));
    expect(others).toEqual([]);
    const denied = { ...both, TARGET_ONE_URL: `sqlite:${join(place.file, 'nowhere.sqlite')}` };
    const half = await runCli(['forget', id, '--form', SLUG, '--yes'], denied);
    expect(half.stdout).toContain(
      '✓ customer-feedback → two: remove 0 submissions, forget 1: done',
    );
    expect([half.code, half.stdout]).toEqual([
      1,
      expect.stringMatching(/✗ customer-feedback → one: .*\(TARGET_/),
    ]);
  });

  it('reports an unknown ID, and trusts --form', async () => {
    const { place, env } = await openMirrored([NAME, NOTE], 60);
    const unknown = async (changes = {}): Promise<string> => {
      const args = ['forget', 'sub_nobody_knows', '--yes'];
      const { code, stdout } = await runCli(args, { ...env, ...changes });
      expect([code, stdout]).toEqual([1, expect.stringContaining('--form')]);
      return stdout;
    };
    expect(await unknown()).toContain('neither the source nor a target has it.');
    // L17: a part that does not answer may have it.
    const refused = await unknown({ FORMS_API_KEY: 'revoked_key_1234567890' });
    expect(refused).toMatch(
      /the key was refused.*\n.*: it was not found, and not all could be asked\. /,
    );
    const away = { TARGET_URL: 'postgres://nobody@127.0.0.1:1/x?sslmode=disable' };
    expect(await unknown(away)).toContain('not all could be asked');
    expect(await unknown({ FORMS_API_URL: '', FORMS_API_KEY: '' })).toContain(
      'sub_nobody_knows: no target has it.',
    );
    const { store } = place.sandbox;
    const formId = store.formBySlug(SLUG)?.id ?? '';
    const named = await runCli(['forget', 'sub_to_come', '--form', SLUG, '--yes'], env);
    expect(named.code).toBe(0);
    store.insert({ formId, id: 'sub_to_come', data: {} });
    expect((await runCli(['sync'], env)).code).toBe(0);
    expect(place.rows("SELECT id FROM customer_feedback WHERE id = 'sub_to_come'")).toEqual([]);
  });

  it('L13: waits for a run that holds the form, and changes nothing before', async () => {
    const { id, place, env } = await openMirrored([NAME, NOTE], 60);
    const held = (): number =>
      place.rows(`SELECT id FROM customer_feedback WHERE id = '${id}'`).length;
    await using store = await parseTargetUrl(`sqlite:${place.file}`).open('default');
    const [stored] = await store.states();
    const formId = stored?.state.formId ?? '';
    const writer = await store.open({ id: formId, slug: formId, name: formId });
    const running = startCli(['forget', id, '--yes'], env);
    await vi.waitFor(() => expect(running.stdout.text).toContain('remove 1 submission'), {
      timeout: 60_000,
    });
    expect(held()).toBe(1);
    await writer[Symbol.asyncDispose]();
    expect((await running.done).code).toBe(0);
    expect(held()).toBe(0);
  });
});
