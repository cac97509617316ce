import type { PassRecord } from '../../../mirror/types.ts';
import type { JobParameter } from './bigquery-values.ts';
import type { FormHold } from './form-hold.ts';
import type { StateCounts } from './form-state.ts';
import { numberParameter, type Statement, textParameter, timeParameter } from './sql-text.ts';
import type { HeldForm } from './table-reads.ts';

/** What a proven pass that has met everything ends in the lists. */
export interface SettledLists {
  readonly statements: readonly Statement[];
  readonly counts: Partial<StateCounts>;
}

/** The same, and whether the pass can tell what rows have. */
export interface ProvenLists extends SettledLists {
  readonly canTell: boolean;
}

/** Reads what is over: listings of what was not met, and sent changes of status that were found made or overtaken. */
export async function settleLists(
  hold: FormHold,
  held: HeldForm | undefined,
  { startedAt, withheld }: PassRecord,
  comparedSince: string | undefined,
): Promise<ProvenLists> {
  const listings = await staleListings(hold, comparedSince);
  const canTell =
    withheld === 0 &&
    held !== undefined &&
    ['status', '_deleted_at'].every((name) => held.present.has(name));
  const marks = canTell
    ? await settledMarks(hold, held, { since: comparedSince ?? startedAt, comparedSince })
    : { statements: [], counts: {} };
  return {
    statements: [...listings.statements, ...marks.statements],
    counts: { ...listings.counts, ...marks.counts },
    canTell,
  };
}

const NOTHING: SettledLists = { statements: [], counts: {} };

/** Condition: a listing was not met by what was proven. */
const staleness = (
  epoch: number,
  comparedSince: string | undefined,
): readonly [condition: string, limit: JobParameter] =>
  comparedSince === undefined
    ? ['last_epoch <> @stale_limit', numberParameter(epoch)]
    : ['last_seen_at < @stale_limit', timeParameter(comparedSince)];

async function staleListings(
  { epoch, form, state, store }: FormHold,
  comparedSince: string | undefined,
): Promise<SettledLists> {
  if (state.counts.rejected === 0) return NOTHING;
  const table = store.relation('mirror_rejected');
  const [isStale, limit] = staleness(epoch, comparedSince);
  const parameters = { form: textParameter(form.id), stale_limit: limit };
  const where = `form_id = @form AND ${isStale}`;
  const [row] = await store.query({
    sql: `SELECT COUNT(*) AS n FROM ${table} WHERE ${where}`,
    parameters,
  });
  const over = Number(row?.['n'] ?? 0);
  if (over === 0) return NOTHING;
  const sql = `DELETE FROM ${table} WHERE ${where}`;
  return {
    statements: [{ sql, parameters, mutates: 'mirror_rejected' }],
    counts: { rejected: -over },
  };
}

async function settledMarks(
  { epoch, form, state, store }: FormHold,
  held: HeldForm,
  { since, comparedSince }: { readonly since: string; readonly comparedSince: string | undefined },
): Promise<SettledLists> {
  if (state.counts.refusals === 0) return NOTHING;
  const [isStale, limit] = staleness(epoch, comparedSince);
  const table = store.relation('mirror_refusals');
  const rows = await store.query({
    sql: `SELECT f.submission_id, f.status, f.wanted, (f.reason = '' AND f.refused_at < @since) AS may_end,
        (t.id IS NOT NULL) AS is_as_before, (r.submission_id IS NOT NULL) AS is_listed
      FROM ${table} AS f
      LEFT JOIN ${held.relation} AS t ON t.id = f.submission_id AND t.status = f.status AND t._deleted_at IS NULL
      LEFT JOIN (SELECT DISTINCT submission_id FROM ${store.relation('mirror_rejected')} WHERE form_id = @form AND NOT (${isStale})) AS r
        ON r.submission_id = f.submission_id
      WHERE f.form_id = @form`,
    parameters: {
      form: textParameter(form.id),
      since: timeParameter(since),
      stale_limit: limit,
    },
  });
  const over = rows.filter(
    (row) =>
      row['may_end'] === 'true' && row['is_as_before'] !== 'true' && row['is_listed'] !== 'true',
  );
  // Of those that ended meanwhile nothing was counted.
  const refusals = rows.length - over.length - state.counts.refusals;
  if (over.length === 0) return { statements: [], counts: { refusals } };
  const keys = over.map((row) => ({
    i: row['submission_id'],
    s: row['status'],
    w: row['wanted'],
  }));
  return {
    statements: [
      {
        sql: `MERGE ${table} AS t USING (
            SELECT JSON_VALUE(r, '$.i') AS submission_id, JSON_VALUE(r, '$.s') AS status, JSON_VALUE(r, '$.w') AS wanted
            FROM UNNEST(JSON_QUERY_ARRAY(@settled_marks)) AS r) AS s
          ON t.form_id = @form AND t.submission_id = s.submission_id AND t.status = s.status AND t.wanted = s.wanted
          WHEN MATCHED THEN DELETE`,
        parameters: {
          settled_marks: textParameter(JSON.stringify(keys)),
          form: textParameter(form.id),
        },
        mutates: 'mirror_refusals',
      },
    ],
    counts: { refusals },
  };
}
