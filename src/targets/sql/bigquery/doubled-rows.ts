import type { FormHold } from './form-hold.ts';
import { listParameter } from './sql-text.ts';
import type { HeldForm } from './table-reads.ts';

/** IDs whose rows one script makes one. */
const IDS_A_SCRIPT = 5_000;

/**
 * Leaves one row of those that people doubled, the one that was changed last: nothing in BigQuery keeps an ID from standing in a table
 * twice. Whether there were any.
 */
export async function removeDoubles(hold: FormHold, held: HeldForm): Promise<boolean> {
  const { store } = hold;
  for (let rounds = 0; ; rounds++) {
    const doubled = await store.query({
      sql: `SELECT t.id FROM ${held.relation} AS t WHERE t.id IS NOT NULL GROUP BY t.id HAVING COUNT(*) > 1 LIMIT ${IDS_A_SCRIPT}`,
      parameters: {},
    });
    if (doubled.length === 0) return rounds > 0;
    const newest = held.present.has('_changed_at') ? '_d._changed_at DESC' : '_d.id';
    // `_d`, as a field's column may be called `d`, and would be meant then.
    await hold.commit(hold.state, [
      {
        sql: `MERGE ${held.relation} AS t USING (
           SELECT _d.* FROM ${held.relation} AS _d WHERE _d.id IN UNNEST(@doubled)
           QUALIFY ROW_NUMBER() OVER (PARTITION BY _d.id ORDER BY ${newest}) = 1) AS s ON FALSE
         WHEN NOT MATCHED BY SOURCE AND t.id IN UNNEST(@doubled) THEN DELETE
         WHEN NOT MATCHED BY TARGET THEN INSERT ROW`,
        parameters: { doubled: listParameter(doubled.map((row) => row['id'] ?? '')) },
        mutates: held.table,
      },
    ]);
  }
}
