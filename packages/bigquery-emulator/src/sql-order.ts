import { columnName } from './emit.ts';
import type { ResolvedNode } from './resolved-node.ts';

/** The keys of an ORDER BY: NULL is first ascending and last descending. */
export function orderSql(items: readonly ResolvedNode[]): string {
  const keys = items.map((item) => {
    item.only('columnRef', 'isDescending', 'nullOrder');
    const key = columnName(item.child('columnRef').column().id);
    return `${key} ${item.flag('isDescending') ? 'DESC NULLS LAST' : 'ASC NULLS FIRST'}`;
  });
  return keys.join(', ');
}
