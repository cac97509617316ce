import type { Form } from '../mirror/types.ts';
import type { Source } from './source.ts';

/**
 * The forms of a workspace, for a process that reads their list repeatedly. {@link all} reads it whole. {@link inTurn} reads one
 * page, in turn, and the whole list if that page shows that forms came or went: its total differs, or it has an unknown form. So a
 * form that came or went is seen at once, unless another one made up for it. That, and changes of a form, are seen after as many
 * reads as the list has pages. Both reject as the source does.
 */
export class ListedForms {
  /** As last read; undefined if the list must be read whole, because it was not read yet or does not show as many forms as it says. */
  #known: Map<string, Form> | undefined;
  /** The page whose turn it is, and how many forms the pages before it have shown. */
  #turn = { page: 1, before: 0 };

  /** Every form, in the order of the list. */
  async all(source: Pick<Source, 'forms'>): Promise<readonly Form[]> {
    this.#known = undefined;
    const { forms, isWhole } = await source.forms();
    if (isWhole && forms.length > 0) this.#known = new Map(forms.map((form) => [form.id, form]));
    this.#turn = { page: 1, before: 0 };
    return forms;
  }

  /** The same, with one request if nothing has changed. */
  async inTurn(source: Pick<Source, 'forms' | 'formsPage'>): Promise<readonly Form[]> {
    const known = this.#known;
    if (known === undefined) return this.all(source);
    const { page, before } = this.#turn;
    const { list, total } = await source.formsPage(page);
    const isAsKnown = list.length > 0 && list.every(({ id }) => known.has(id));
    if (total !== known.size || !isAsKnown) return this.all(source);
    for (const form of list) known.set(form.id, form);
    const shown = before + list.length;
    this.#turn = shown < total ? { page: page + 1, before: shown } : { page: 1, before: 0 };
    return [...known.values()];
  }
}
