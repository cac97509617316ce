import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli-host.ts';
import { LookPlace } from '../support/look-place.ts';

interface Document {
  readonly passes: readonly {
    readonly form: string;
    readonly target: string;
    readonly kind: string;
    readonly outcome: string;
    readonly updated: number;
    readonly requests: number;
  }[];
  readonly marks: readonly unknown[];
  readonly look: { readonly requests: number } | null;
}

/** A workspace of six forms that a first sync has mirrored, and `sync` with these arguments. */
async function openSynced(settings: (place: LookPlace) => Record<string, string> = () => ({})) {
  const place = await LookPlace.open({ each: 30 });
  const env = { ...place.env, ...settings(place) };
  const sync = async (...args: string[]): Promise<Document & { code: number }> => {
    const { code, stdout } = await runCli(['sync', '--json', ...args], env);
    return { ...(JSON.parse(stdout) as Document), code };
  };
  expect((await sync()).code).toBe(0);
  const visited = ({ passes }: Document): string[] =>
    passes.flatMap(({ form, target, requests }) => (requests > 0 ? [`${form} → ${target}`] : []));
  return { place, sync, visited };
}

describe('sync looks first', () => {
  it('L16: a quiet one takes seven requests besides the list of forms, and reports every form', async () => {
    const { sync, place } = await openSynced();
    const before = place.sandbox.requests.length;
    const quiet = await sync();
    expect([quiet.code, quiet.look?.requests, quiet.passes.length]).toEqual([0, 7, 6]);
    expect(place.sandbox.requests.length - before).toBe(8);
    for (const pass of quiet.passes) {
      expect(pass).toMatchObject({ kind: 'incremental', outcome: 'ok', requests: 0 });
    }
  });

  it('asks each form once, where the workspace can not be asked as a whole', async () => {
    const { sync, place } = await openSynced();
    place.sandbox.behave({ workspaceStatus: 'ignored' });
    // The newest page, counts that mean nothing, and seven of each form.
    expect((await sync()).look?.requests).toBeLessThanOrEqual(8 + 6 * 7);
  });

  it('L16: visits the forms that differ, and says what it changed there', async () => {
    const { sync, visited, place } = await openSynced();
    place.store.setStatus(place.oldest('f2'), 'PAID');
    const tick = await sync();
    expect([visited(tick), tick.passes.find(({ form }) => form === 'f2')?.updated]).toEqual([
      ['f2 → default'],
      1,
    ]);
    expect(place.differences()).toEqual([]);
  });

  it('--form visits that form in any case, and compares its counts', async () => {
    const { sync, visited, place } = await openSynced();
    place.store.setStatus(place.oldest('f2'), 'PAID');
    place.store.setStatus(place.oldest('f3'), 'PAID');
    const one = await sync('--form', 'f2');
    expect([visited(one), one.look, one.passes[0]?.updated]).toEqual([['f2 → default'], null, 1]);
    expect(place.differences()).toHaveLength(1);
    expect(visited(await sync('--form', 'f2'))).toEqual(['f2 → default']);
  });

  it('--full reads every form, and --target looks at one target alone', async () => {
    const { sync, visited, place } = await openSynced((at) => at.two() as Record<string, string>);
    const full = await sync('--full');
    expect([full.look, new Set(full.passes.map(({ kind }) => kind))]).toEqual([
      null,
      new Set(['full']),
    ]);
    place.submit('f4');
    expect(visited(await sync('--target', 'b'))).toEqual(['f4 → b']);
    expect(visited(await sync())).toEqual(['f4 → a']);
  });

  it('--dry-run compares every form and writes nothing, so that the next one finds the same', async () => {
    const { sync, visited, place } = await openSynced();
    place.store.setStatus(place.oldest('f2'), 'PAID');
    expect(visited(await sync('--dry-run'))).toHaveLength(6);
    expect(place.differences()).toHaveLength(1);
    expect(visited(await sync())).toEqual(['f2 → default']);
    expect(place.differences()).toEqual([]);
  });

  it('L17: a key that is refused ends it, as it ends everything', async () => {
    const { place } = await openSynced();
    const { code, stderr } = await runCli(['sync'], { ...place.env, FORMS_API_KEY: 'wrong' });
    expect([code, stderr]).toEqual([1, expect.stringContaining('401')]);
  });
});
