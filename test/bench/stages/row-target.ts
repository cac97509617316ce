import type { Store } from '../../../src/mirror/port.ts';
import type { FormIdentity, SelectedField, Row } from '../../../src/mirror/types.ts';

/** A target, as far as rows are written into it. */
export interface RowTarget extends AsyncDisposable {
  write(
    form: FormIdentity,
    fields: readonly SelectedField[],
    batches: Iterable<readonly Row[]>,
  ): Promise<void>;
}

/** Rows that a run of the new core stores at a time. */
export const BATCH_ROWS = 2_000;

export function rowTarget(opened: Store): RowTarget {
  return {
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    async write(form, fields, batches) {
      await using open = await opened.open(form, 'write');
      const listed = fields.map(({ id, label }) => ({ id, label }));
      await open.prepare({ ...form, fields: listed }, fields);
      for (const rows of batches) await open.commit({ rows });
      await open.finish();
    },
  };
}
