import type { SqlPlace } from './sql-target.ts';

/** Runs a statement in which `{name}` stands for a table or view as SQL names it. */
export const sqlOf =
  (stage: { readonly place: Pick<SqlPlace, 'query' | 'relation'> }) =>
  (text: string): Promise<Record<string, unknown>[]> =>
    stage.place.query(
      text.replace(/\{(\w+)\}/g, (_all, name: string) => stage.place.relation(name)),
    );

/** Drops every view of ours that shows {@link FORM}: whoever drops a column or a table has to, first. */
export async function dropViews({
  query,
  relation,
}: Pick<SqlPlace, 'query' | 'relation'>): Promise<void> {
  for (const view of ['contact_form_labelled', 'contact_form_live', 'submissions', 'answers'])
    await query(`DROP VIEW IF EXISTS ${relation(view)}`);
}
