import type { Clock } from '../base/clock.ts';
import type { FormsClient, SubmissionItem } from '../forms/client.ts';
import { orNull } from '../forms/errors.ts';
import type { Entry, OpenForm, StoredRow } from '../mirror/port.ts';
import type { Form, FormIdentity, Submission } from '../mirror/types.ts';
import { allRows, type ChosenTarget, entriesOf, heldForms, LISTED, reading } from './target.ts';
import { Comparison, differingNames } from './verify.ts';
import { REFUSAL_LASTS_MS, type WriteBackRule } from './write-back.ts';

/** A status change that the source refused. Times are ISO 8601 in UTC. */
export interface Refusal {
  readonly status: string;
  readonly reason: string;
  readonly at: string;
}

/** Where one submission is in one target. */
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
}

/** Where one submission is, everywhere. */
export interface Explanation {
  readonly submissionId: string;
  /** Null when the source answers 404. */
  readonly source: {
    readonly status: string;
    readonly createdAt: string | null;
    readonly answers: number;
    readonly defects: readonly string[];
  } | null;
  /** Null when neither the source nor a target knows its form. */
  readonly form: FormIdentity | null;
  readonly targets: readonly SubmissionInTarget[];
  /** What the next write-back will do with it, as a sentence. */
  readonly writeBack: string;
}

export interface ExplainParts {
  readonly client: FormsClient;
  readonly clock: Clock;
  /** Null when write-back is off. */
  readonly rule: WriteBackRule | null;
}

/** Where one submission is: at the source, in each target, and what write-back does with it. Changes nothing. */
export async function explainSubmission(
  { client, clock, rule }: ExplainParts,
  targets: readonly ChosenTarget[],
  submissionId: string,
  signal: AbortSignal,
): Promise<Explanation> {
  const item = await orNull(client.getSubmission(submissionId, { signal }));
  const submission = item?.submission ?? null;
  const defects = item?.defects ?? [];
  const form = await formOf(client, targets, submission, submissionId, signal);
  const stored = await Promise.all(
    targets.map((each) => lookUp(each, form, item, submissionId, clock)),
  );
  const source = submission && {
    status: submission.status,
    createdAt: submission.createdAt,
    answers: submission.data.size,
    defects,
  };
  return {
    submissionId,
    source,
    form: form && { id: form.id, slug: form.slug, name: form.name },
    targets: stored,
    writeBack: nextWriteBack(rule, stored, source?.status ?? null, clock.now()),
  };
}

/** The form of the submission: as the source names it, otherwise from the records of a target. */
async function formOf(
  client: FormsClient,
  targets: readonly ChosenTarget[],
  submission: Submission | null,
  submissionId: string,
  signal: AbortSignal,
): Promise<Form | null> {
  if (submission !== null && submission.formId !== '')
    return client.getForm(submission.formId, { signal });
  for (const { target } of targets)
    for (const { id, slug, name } of await heldForms(target)) {
      const isHere = await reading(
        target,
        id,
        async (form) =>
          (await rowOf(form, submissionId)) !== undefined ||
          (await form.forgotten([submissionId])).size > 0,
      );
      if (isHere === true) return { id, slug, name, fields: [] };
    }
  return null;
}

async function rowOf(form: OpenForm, id: string): Promise<StoredRow | undefined> {
  for await (const rows of allRows(form, { ids: [id] }, true)) if (rows[0]) return rows[0];
  return undefined;
}

/** What a target holds of the submission. */
interface Held extends Pick<SubmissionInTarget, 'differing'> {
  readonly row: StoredRow | undefined;
  readonly forgottenAtMs: number | null;
  readonly entries: readonly Entry[];
}

const NOTHING: Held = { row: undefined, differing: [], forgottenAtMs: null, entries: [] };

