import type { Store } from '../../../src/core/mirror/port.ts';
import type { Target } from '../../../src/mirror/target.ts';
import type { FormIdentity, PickedField, Row } from '../../../src/mirror/types.ts';

/** A target of either core, as far as rows are written into it. */
export interface RowTarget extends AsyncDisposable {
  write(
    form: FormIdentity,
    fields: readonly PickedField[],
    batches: Iterable<readonly Row[]>,
  ): Promise<void>;
}

/** Rows that a run of the new core stores at a time. */
export const BATCH_ROWS = 2_000;

export function rowTarget(opened: Target | Store): RowTarget {
  const dispose = { [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
  if (!('putRecord' in opened))
    return {
      ...dispose,
      async write(form, fields, batches) {
        await using writer = await opened.openWriter(form, { waitMs: 0 });
        await writer.prepare(fields);
        for (const rows of batches) await writer.apply(rows, []);
      },
    };
  return {
    ...dispose,
    async write(form, fields, batches) {
      await using open = await opened.open(form, 'write');
      const listed = fields.map(({ id, label }) => ({ id, label }));
      await open.prepare({ ...form, fields: listed }, fields);
      for (const rows of batches) await open.commit({ rows });
      await open.finish();
    },
  };
}
