import { compareRow } from '../mirror/changes.ts';
import { pickFields } from '../mirror/label-map.ts';
import { decideMark } from '../mirror/mark-rules.ts';
import type { FieldPicks } from '../mirror/picks.ts';
import { joinRow } from '../mirror/row.ts';
import type { FormReader, Refusal, StoredRow, Target } from '../mirror/target.ts';
import type { Form, Submission } from '../mirror/types.ts';
import type { SyncContext } from './context.ts';
import { submissionOrNull } from './deletions.ts';

/** How many listed rejections are searched for the submission. */
const MOST_LISTED = 10_000;

/** A target and what it is to mirror. */
export interface ExplainTarget {
  readonly target: Target;
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
export interface TargetStory {
  readonly target: string;
  /** `not-mirrored`: the settings leave its form out here. `absent`: no row. */
  readonly state: 'current' | 'different' | 'deleted' | 'absent' | 'not-mirrored';
  readonly status: string | null;
  readonly deletedAt: string | null;
  /** Columns that differ from the source: system columns by name, fields by label. Never a value. */
  readonly differing: readonly string[];
  /** Why it is listed as rejected; empty when it is not. */
  readonly rejected: readonly string[];
  readonly refusals: readonly Refusal[];
  /** End of the form's last proven pass here. */
  readonly provenAt: string | null;
}

/** One submission's whole story. */
export interface Explanation {
  readonly submissionId: string;
  /** Null when the source answers 404. */
  readonly source: {
    readonly status: string;
    readonly createdAt: string;
    readonly answers: number;
    readonly defects: readonly string[];
  } | null;
  /** Null when neither source nor target knows its form. */
  readonly form: { readonly id: string; readonly name: string } | null;
  readonly targets: readonly TargetStory[];
  /** What the next marking will do with it, as a sentence. */
  readonly marking: string;
}

/** Tells where one submission stands: at the source, in each target, and with marking. Changes nothing. */
export async function explainSubmission(
  context: SyncContext,
  targets: readonly ExplainTarget[],
  submissionId: string,
  marking: ExplainMarking,
  signal: AbortSignal,
): Promise<Explanation> {
  const item = await submissionOrNull(context.client, submissionId, { signal });
  const submission = item?.submission ?? null;
  const form = await findForm(context, targets, submission, submissionId, signal);
  const stories = await Promise.all(
    targets.map((each) => tellTarget(each, form, submission, item?.defects ?? [], submissionId)),
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
    form: form && { id: form.id, name: form.name },
    targets: stories,
    marking: tellMarking(marking, stories, source?.status ?? null),
  };
}

/** The form of the submission: as the source says, else of the row that a target holds. */
async function findForm(
  context: SyncContext,
  targets: readonly ExplainTarget[],
  submission: Submission | null,
  submissionId: string,
  signal: AbortSignal,
): Promise<Form | null> {
  const call = { signal };
  if (submission !== null && submission.formId !== '') {
    return context.labels.form(submission.formId, { fresh: true, call });
  }
  for (const { target } of targets) {
    for (const { formId, slug, name } of await target.overview()) {
      const rows = await (await target.reader(formId))?.rows([submissionId]);
      if (rows?.has(submissionId)) return { id: formId, slug, name, fields: [] };
    }
  }
  return null;
}

async function tellTarget(
  { target, picks, hashKey, mirrors }: ExplainTarget,
  form: Form | null,
  submission: Submission | null,
  defects: readonly string[],
  submissionId: string,
): Promise<TargetStory> {
  const reader = form === null ? undefined : await target.reader(form.id);
  const row = (await reader?.rows([submissionId]))?.get(submissionId);
  const wanted = form !== null && mirrors(form);
  const differing =
    form && submission && row && wanted
      ? await differingColumns(form, submission, defects, row, reader, picks, hashKey)
      : [];
  const listed = (await reader?.rejections(MOST_LISTED))?.items ?? [];
  return {
    target: target.name,
    state: stateOf(row, wanted, differing),
    status: row?.status ?? null,
    deletedAt: row?.deletedAt ?? null,
    differing,
    rejected: listed
      .filter((each) => each.submissionId === submissionId)
      .map(({ reason }) => reason),
    refusals: (await reader?.refusals(submissionId)) ?? [],
    provenAt: (await reader?.checkpoint())?.provenAt ?? null,
  };
}

function stateOf(
  row: StoredRow | undefined,
  wanted: boolean,
  differing: readonly string[],
): TargetStory['state'] {
  if (row === undefined) return wanted ? 'absent' : 'not-mirrored';
  if (row.deletedAt !== null) return 'deleted';
  return differing.length > 0 ? 'different' : 'current';
}

async function differingColumns(
  form: Form,
  submission: Submission,
  defects: readonly string[],
  row: StoredRow,
  reader: FormReader | undefined,
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

function tellMarking(
  marking: ExplainMarking,
  stories: readonly TargetStory[],
  status: string | null,
): string {
  if (marking === undefined) return 'Marking is off (MARK_STATUS is not set).';
  const concerned = stories.filter(({ state }) => state !== 'not-mirrored');
  const refusal = concerned
    .flatMap(({ refusals }) => refusals)
    .find((each) => each.status === status);
  if (refusal)
    return `The source refused ${refusal.wanted} from ${refusal.status}: ${refusal.reason}`;
  const behind = concerned.filter(
    ({ state, rejected }) => state === 'absent' || state === 'deleted' || rejected.length > 0,
  );
  const durableEverywhere = concerned.length > 0 && behind.length === 0;
  const decision = decideMark({ durableEverywhere, status, allowed: marking.from });
  switch (decision.action) {
    case 'mark':
      return `Stored everywhere: the next marking sets it to ${marking.status}.`;
    case 'adopt':
      return status === marking.status
        ? `It is ${marking.status} already.`
        : `Its status ${decision.status} is not one that MARK_FROM allows (${marking.from.join(', ')}): it stays.`;
    case 'leave':
      return 'The source answers 404: nothing to mark.';
    case 'wait':
      return concerned.length === 0
        ? 'No target mirrors its form: nothing to mark.'
        : `It waits for ${behind.map(({ target }) => target).join(', ')}, where it is not stored whole yet.`;
  }
}
