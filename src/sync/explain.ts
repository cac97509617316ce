import { orNull } from '../forms/errors.ts';
import { compareRow, joinRow } from '../mirror/row.ts';
import { pickFields } from '../mirror/fields.ts';
import { decideMark, REFUSAL_LASTS_MS } from '../mirror/mark-rules.ts';
import type { FieldPicks } from '../mirror/picks.ts';
import type { Copy, CopyReader, Refusal } from '../mirror/target.ts';
import type { StoredRow } from '../mirror/port.ts';
import type { Form, FormIdentity, Submission } from '../mirror/types.ts';
import type { Clock } from '../base/clock.ts';
import type { FormsClient } from '../forms/client.ts';

/** How many listed rejections are searched for the submission. */
const MOST_LISTED = 10_000;

/** A target, and what the settings have it mirror. */
export interface ExplainTarget {
  readonly target: Copy;
  readonly picks: FieldPicks;
  readonly hashKey: string | undefined;
  /** Whether the settings have it mirror this form. */
  readonly mirrors: (form: Pick<Form, 'id' | 'slug'>) => boolean;
}

/** The settings of marking; undefined when it is off. */
export type ExplainMarking =
  | { readonly status: string; readonly from: readonly string[] }
  | undefined;

/** Where one submission stands in one target. */
export interface SubmissionInTarget {
  readonly target: string;
  /** `not-mirrored`: the settings leave its form out here. `absent`: no row. `extra`: a live row of one that answers 404. */
  readonly state:
    | 'current'
    | 'different'
    | 'extra'
    | 'deleted'
    | 'absent'
    | 'forgotten'
    | 'not-mirrored';
  readonly status: string | null;
  readonly deletedAt: string | null;
  /** Since when it is forgotten here: it has no row, and gets none. */
  readonly forgottenAt: string | null;
  /** Columns that differ from the source: system columns by name, fields by label. Never a value. */
  readonly differing: readonly string[];
  /** Why it is listed as rejected; empty when it is not. */
  readonly rejected: readonly string[];
  readonly refusals: readonly Refusal[];
  /** Entries that the histories here hold of it, with or without a row. */
  readonly history: number;
}

/** Where one submission stands, everywhere. */
export interface Explanation {
  readonly submissionId: string;
  /** Null when the source answers 404. */
  readonly source: {
    readonly status: string;
    readonly createdAt: string;
    readonly answers: number;
    readonly defects: readonly string[];
  } | null;
  /** Null when neither the source nor a target knows its form. */
  readonly form: FormIdentity | null;
  readonly targets: readonly SubmissionInTarget[];
  /** What the next marking will do with it, as a sentence. */
  readonly marking: string;
}

/** What is asked. */
export interface ExplainParts {
  readonly client: FormsClient;
  readonly clock: Clock;
}

/** Where one submission stands: at the source, in each target, and with marking. Changes nothing. */
export async function explainSubmission(
  { client, clock }: ExplainParts,
  targets: readonly ExplainTarget[],
  submissionId: string,
  marking: ExplainMarking,
  signal: AbortSignal,
): Promise<Explanation> {
  const item = await orNull(client.getSubmission(submissionId, { signal }));
  const submission = item?.submission ?? null;
  const form = await formOf(client, targets, submission, submissionId, signal);
  const stored = await Promise.all(
    targets.map((each) => lookUp(each, form, submission, item?.defects ?? [], submissionId)),
  );
  const source = submission && {
    status: submission.status,
    createdAt: submission.createdAt,
    answers: submission.data.size,
    defects: item?.defects ?? [],
  };
  return {
    submissionId,
    source,
    form: form && { id: form.id, slug: form.slug, name: form.name },
    targets: stored,
    marking: nextMarking(marking, stored, source?.status ?? null, clock.now()),
  };
}

/** The form of the submission: as the source says, otherwise of what a target holds of it, or has forgotten. */
async function formOf(
  client: FormsClient,
  targets: readonly ExplainTarget[],
  submission: Submission | null,
  submissionId: string,
  signal: AbortSignal,
): Promise<Form | null> {
  if (submission !== null && submission.formId !== '') {
    return client.getForm(submission.formId, { signal });
  }
  for (const { target } of targets) {
    for (const { formId, slug, name } of await target.overview()) {
      const reader = await target.reader(formId);
      const isHere =
        (await reader?.rows([submissionId]))?.has(submissionId) === true ||
        (await reader?.forgotten([submissionId]))?.has(submissionId) === true ||
        ((await reader?.traces([submissionId]))?.history ?? 0) > 0;
      if (isHere) return { id: formId, slug, name, fields: [] };
    }
  }
  return null;
}

