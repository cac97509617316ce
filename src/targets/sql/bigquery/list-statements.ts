import type { Rejection } from '../../../mirror/types.ts';
import type { PassRecord } from '../../../mirror/types.ts';
import { cleanText } from '../row-batch.ts';
import { copyKey, STATE } from './catalogue-shapes.ts';
import {
  listParameter,
  numberParameter,
  type Statement,
  textParameter,
  timeParameter,
} from './sql-text.ts';

/* The statements that change the lists beside the rows: rejections, refused marks, forgotten submissions, passes, statuses. */

/** How tables are named. */
type Relation = (name: string) => string;

/** What is listed of a form. */
export interface ListingChange {
  readonly formId: string;
  readonly at: string;
  readonly epoch: number;
  /** Listed anew, or met again. */
  readonly listed: readonly Rejection[];
  /** Listed no longer. */
  readonly over: readonly Pick<Rejection, 'submissionId' | 'reason'>[];
}

/** Brings `mirror_rejected` up to date. */
export function changeListings(relation: Relation, change: ListingChange): Statement {
  const items = [
    ...change.listed.map(({ submissionId, reason, stored }) => {
      return { i: submissionId, r: reason, s: String(stored) };
    }),
    ...change.over.map(({ submissionId, reason }) => ({ i: submissionId, r: reason, o: '1' })),
  ];
  return {
    sql: `MERGE ${relation('mirror_rejected')} AS t USING (
       SELECT JSON_VALUE(r, '$.i') AS submission_id, JSON_VALUE(r, '$.r') AS reason, CAST(JSON_VALUE(r, '$.s') AS BOOL) AS stored,
         (JSON_VALUE(r, '$.o') IS NOT NULL) AS is_over
       FROM UNNEST(JSON_QUERY_ARRAY(@listings)) AS r) AS s
     ON t.form_id = @form AND t.submission_id = s.submission_id AND t.reason = s.reason
     WHEN MATCHED AND s.is_over THEN DELETE
     WHEN MATCHED THEN UPDATE SET stored = s.stored, last_seen_at = @listed_at, last_epoch = @listed_by
     WHEN NOT MATCHED BY TARGET AND NOT s.is_over THEN
       INSERT (form_id, submission_id, reason, stored, first_seen_at, last_seen_at, last_epoch)
       VALUES (@form, s.submission_id, s.reason, s.stored, @listed_at, @listed_at, @listed_by)`,
    parameters: {
      listings: textParameter(JSON.stringify(items)),
      form: textParameter(change.formId),
      listed_at: timeParameter(change.at),
      listed_by: numberParameter(change.epoch),
    },
    mutates: 'mirror_rejected',
  };
}

/** A status change that is remembered: refused with a reason, or sent without one. */
export interface Mark {
  readonly submissionId: string;
  readonly status: string;
  readonly wanted: string;
  readonly reason: string;
  readonly at: string;
}

/** Remembers status changes; a repeated one takes the newer time and reason, of several at once those of the last. */
export const saveMarks = (
  relation: Relation,
  formId: string,
  marks: readonly Mark[],
): Statement => ({
  sql: `MERGE ${relation('mirror_refusals')} AS t USING (
     SELECT JSON_VALUE(r, '$.submissionId') AS submission_id, JSON_VALUE(r, '$.status') AS status, JSON_VALUE(r, '$.wanted') AS wanted,
       JSON_VALUE(r, '$.reason') AS reason, CAST(JSON_VALUE(r, '$.at') AS TIMESTAMP) AS refused_at
     FROM UNNEST(JSON_QUERY_ARRAY(@marks)) AS r) AS s
   ON t.form_id = @form AND t.submission_id = s.submission_id AND t.status = s.status AND t.wanted = s.wanted
   WHEN MATCHED THEN UPDATE SET reason = s.reason, refused_at = s.refused_at
   WHEN NOT MATCHED BY TARGET THEN INSERT (form_id, submission_id, status, wanted, reason, refused_at)
     VALUES (@form, s.submission_id, s.status, s.wanted, s.reason, s.refused_at)`,
  parameters: {
    marks: textParameter(JSON.stringify(distinctMarks(marks))),
    form: textParameter(formId),
  },
  mutates: 'mirror_refusals',
});

