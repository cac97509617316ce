import { describe, expect, it } from 'vitest';
import { ListedForms } from '../../src/forms/listed-forms.ts';
import type { Form } from '../../src/mirror/types.ts';

const form = (id: string, name = id): Form => ({ id, slug: id, name, fields: [] });

/** A list of forms in pages of two. */
class Workspace {
  list: Form[];
  /** Pages that were read. */
  asked: string[] = [];
  says: number | undefined;

  constructor(many: number) {
    this.list = Array.from({ length: many }, (_, n) => form(`f${n}`));
  }

  formsPage(page: number) {
    this.asked.push(String(page));
    const list = this.list.slice(2 * page - 2, 2 * page);
    const total = this.says ?? this.list.length;
    return Promise.resolve({ list, total, totalPages: Math.ceil(total / 2) });
  }

  forms() {
    this.asked.push('all');
    return Promise.resolve({ forms: [...this.list], isWhole: this.says === undefined });
  }
}

async function asked(
  workspace: Workspace,
  times: number,
  listed = new ListedForms(),
): Promise<string[]> {
  workspace.asked = [];
  for (let n = 0; n < times; n++) await listed.inTurn(workspace);
  return workspace.asked;
}

const names = async (listed: ListedForms, workspace: Workspace): Promise<string[]> =>
  (await listed.inTurn(workspace)).map(({ name }) => name);

describe('the list of forms', () => {
  it('L16: is read whole once, then one page per poll', async () => {
    const workspace = new Workspace(5);
    const listed = new ListedForms();
    expect(await asked(workspace, 6, listed)).toEqual(['all', '1', '2', '3', '1', '2']);
  });

  it('shows at once that a form was added or removed, anywhere in the list', async () => {
    const workspace = new Workspace(5);
    const listed = new ListedForms();
    await asked(workspace, 2, listed);
    workspace.list.push(form('new'));
    expect(await names(listed, workspace)).toContain('new');
    workspace.list.shift();
    expect(await names(listed, workspace)).toEqual(['f1', 'f2', 'f3', 'f4', 'new']);
  });

  it('shows a form that replaced another, and a new name, after all pages were read again', async () => {
    const workspace = new Workspace(5);
    const listed = new ListedForms();
    await asked(workspace, 1, listed);
    workspace.list = [form('f1', 'renamed'), ...workspace.list.slice(2), form('new')];
    await asked(workspace, 2, listed);
    expect((await names(listed, workspace)).toSorted()).toEqual([
      'f2',
      'f3',
      'f4',
      'new',
      'renamed',
    ]);
  });
});
