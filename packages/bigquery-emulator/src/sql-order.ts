import { columnName } from './emit.ts';
import type { ResolvedNode } from './resolved-node.ts';

/** The keys of an ORDER BY: NULL comes first ascending and last descending unless the statement says otherwise. */
export function orderSql(items: readonly ResolvedNode[]): string {
  const keys = items.map((item) => {
    item.only('columnRef', 'isDescending', 'nullOrder');
    const key = columnName(item.child('columnRef').column().id);
    const isDescending = item.flag('isDescending');
    const mode = item.text('nullOrder');
    const first = mode === 'NULLS_FIRST' || (mode !== 'NULLS_LAST' && !isDescending);
    return `${key} ${isDescending ? 'DESC' : 'ASC'} NULLS ${first ? 'FIRST' : 'LAST'}`;
  });
  return keys.join(', ');
}