/** Of several of one key the last: a MERGE takes each once. */
function distinctMarks(marks: readonly Mark[]): Mark[] {
  const clean = marks.map(({ submissionId, status, wanted, reason, at }): Mark => ({
    submissionId,
    status: cleanText(status),
    wanted: cleanText(wanted),
    reason,
    at,
  }));
  const keyOf = ({ submissionId, status, wanted }: Mark): string =>
    JSON.stringify([submissionId, status, wanted]);
  return [...new Map(clean.map((mark) => [keyOf(mark), mark])).values()];
}

/** Forgets what is remembered of status changes of these submissions; `refused`: only what was refused. */
export const endMarks = (
  relation: Relation,
  formId: string,
  ids: readonly string[],
  which: 'refused' | 'all',
): Statement => ({
  sql: `DELETE FROM ${relation('mirror_refusals')}
   WHERE form_id = @form AND submission_id IN UNNEST(@unmarked)${which === 'all' ? '' : " AND reason <> ''"}`,
  parameters: { unmarked: listParameter(ids), form: textParameter(formId) },
  mutates: 'mirror_refusals',
});

/** That a submission stays away: the digest of its ID, and since when. */
export interface ForgottenNote {
  readonly hash: string;
  readonly at: string;
}

/** Notes that these submissions stay away. */
export const saveForgotten = (
  relation: Relation,
  formId: string,
  notes: readonly ForgottenNote[],
): Statement => ({
  sql: `INSERT INTO ${relation('mirror_forgotten')} (form_id, id_hash, forgotten_at)
   SELECT @form, JSON_VALUE(r, '$.hash'), CAST(JSON_VALUE(r, '$.at') AS TIMESTAMP) FROM UNNEST(JSON_QUERY_ARRAY(@forgotten)) AS r`,
  parameters: { forgotten: textParameter(JSON.stringify(notes)), form: textParameter(formId) },
  mutates: 'mirror_forgotten',
});

/** Adds notes to the copy of a form's: a line for each, behind that of the salt. */
export const saveCopies = (
  relation: Relation,
  formId: string,
  salt: string,
  notes: readonly ForgottenNote[],
): Statement => ({
  sql: `MERGE ${relation(STATE)} AS t USING (SELECT @copy AS k) AS s ON t.form_id = s.k
   WHEN MATCHED THEN UPDATE SET state = CONCAT(COALESCE(t.state, @copy_salt), @copies)
   WHEN NOT MATCHED BY TARGET THEN INSERT (form_id, epoch, commit_number, state) VALUES (s.k, 0, 0, CONCAT(@copy_salt, @copies))`,
  parameters: {
    copy: textParameter(copyKey(formId)),
    copy_salt: textParameter(salt),
    copies: textParameter(notes.map(({ hash, at }) => `\n${hash} ${at}`).join('')),
  },
  mutates: STATE,
});

/** Takes such notes back, and their copies. */
export const dropForgotten = (
  relation: Relation,
  formId: string,
  hashes: readonly string[],
): Statement[] => [
  {
    sql: `DELETE FROM ${relation('mirror_forgotten')} WHERE form_id = @form AND id_hash IN UNNEST(@remembered)`,
    parameters: { remembered: listParameter(hashes), form: textParameter(formId) },
    mutates: 'mirror_forgotten',
  },
  {
    sql: `UPDATE ${relation(STATE)} SET state = (SELECT STRING_AGG(line, '\\n' ORDER BY place) FROM UNNEST(SPLIT(state, '\\n')) AS line WITH OFFSET AS place
       WHERE place = 0 OR SPLIT(line, ' ')[OFFSET(0)] NOT IN UNNEST(@remembered))
     WHERE form_id = @copy`,
    parameters: { remembered: listParameter(hashes), copy: textParameter(copyKey(formId)) },
    mutates: STATE,
  },
];

