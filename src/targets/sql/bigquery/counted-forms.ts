import { REJECTED } from './catalogue-shapes.ts';
import type { FormState } from './form-state.ts';
import type { PresentTable } from './present-tables.ts';

/** What tells of a table that it changed, by the names of tables. */
type Marks = (table: string) => PresentTable['mark'];

/**
 * Forms whose rows this process has counted and found to be as stored. As long as neither their tables nor what is kept of them
 * has changed, counting them again, which is billed, would find the same.
 */
export class CountedForms {
  readonly #marks = new Map<string, string>();

  /** A form was counted, and nothing was lost; `marks`: from before that. */
  add(formId: string, state: FormState, marks: Marks): void {
    const mark = markOfForm(state, marks);
    if (mark !== undefined) this.#marks.set(formId, mark);
  }

  /** Whether it is as it was counted. */
  has(formId: string, state: FormState, marks: Marks): boolean {
    const mark = this.#marks.get(formId);
    return mark !== undefined && mark === markOfForm(state, marks);
  }
}

/** Of all that losses are found in; undefined where something does not tell. */
function markOfForm({ table, counts }: FormState, marks: Marks): string | undefined {
  const tables = [table ?? '', ...(counts.rejected > 0 ? [REJECTED] : [])].map(marks);
  if (tables.includes(undefined)) return undefined;
  return JSON.stringify([counts.rows, counts.live, counts.rejected, ...tables]);
}
