import { MirrorError } from '../../../base/errors.ts';
import { viewLabels } from '../../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../../mirror/reserved-names.ts';
import type { FormSnapshot, SnapshotColumn } from '../../../mirror/snapshot.ts';
import type { Cell } from '../../../mirror/types.ts';
import type { ResultRow } from './bigquery-values.ts';
import { heldForm } from './table-reads.ts';
import type { FormState } from './form-state.ts';
import type { Store } from './store.ts';
import { answersOf } from './table-reads.ts';

/** Rows of one piece. */
const ROWS_A_PIECE = 1_000;

/** One form as it is now: a query whose result is of one instant, rows by date, those that are marked deleted last. */
export async function formSnapshot(store: Store, state: FormState): Promise<FormSnapshot> {
  const table = state.table === null ? undefined : await store.jobs.table(state.table);
  const held = heldForm(store, state, table);
  if (held === undefined) {
    throw new MirrorError(
      'TARGET_FAILED',
      `${store.place}: the table ${store.shownRelation(state.table ?? '')} is not there any more, or has lost its columns. The next pass makes it again and reads everything.`,
    );
  }
  const answers = answersOf(held, state.fields);
  const labels = viewLabels(state.fields, SYSTEM_COLUMNS, Number.POSITIVE_INFINITY);
  const system = SYSTEM_COLUMNS.filter((name) => held.present.has(name));
  const [before, after] = [
    system.filter((name) => !name.startsWith('_')),
    system.filter((name) => name.startsWith('_')),
  ];
  const columns: SnapshotColumn[] = [
    ...before.map((name) => ({ name, label: name })),
    ...state.fields.map(({ column }, at) => ({ name: column, label: labels[at] ?? column })),
    ...after.map((name) => ({ name, label: name })),
  ];
  const select = [...system.map((name) => `t.${name}`), ...answers.columns];
  // By names of the result: among these `t` may be a field's.
  const order = [
    ...(held.present.has('_deleted_at') ? ['_deleted_at IS NOT NULL'] : []),
    ...(held.present.has('created_at') ? ['created_at IS NULL', 'created_at'] : []),
    'id',
  ];
  // Its result stays as it is for a day; pages of it are fetched as they are asked for (L14).
  const result = await store.open({
    sql: `SELECT ${select.join(', ')} FROM ${held.relation} AS t ORDER BY ${order.join(', ')}`,
    parameters: {},
  });
  const cellsOf = (row: ResultRow): Cell[] => [
    ...before.map((name) => row[name] ?? null),
    ...answers.decode(row),
    ...after.map((name) => row[name] ?? null),
  ];
  return {
    columns,
    isOneInstant: true,
    async *rows({ withDeleted }) {
      const pages = result.pages()[Symbol.asyncIterator]();
      for (;;) {
        const page = await store.guarded(() => pages.next());
        if (page.done === true) return;
        const isWanted = (row: ResultRow): boolean =>
          withDeleted || (row['_deleted_at'] ?? null) === null;
        const rows = page.value.filter(isWanted);
        for (let at = 0; at < rows.length; at += ROWS_A_PIECE)
          yield rows.slice(at, at + ROWS_A_PIECE).map(cellsOf);
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}
