import { isAbort, type MirrorError, toMirrorError } from '../base/errors.ts';
import { iso } from '../base/format.ts';
import type { Source } from '../forms/source.ts';
import { ENTRY_KINDS, type EntryKind, type StoredRow } from '../mirror/port.ts';
import { differingColumns, Join } from '../mirror/row.ts';
import type { Form, FormIdentity, SubmissionItem } from '../mirror/types.ts';
import { knownIn } from './erase.ts';
import { allRows, formsIn, reading, type Target } from './target.ts';

/** How a target lists a submission. Times are ISO 8601 in UTC. */
export interface Listing {
  /** `refused`: the source refused to change its status. */
  readonly kind: EntryKind;
  readonly reason: string;
  readonly at: string;
}

/** One submission in one target. */
export interface SubmissionInTarget {
  readonly target: string;
  /**
   * `not-mirrored`: the settings exclude its form here. `absent`: no row. `extra`: a live row although its ID answers 404 or 410.
   * `stored`: a live row that is not compared, because the source did not answer.
   */
  readonly state:
    | 'current'
    | 'different'
    | 'extra'
    | 'stored'
    | 'deleted'
    | 'absent'
    | 'forgotten'
    | 'not-mirrored';
  readonly status: string | null;
  readonly deletedAt: string | null;
  /** When it was forgotten here: it has no row, and gets none. */
  readonly forgottenAt: string | null;
  /** Columns that differ from the source: system columns by name, fields by label. Never a value. */
  readonly differing: readonly string[];
  readonly listed: readonly Listing[];
}

/** One submission at the source and in all targets. */
export interface Explanation {
  readonly submissionId: string;
  /** Null if the source answers 404 or 410, or did not answer: `failure`. */
  readonly source: {
    readonly status: string;
    readonly createdAt: string | null;
    readonly answers: number;
    readonly defects: readonly string[];
  } | null;
  /** Why the source did not answer; null if it did. */
  readonly failure: MirrorError | null;
  /** Null if neither the source nor a target knows its form. */
  readonly form: FormIdentity | null;
  readonly targets: readonly SubmissionInTarget[];
}

/** The submission and its form, as the source shows them. */
interface AtSource {
  /** Null if the source answers 404 or 410. */
  readonly item: SubmissionItem | null;
  readonly form: Form | null;
}

/**
 * Finds one submission at the source and in each target. Changes nothing. If the source does not answer, the targets are shown
 * without a comparison. Rejects as the targets do.
 */
export async function explainSubmission(
  source: Source,
  targets: readonly Target[],
  submissionId: string,
): Promise<Explanation> {
  const answer = await askSource(source, submissionId).catch((error: unknown) => {
    if (isAbort(error)) throw error;
    return toMirrorError(error);
  });
  const failure = answer instanceof Error ? answer : null;
  const shown = answer instanceof Error ? null : answer;
  const form = shown?.form ?? (await formInTargets(targets, submissionId));
  const submission = shown?.item?.submission ?? null;
  return {
    submissionId,
    source: submission && {
      status: submission.status,
      createdAt: submission.createdAt,
      answers: Object.keys(submission.data).length,
      defects: shown?.item?.defects ?? [],
    },
    failure,
    form: form && { id: form.id, slug: form.slug, name: form.name },
    targets: await Promise.all(targets.map((target) => lookUp(target, form, shown, submissionId))),
  };
}

async function askSource(source: Source, submissionId: string): Promise<AtSource> {
  const item = await source.submissionOrNull(submissionId);
  const formId = item?.submission?.formId ?? '';
  return { item, form: formId === '' ? null : await source.form(formId) };
}

/** The form of the submission, according to the first target that knows it. */
async function formInTargets(
  targets: readonly Target[],
  submissionId: string,
): Promise<Form | null> {
  for (const target of targets)
    for (const { id, slug, name } of await formsIn(target)) {
      const known = await reading(target, id, (form) => knownIn(form, [submissionId], true));
      if (known !== null && known.size > 0) return { id, slug, name, fields: [] };
    }
  return null;
}

/** `shown`: null if the source did not answer. */
async function lookUp(
  target: Target,
  form: Form | null,
  shown: AtSource | null,
  id: string,
): Promise<SubmissionInTarget> {
  const { name, store, joining, isChosen, clock } = target;
  const item = shown?.item ?? null;
  await using copy = form && (await store.read(form.id));
  let row: StoredRow | undefined;
  if (copy !== null) for await (const rows of allRows(copy, { ids: [id] }, true)) row ??= rows[0];
  const digest = (await copy?.forgotten([id]))?.get(id);
  const entries = (await copy?.entries(ENTRY_KINDS)) ?? [];
  const forgottenAtMs = entries.find((entry) => entry.id === digest)?.atMs ?? null;
  // For an unknown ID the form is unknown too.
  const isWanted = form === null || isChosen(form);
  let differing: readonly string[] = [];
  if (form && copy && row && item && joining && isWanted) {
    const join = new Join(joining, form, copy.fields);
    if (join.meet([item])) join.prepare(form, copy.fields);
    const wanted = join.item(item, clock.now()).row;
    if (wanted !== null) differing = differingColumns(wanted, row, join.fields);
  }
  return {
    target: name,
    state:
      forgottenAtMs !== null && row === undefined
        ? 'forgotten'
        : stateOf(row, shown, isWanted, differing),
    status: row?.status ?? null,
    deletedAt: row?.deletedAt ?? null,
    forgottenAt: forgottenAtMs === null ? null : iso(forgottenAtMs),
    differing,
    listed: entries
      .filter((entry) => entry.id === id)
      .map(({ kind, reason, atMs }) => ({ kind, reason, at: iso(atMs) })),
  };
}

function stateOf(
  row: StoredRow | undefined,
  shown: AtSource | null,
  isWanted: boolean,
  differing: readonly string[],
): SubmissionInTarget['state'] {
  if (!isWanted) return 'not-mirrored';
  if (row === undefined) return 'absent';
  if (row.deletedAt !== null) return 'deleted';
  if (shown === null) return 'stored';
  if (shown.item === null) return 'extra';
  return differing.length > 0 ? 'different' : 'current';
}
