import { describe, expect, it } from 'vitest';
import type { SandboxBehaviour } from '../../src/sandbox/forms-api/behaviour.ts';
import { FormsStore } from '../../src/sandbox/forms-api/store.ts';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

interface Pass {
  readonly form: string;
  readonly outcome: string;
  readonly inserted: number;
  readonly error: string | null;
}

/** A workspace with these numbers of submissions in its forms. */
async function open(counts: readonly number[], behaviour: Partial<SandboxBehaviour>) {
  const store = new FormsStore({ seed: 5 });
  const submit = (nth: number): void => {
    store.insert({ formId: `form-${nth}`, data: { [`field_1_${nth}`]: 'x' } });
  };
  for (const [nth, count] of counts.entries()) {
    const field = { id: `field_1_${nth}`, label: 'Answer' };
    store.addForm({ id: `form-${nth}`, name: `Form ${nth}`, slug: `slug-${nth}`, fields: [field] });
    for (let each = 0; each < count; each++) submit(nth);
  }
  const place = await openPlace({ store, behaviour });
  const sync = async (...options: string[]): Promise<{ code: number; passes: Pass[] }> => {
    const { code, stdout } = await runCli(['sync', '--json', ...options], place.env);
    const { passes } = JSON.parse(stdout) as { passes: Pass[] };
    return { code, passes: passes.toSorted((a, b) => (a.form < b.form ? -1 : 1)) };
  };
  const rows = (): number[] =>
    counts.map((_count, nth) => {
      const [found] = place.rows(`SELECT count(*) AS n FROM slug_${nth}`);
      return Number(found?.['n']);
    });
  return { ...place, store, submit, sync, rows };
}

describe('a source that ignores formId', () => {
  const IGNORES = { formFilter: 'ignored' } as const;
  const incomplete = {
    outcome: 'incomplete',
    inserted: 0,
    error: expect.stringContaining('formId is ignored') as string,
  };

  it.each(['shown', 'absent'] as const)(
    'L3: has nothing stored, and no run ends well, where the formId of items is %s',
    async (shownFormId) => {
      const place = await open([3, 2], { ...IGNORES, shownFormId });
      for (const options of [[], [], ['--full'], ['--form', 'slug-1']]) {
        const { code, passes } = await place.sync(...options);
        expect([code, new Set(passes.map(({ outcome }) => outcome))]).toEqual([
          1,
          new Set(['incomplete']),
        ]);
        for (const pass of passes) expect(pass).toMatchObject(incomplete);
      }
      expect(place.rows()).toEqual([0, 0]);
      expect((await runCli(['status'], place.env)).code).toBe(1);
      place.sandbox.behave({ formFilter: 'honoured' });
      expect((await place.sync()).code).toBe(0);
      expect(place.rows()).toEqual([3, 2]);
    },
  );

  it('L3: is found out when the first submission comes into an empty workspace', async () => {
    const place = await open([0, 0], { ...IGNORES, shownFormId: 'absent' });
    expect((await place.sync()).code).toBe(0);
    place.submit(1);
    const { code, passes } = await place.sync();
    expect([code, passes]).toMatchObject([1, [incomplete, incomplete]]);
    expect(place.rows()).toEqual([0, 0]);
  });

  it('L3: has nothing of others put into what was copied before it began to', async () => {
    const place = await open([3, 2], { shownFormId: 'absent' });
    expect((await place.sync()).code).toBe(0);
    place.sandbox.behave(IGNORES);
    expect((await place.sync('--full')).code).toBe(1);
    expect(place.rows()).toEqual([3, 2]);
  });

  it.each([[[3, 0]], [[0, 2]], [[3, 2, 4]]])(
    'L1: is told from one that honours it, with %j submissions in the forms and none says whose it is',
    async (counts) => {
      const place = await open(counts, { shownFormId: 'absent' });
      expect((await place.sync()).code).toBe(0);
      expect(place.rows()).toEqual(counts);
      place.submit(0);
      expect((await place.sync()).code).toBe(0);
      expect((await runCli(['verify'], place.env)).code).toBe(0);
    },
  );
});
