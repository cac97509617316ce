import { describe, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import { jobHandlers } from '../../src/cli/job-handlers.ts';
import { LookPlace } from '../support/look-place.ts';

const { signal } = new AbortController();

/** One poll of a worker, and the runs that it asks for: as `form: outcome`. */
async function poll(app: App): Promise<string[]> {
  const handlers = jobHandlers(app);
  const runs: string[] = [];
  for (const { formId, found } of await handlers.plan(signal, 'incremental')) {
    for (const { target, compareCounts } of found?.passes ?? []) {
      const job = { formId, target, kind: 'incremental', compareCounts } as const;
      runs.push(`${formId}: ${await handlers.pass(job, signal)}`);
    }
  }
  return runs;
}

/** Since when the target has it that a form is gone; null: it is not. */
async function goneAt(app: App, formId: string): Promise<string | null | undefined> {
  const forms = await (await app.target('default')).heldForms();
  return forms.find(({ id }) => id === formId)?.goneAt;
}

/** Three forms, of which a worker knows each, and one was emptied: its deletions are held. */
async function emptied(): Promise<{ place: LookPlace; worker: App }> {
  const place = await LookPlace.open({ forms: 3, each: 30 });
  await place.settle();
  const worker = place.process();
  await poll(worker);
  for (const id of place.store.ids('f2')) place.store.delete(id);
  expect(await poll(worker)).toEqual(['f2: withheld']);
  await poll(worker);
  expect(await poll(worker)).toEqual([]);
  return { place, worker };
}

describe('L8, L17: a form that was emptied, and then deleted', () => {
  it('is found gone by the next poll of a worker that knows its fields, and needs no run after that', async () => {
    const { place, worker } = await emptied();
    await using app = worker;
    place.store.deleteForm('f2');
    expect(await poll(app)).toEqual(['f2: gone']);
    const at = await goneAt(app, 'f2');
    expect(at).not.toBeNull();
    for (let n = 0; n < 3; n++) expect(await poll(app)).toEqual([]);
    expect(await goneAt(app, 'f2')).toBe(at);
  });

  it('stays gone where another process found it gone', async () => {
    const { place, worker } = await emptied();
    await using app = worker;
    place.store.deleteForm('f2');
    const { passes } = await place.tick();
    expect(passes.map(({ form, outcome }) => [form.id, outcome])).toEqual([['f2', 'gone']]);
    const at = await goneAt(app, 'f2');
    for (let n = 0; n < 3; n++) expect(await poll(app)).toEqual([]);
    expect(await goneAt(app, 'f2')).toBe(at);
  });

  it('is found gone by a run of a process that has not polled since', async () => {
    const { place, worker } = await emptied();
    await using app = worker;
    place.store.deleteForm('f2');
    const job = { formId: 'f2', target: 'default', kind: 'incremental' } as const;
    expect((await app.pass(job, signal)).outcome).toBe('gone');
    expect((await app.pass(job, signal)).outcome).toBe('gone');
    expect(await goneAt(app, 'f2')).not.toBeNull();
  });

  it('is mirrored again when it comes back', async () => {
    const { place, worker } = await emptied();
    await using app = worker;
    place.store.deleteForm('f2');
    await poll(app);
    place.store.restoreForm('f2');
    place.submit('f2');
    expect(await poll(app)).toHaveLength(1);
    expect(await goneAt(app, 'f2')).toBeNull();
  });
});