/** Removes what a list tells of submissions. */
export const eraseFrom = (
  relation: Relation,
  table: string,
  formId: string,
  ids: readonly string[],
): Statement => ({
  sql: `DELETE FROM ${relation(table)} WHERE form_id = @form AND submission_id IN UNNEST(@erased)`,
  parameters: { erased: listParameter(ids), form: textParameter(formId) },
  mutates: table,
});

/** Adds a pass. */
export const addPass = (
  relation: Relation,
  formId: string,
  number: number,
  pass: PassRecord,
): Statement => ({
  sql: `INSERT INTO ${relation('mirror_passes')} (id, form_id, kind, started_at, ended_at, outcome, requests, total, distinct_seen,
     inserted, updated, unchanged, deleted, rejected, withheld, error_code, error, billed_bytes, statements)
   VALUES (@pass, @form, @kind, @started_at, @ended_at, @outcome, @requests, @total, @distinct_seen,
     @inserted_rows, @updated_rows, @unchanged_rows, @deleted_rows, @rejected_rows, @withheld_rows, @error_code, @error, @billed_bytes, @statements)`,
  parameters: {
    pass: numberParameter(number),
    form: textParameter(formId),
    kind: textParameter(pass.kind),
    started_at: timeParameter(pass.startedAt),
    ended_at: timeParameter(pass.endedAt),
    outcome: textParameter(pass.outcome),
    requests: numberParameter(pass.requests),
    total: numberParameter(pass.total),
    distinct_seen: numberParameter(pass.distinct),
    inserted_rows: numberParameter(pass.inserted),
    updated_rows: numberParameter(pass.updated),
    unchanged_rows: numberParameter(pass.unchanged),
    deleted_rows: numberParameter(pass.deleted),
    rejected_rows: numberParameter(pass.rejected),
    withheld_rows: numberParameter(pass.withheld),
    error_code: textParameter(pass.code),
    error: textParameter(pass.error),
    billed_bytes: numberParameter(pass.billedBytes ?? null),
    statements: numberParameter(pass.statements ?? null),
  },
  mutates: 'mirror_passes',
});

/** Removes passes up to a number, but for the newest that ended well. */
export const prunePasses = (relation: Relation, formId: string, upTo: number): Statement => ({
  sql: `DELETE FROM ${relation('mirror_passes')} AS p WHERE p.form_id = @form AND p.id <= @up_to
   AND p.id NOT IN (SELECT COALESCE(MAX(k.id), 0) FROM ${relation('mirror_passes')} AS k WHERE k.form_id = @form AND k.outcome = 'ok')`,
  parameters: { form: textParameter(formId), up_to: numberParameter(upTo) },
  mutates: 'mirror_passes',
});

/** A row that has another status than it had, or is new. */
export interface SeenStatus {
  readonly id: string;
  readonly status: string;
  /** The last proven comparison has seen it in its former status. */
  readonly isProven: boolean;
}

/** When, and what was proven last. */
export interface StatusMoment {
  readonly formId: string;
  readonly at: string;
  /** The number of the entries, by which they are in order: those of one commit share it. */
  readonly entry: string;
  /** When a comparison last proved what rows have (ISO); null: none did. */
  readonly provenAt: string | null;
}

/** Adds first entries of rows that have none for certain. */
export const beginStatuses = (
  relation: Relation,
  { formId, at, entry }: StatusMoment,
  rows: readonly SeenStatus[],
): Statement => ({
  sql: `INSERT INTO ${relation('mirror_status_history')} (id, form_id, submission_id, status, seen_at)
   SELECT @entry, @form, JSON_VALUE(r, '$[0]'), JSON_VALUE(r, '$[1]'), @seen_at FROM UNNEST(JSON_QUERY_ARRAY(@begun)) AS r`,
  parameters: {
    entry: { type: 'INT64', value: entry },
    form: textParameter(formId),
    seen_at: timeParameter(at),
    begun: textParameter(JSON.stringify(rows.map(({ id, status }) => [id, status]))),
  },
  mutates: 'mirror_status_history',
});