async function heldIn(
  open: OpenForm,
  form: Form,
  id: string,
  item: SubmissionItem | null,
  { joining, isChosen }: ChosenTarget,
  clock: Clock,
): Promise<Held> {
  const digest = (await open.forgotten([id])).get(id);
  const forgotten = digest === undefined ? [] : await entriesOf(open, ['forgotten']);
  const entries = await entriesOf(open, [...LISTED, 'refused']);
  const fields = [...open.fields, ...form.fields];
  let differing: readonly string[] = [];
  if (item !== null && joining !== undefined && isChosen(form)) {
    const parts = { form, held: open, joining, clock };
    const comparison = new Comparison(parts, (found) => differingNames(found, fields), new Set());
    await comparison.compare([item]);
    differing = comparison.found.get(id) ?? [];
  }
  return {
    row: await rowOf(open, id),
    differing,
    forgottenAtMs: forgotten.find((entry) => entry.id === digest)?.atMs ?? null,
    entries: entries.filter((entry) => entry.id === id),
  };
}

async function lookUp(
  each: ChosenTarget,
  form: Form | null,
  item: SubmissionItem | null,
  id: string,
  clock: Clock,
): Promise<SubmissionInTarget> {
  const { target, isChosen } = each;
  const found =
    form === null
      ? null
      : await reading(target, form.id, (open) => heldIn(open, form, id, item, each, clock));
  const { row, differing, forgottenAtMs, entries } = found ?? NOTHING;
  // For an unknown ID the form is unknown too.
  const isWanted = form === null || isChosen(form);
  return {
    target: target.name,
    state:
      forgottenAtMs !== null && row === undefined
        ? 'forgotten'
        : stateOf(row, item, isWanted, differing),
    status: row?.status ?? null,
    deletedAt: row?.deletedAt ?? null,
    forgottenAt: forgottenAtMs === null ? null : iso(forgottenAtMs),
    differing,
    rejected: entries.filter(({ kind }) => kind !== 'refused').map(({ reason }) => reason),
    refusals: entries
      .filter(({ kind }) => kind === 'refused')
      .map(({ status, reason, atMs }) => ({ status: status ?? '', reason, at: iso(atMs) })),
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

function stateOf(
  row: StoredRow | undefined,
  item: SubmissionItem | null,
  isWanted: boolean,
  differing: readonly string[],
): SubmissionInTarget['state'] {
  if (!isWanted) return 'not-mirrored';
  if (row === undefined) return 'absent';
  if (row.deletedAt !== null) return 'deleted';
  if (item === null) return 'extra';
  return differing.length > 0 ? 'different' : 'current';
}

function nextWriteBack(
  rule: WriteBackRule | null,
  targets: readonly SubmissionInTarget[],
  status: string | null,
  nowMs: number,
): string {
  if (rule === null) return 'Write-back is off (MARK_STATUS is not set).';
  const mirroring = targets.filter(({ state }) => state !== 'not-mirrored');
  const refusal = mirroring
    .flatMap(({ refusals }) => refusals)
    .find((each) => each.status === status && Date.parse(each.at) + REFUSAL_LASTS_MS > nowMs);
  if (refusal !== undefined) {
    const again = iso(Date.parse(refusal.at) + REFUSAL_LASTS_MS);
    return `The source refused ${rule.to} from ${refusal.status}: ${refusal.reason} It is tried again when it changes, or from ${again} on.`;
  }
  const forgotten = mirroring.filter(({ state }) => state === 'forgotten');
  if (forgotten.length > 0)
    return `It was forgotten in ${forgotten.map(({ target }) => target).join(', ')}, so its status is never changed.`;
  const behind = mirroring.filter(
    ({ state, rejected }) => state === 'absent' || state === 'deleted' || rejected.length > 0,
  );
  if (mirroring.length === 0) return 'No target mirrors its form: its status stays.';
  if (behind.length > 0)
    return `It waits for ${behind.map(({ target }) => target).join(', ')}, where it is not completely stored yet.`;
  if (status === null) return 'The source answers 404: there is no status to change.';
  if (status === rule.to) return `It is already ${rule.to}.`;
  return rule.from.includes(status)
    ? `Stored everywhere: the next write-back sets it to ${rule.to}.`
    : `Its status ${status} is not in MARK_FROM (${rule.from.join(', ')}), so it stays.`;
}
