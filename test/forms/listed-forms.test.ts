import { describe, expect, it } from 'vitest';
import { ListedForms } from '../../src/forms/client.ts';
import type { Form } from '../../src/mirror/types.ts';

const form = (id: string, name = id): Form => ({ id, slug: id, name, fields: [] });

/** A list of forms in pages of two. */
class Workspace {
  forms: Form[];
  /** Pages that were read. */
  asked: string[] = [];
  says: number | undefined;

  constructor(many: number) {
    this.forms = Array.from({ length: many }, (_, n) => form(`f${n}`));
  }

  formsPage(page: number) {
    this.asked.push(String(page));
    const list = this.forms.slice(2 * page - 2, 2 * page);
    const total = this.says ?? this.forms.length;
    return Promise.resolve({ list, total, totalPages: Math.ceil(total / 2) });
  }

  listForms() {
    this.asked.push('all');
    return Promise.resolve({ forms: [...this.forms], isWhole: this.says === undefined });
  }
}

async function asked(workspace: Workspace, listed: ListedForms, times: number): Promise<string[]> {
  workspace.asked = [];
  for (let n = 0; n < times; n++) await listed.inTurn({});
  return workspace.asked;
}

const names = async (listed: ListedForms): Promise<string[]> =>
  (await listed.inTurn({})).map(({ name }) => name);

describe('the list of forms', () => {
  it('L16: is read whole once, then one page in turn', async () => {
    const workspace = new Workspace(5);
    const listed = new ListedForms(workspace);
    expect(await asked(workspace, listed, 6)).toEqual(['all', '1', '2', '3', '1', '2']);
  });

  it('shows a form that came, and one that went, at once, wherever in the list', async () => {
    const workspace = new Workspace(5);
    const listed = new ListedForms(workspace);
    await asked(workspace, listed, 2);
    workspace.forms.push(form('new'));
    expect(await names(listed)).toContain('new');
    workspace.forms.shift();
    expect(await names(listed)).toEqual(['f1', 'f2', 'f3', 'f4', 'new']);
  });

  it('shows a form that took the place of another, and a new name, when all pages have had their turn', async () => {
    const workspace = new Workspace(5);
    const listed = new ListedForms(workspace);
    await asked(workspace, listed, 1);
    workspace.forms = [form('f1', 'renamed'), ...workspace.forms.slice(2), form('new')];
    await asked(workspace, listed, 2);
    expect((await names(listed)).toSorted()).toEqual(['f2', 'f3', 'f4', 'new', 'renamed']);
  });
});
