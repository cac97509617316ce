import type { Clock } from '../base/clock.ts';
import type { Source } from '../forms/source.ts';
import type { SubmissionItem } from '../forms/submission-item.ts';
import type { EntryKind, ReadForm, StoredRow } from '../mirror/port.ts';
import type { Form, FormIdentity, Submission } from '../mirror/types.ts';
import { allRows, type ChosenTarget, entriesOf, heldForms, reading } from './target.ts';
import { Comparison } from './verify.ts';

/** What a target lists of a submission. Times are ISO 8601 in UTC. */
export interface Listing {
  /** `refused`: the source refused to change its status. */
  readonly kind: EntryKind;
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
  readonly listed: readonly Listing[];
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
}

/** Where one submission is: at the source, and in each target. Changes nothing. */
export async function explainSubmission(
  { source, clock }: { readonly source: Source; readonly clock: Clock },
  targets: readonly ChosenTarget[],
  submissionId: string,
): Promise<Explanation> {
  const item = await source.submissionOrNull(submissionId);
  const submission = item?.submission ?? null;
  const defects = item?.defects ?? [];
  const form = await formOf(source, targets, submission, submissionId);
  const stored = await Promise.all(
    targets.map((each) => lookUp(each, form, item, submissionId, clock)),
  );
  const there = submission && {
    status: submission.status,
    createdAt: submission.createdAt,
    answers: Object.keys(submission.data).length,
    defects,
  };
  return {
    submissionId,
    source: there,
    form: form && { id: form.id, slug: form.slug, name: form.name },
    targets: stored,
  };
}

/** The form of the submission: as the source names it, otherwise from the records of a target. */
async function formOf(
  source: Source,
  targets: readonly ChosenTarget[],
  submission: Submission | null,
  submissionId: string,
): Promise<Form | null> {
  if (submission !== null && submission.formId !== '') return source.form(submission.formId);
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

async function rowOf(form: ReadForm, id: string): Promise<StoredRow | undefined> {
  for await (const rows of allRows(form, { ids: [id] }, true)) if (rows[0]) return rows[0];
  return undefined;
}

/** What a target holds of the submission. */
interface Held extends Pick<SubmissionInTarget, 'differing' | 'listed'> {
  readonly row: StoredRow | undefined;
  readonly forgottenAtMs: number | null;
}

const NOTHING: Held = { row: undefined, differing: [], forgottenAtMs: null, listed: [] };

async function heldIn(
  open: ReadForm,
  form: Form,
  id: string,
  item: SubmissionItem | null,
  { joining, isChosen }: ChosenTarget,
  clock: Clock,
): Promise<Held> {
  const digest = (await open.forgotten([id])).get(id);
  const forgotten = digest === undefined ? [] : await entriesOf(open, ['forgotten']);
  const entries = await entriesOf(open, ['rejected', 'held', 'undecided', 'refused']);
  let differing: readonly string[] = [];
  if (item !== null && joining !== undefined && isChosen(form)) {
    const parts = { form, held: open, joining, clock };
    const comparison = new Comparison(parts, new Set());
    await comparison.compare([item]);
    differing = comparison.found.get(id)?.columns ?? [];
  }
  return {
    row: await rowOf(open, id),
    differing,
    forgottenAtMs: forgotten.find((entry) => entry.id === digest)?.atMs ?? null,
    listed: entries
      .filter((entry) => entry.id === id)
      .map(({ kind, reason, atMs }) => ({ kind, reason, at: iso(atMs) })),
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
  const { row, differing, forgottenAtMs, listed } = found ?? NOTHING;
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
    listed,
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
