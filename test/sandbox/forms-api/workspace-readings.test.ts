import { afterEach, describe, expect, it } from 'vitest';
import type { SandboxBehaviour } from '../../../src/sandbox/forms-api/behaviour.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/forms-api/sandbox.ts';
import { FormsStore } from '../../../src/sandbox/forms-api/store.ts';
import { call, get } from './caller.ts';

// L3: each reading of a list without `formId` can be had, and differs from the others.

let sandbox: Sandbox;

/** A sandbox whose one form has two submissions. */
async function serve(
  behaviour: Partial<SandboxBehaviour>,
): Promise<{ store: FormsStore; formId: string; ids: string[] }> {
  const store = new FormsStore({ seed: 'workspace' });
  const { id: formId } = store.addForm({ name: 'Form' });
  for (let n = 0; n < 2; n++) store.insert({ formId, data: {} });
  sandbox = await startSandbox({ store, behaviour });
  return { store, formId, ids: store.ids() };
}

afterEach(() => sandbox.stop());

describe('the list of the whole workspace', () => {
  it('is refused or empty without formId', async () => {
    const { formId } = await serve({ workspaceList: 'refused' });
    const { status, json } = await call(sandbox, 'GET', '/submissions');
    expect([status, json.fields[0]?.field]).toEqual([400, 'formId']);
    expect((await get(sandbox, `/submissions?formId=${formId}`)).total).toBe(2);
    sandbox.behave({ workspaceList: 'empty' });
    expect(await get(sandbox, '/submissions')).toMatchObject({ items: [], total: 0 });
    expect((await get(sandbox, `/submissions?formId=${formId}`)).total).toBe(2);
  });

  it('shows every status whatever is asked for, or refuses to be asked, without formId', async () => {
    const { store, formId, ids } = await serve({ workspaceStatus: 'ignored' });
    store.setStatus(ids[0]!, 'DONE');
    expect((await get(sandbox, '/submissions?status=DONE')).total).toBe(2);
    expect((await get(sandbox, `/submissions?formId=${formId}&status=DONE`)).total).toBe(1);
    sandbox.behave({ workspaceStatus: 'refused' });
    const { status, json } = await call(sandbox, 'GET', '/submissions?status=DONE');
    expect([status, json.fields[0]?.field]).toEqual([400, 'status']);
    expect((await get(sandbox, `/submissions?formId=${formId}&status=DONE`)).total).toBe(1);
  });
});