async function lookUp(
  { target, picks, hashKey, mirrors }: ExplainTarget,
  form: Form | null,
  submission: Submission | null,
  defects: readonly string[],
  submissionId: string,
): Promise<SubmissionInTarget> {
  const reader = form === null ? undefined : await target.reader(form.id);
  const row = (await reader?.rows([submissionId]))?.get(submissionId);
  const wanted = form !== null && mirrors(form);
  const differing =
    form && submission && row && wanted
      ? await differingColumns(form, submission, defects, row, reader, picks, hashKey)
      : [];
  const listed = (await reader?.rejections(MOST_LISTED))?.items ?? [];
  const forgottenAt = (await reader?.forgotten([submissionId]))?.get(submissionId) ?? null;
  return {
    target: target.name,
    // Of an ID that nobody knows the form is not known either.
    state:
      forgottenAt !== null && row === undefined
        ? 'forgotten'
        : stateOf(row, submission, wanted || form === null, differing),
    status: row?.status ?? null,
    deletedAt: row?.deletedAt ?? null,
    forgottenAt,
    differing,
    rejected: listed
      .filter((each) => each.submissionId === submissionId)
      .map(({ reason }) => reason),
    refusals: (await reader?.refusals(submissionId)) ?? [],
    history: (await reader?.traces([submissionId]))?.history ?? 0,
  };
}

function stateOf(
  row: StoredRow | undefined,
  submission: Submission | null,
  wanted: boolean,
  differing: readonly string[],
): SubmissionInTarget['state'] {
  if (!wanted) return 'not-mirrored';
  if (row === undefined) return 'absent';
  if (row.deletedAt !== null) return 'deleted';
  if (submission === null) return 'extra';
  return differing.length > 0 ? 'different' : 'current';
}

async function differingColumns(
  form: Form,
  submission: Submission,
  defects: readonly string[],
  row: StoredRow,
  reader: CopyReader | undefined,
  picks: FieldPicks,
  hashKey: string | undefined,
): Promise<string[]> {
  const known = (await reader?.fields()) ?? [];
  const fields = pickFields(form, picks, known, submission.data.keys());
  const labels = new Map(fields.map(({ id, label }) => [id, label]));
  const wanted = joinRow(submission, defects, fields, hashKey).row;
  const difference = compareRow(wanted, row, [...labels.keys()]);
  if (difference === undefined) return [];
  return [...difference.columns, ...difference.fieldIds.map((id) => labels.get(id) ?? id)];
}

function nextMarking(
  marking: ExplainMarking,
  targets: readonly SubmissionInTarget[],
  status: string | null,
  nowMs: number,
): string {
  if (marking === undefined) return 'Marking is off (MARK_STATUS is not set).';
  const mirroring = targets.filter(({ state }) => state !== 'not-mirrored');
  const refusal = mirroring
    .flatMap(({ refusals }) => refusals)
    .find(
      ({ status: from, wanted, at }) =>
        from === status &&
        (wanted === '' || wanted === marking.status) &&
        Date.parse(at) + REFUSAL_LASTS_MS > nowMs,
    );
  if (refusal !== undefined) {
    const again = new Date(Date.parse(refusal.at) + REFUSAL_LASTS_MS).toISOString();
    return `The source refused ${marking.status} from ${refusal.status}: ${refusal.reason} It is tried again when it changes, or from ${again} on.`;
  }
  const forgotten = mirroring.filter(({ state }) => state === 'forgotten');
  if (forgotten.length > 0) {
    return `It was forgotten in ${forgotten.map(({ target }) => target).join(', ')}, so it is never marked.`;
  }
  const behind = mirroring.filter(
    ({ state, rejected }) => state === 'absent' || state === 'deleted' || rejected.length > 0,
  );
  const durableEverywhere = mirroring.length > 0 && behind.length === 0;
  const decision = decideMark({ durableEverywhere, status, allowed: marking.from });
  switch (decision.action) {
    case 'mark':
      return `Stored everywhere: the next marking sets it to ${marking.status}.`;
    case 'adopt':
      return status === marking.status
        ? `It is already ${marking.status}.`
        : `Its status ${decision.status} is not in MARK_FROM (${marking.from.join(', ')}), so it stays.`;
    case 'leave':
      return 'The source answers 404: nothing to mark.';
    case 'wait':
      return mirroring.length === 0
        ? 'No target mirrors its form: nothing to mark.'
        : `It waits for ${behind.map(({ target }) => target).join(', ')}, where it is not completely stored yet.`;
  }
}