/** Gives live rows that have none their first entries: as of a pass that has compared everything. */
export const completeStatuses = (
  relation: Relation,
  { formId, at, entry }: Pick<StatusMoment, 'formId' | 'at' | 'entry'>,
  table: string,
): Statement => ({
  sql: `INSERT INTO ${relation('mirror_status_history')} (id, form_id, submission_id, status, seen_at)
   SELECT @entry, @form, t.id, t.status, @completed_at FROM ${relation(table)} AS t
   WHERE t._deleted_at IS NULL
     AND t.id NOT IN (SELECT h.submission_id FROM ${relation('mirror_status_history')} AS h WHERE h.form_id = @form)
     AND t.id NOT IN (SELECT r.submission_id FROM ${relation('mirror_rejected')} AS r WHERE r.form_id = @form AND NOT r.stored)`,
  parameters: {
    entry: { type: 'INT64', value: entry },
    form: textParameter(formId),
    completed_at: timeParameter(at),
  },
  mutates: 'mirror_status_history',
});

/** Entries that another one had followed before a time: what a statement needs of them. */
export const formerStatuses = (
  relation: Relation,
  formId: string,
  before: string,
): {
  readonly newest: string;
  readonly isFormer: string;
  readonly parameters: Statement['parameters'];
} => ({
  newest: `(SELECT submission_id, MAX(id) AS last FROM ${relation('mirror_status_history')}
     WHERE form_id = @form AND seen_at < @before GROUP BY submission_id)`,
  isFormer:
    'h.form_id = @form AND h.submission_id = k.submission_id AND h.id < k.last AND h.seen_at < @before',
  parameters: { form: textParameter(formId), before: timeParameter(before) },
});

/** Adds an entry for each row whose status is not that of its last one. */
export const addStatuses = (
  relation: Relation,
  { formId, at, entry, provenAt }: StatusMoment,
  rows: readonly SeenStatus[],
): Statement => ({
  sql: `INSERT INTO ${relation('mirror_status_history')} (id, form_id, submission_id, status, not_before, seen_at)
   SELECT @entry, @form, s.id, s.status,
     CASE WHEN h.seen_at IS NULL OR h.seen_at > @seen_at THEN NULL
       WHEN s.is_proven AND @proven_at > h.seen_at AND @proven_at <= @seen_at THEN @proven_at ELSE h.seen_at END, @seen_at
   FROM (SELECT JSON_VALUE(r, '$[0]') AS id, JSON_VALUE(r, '$[1]') AS status, JSON_VALUE(r, '$[2]') = 'true' AS is_proven
     FROM UNNEST(JSON_QUERY_ARRAY(@seen)) AS r) AS s
   LEFT JOIN (SELECT e.submission_id, e.status, e.seen_at FROM ${relation('mirror_status_history')} AS e
     WHERE e.form_id = @form AND e.submission_id IN UNNEST(@seen_ids)
     QUALIFY ROW_NUMBER() OVER (PARTITION BY e.submission_id ORDER BY e.id DESC) = 1) AS h ON h.submission_id = s.id
   WHERE h.submission_id IS NULL OR h.status <> s.status`,
  parameters: {
    entry: { type: 'INT64', value: entry },
    form: textParameter(formId),
    seen_at: timeParameter(at),
    proven_at: timeParameter(provenAt),
    seen: textParameter(
      JSON.stringify(rows.map(({ id, status, isProven }) => [id, status, String(isProven)])),
    ),
    seen_ids: listParameter(rows.map(({ id }) => id)),
  },
  mutates: 'mirror_status_history',
});
