import type { FormHold } from './form-hold.ts';
import { formerStatuses } from './list-statements.ts';
import { type Statement, timeParameter } from './sql-text.ts';

/** Removes what the histories of a form tell of the time before `before`: what was true then, and since, stays. How many entries. */
export async function pruneHistories(hold: FormHold, before: string): Promise<number> {
  const { form, state, store } = hold;
  const table = store.relation('mirror_status_history');
  const { newest, isFormer, parameters } = formerStatuses(store.relation, form.id, before);
  const count = async (sql: string): Promise<number> => {
    const [row] = await store.query({ sql, parameters });
    return Number(row?.['n'] ?? 0);
  };
  const statuses = await count(
    `SELECT COUNT(*) AS n FROM ${table} AS h JOIN ${newest} AS k ON ${isFormer}`,
  );
  const statements: Statement[] = [];
  if (statuses > 0) {
    const sql = `MERGE ${table} AS h USING ${newest} AS k ON ${isFormer} WHEN MATCHED THEN DELETE`;
    statements.push({ sql, parameters, mutates: 'mirror_status_history' });
  }
  let versions = 0;
  const { history } = state;
  if (history !== null && (await store.jobs.table(history.table)) !== undefined) {
    const relation = store.relation(history.table);
    versions = await count(
      `SELECT COUNT(*) AS n FROM ${relation} AS v WHERE v._valid_to <= @before AND @form IS NOT NULL`,
    );
    if (versions > 0) {
      statements.push({
        sql: `DELETE FROM ${relation} AS v WHERE v._valid_to <= @before`,
        parameters: { before: timeParameter(before) },
        mutates: history.table,
      });
    }
  }
  if (statements.length > 0) await hold.commit(hold.state, statements);
  return statuses + versions;
}
