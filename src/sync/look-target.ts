import { canonicalTime, compareTimes } from '../mirror/canonical-time.ts';
import { fingerprint } from '../mirror/hashing.ts';
import type { LookRecord, OtherCounts } from '../mirror/look-record.ts';
import type { StoringSettings } from '../mirror/proven-for.ts';
import { plusCounts, type StatusCounts } from '../mirror/status-counts.ts';
import type { FormOverview, FormReader, Target } from '../mirror/target.ts';
import type { Form, Submission } from '../mirror/types.ts';
import { askable } from './look-counts.ts';
import { type MarkingRules, type SettledForm, settledForm } from './look-form.ts';
import type { TargetFacts } from './look-judgement.ts';
import { foreignSince, type NewestPage } from './look-page.ts';

/** A form that is settled, as far as its target can tell. */
export interface LookedForm extends SettledForm {
  readonly overview: FormOverview;
}

/** What a look knows of a target before it asks the source. */
export interface LookedTarget {
  readonly target: Target;
  readonly settled: ReadonlyMap<string, LookedForm>;
  /** IDs of all forms that it holds, whoever mirrors them. */
  readonly held: readonly string[];
  readonly lastLook: LookRecord | null;
}

/** What {@link lookAtTarget} goes by. */
export interface TargetQuestion {
  /** The forms that it mirrors, as the list of forms shows them. */
  readonly forms: readonly Form[];
  readonly storing: StoringSettings;
  readonly marking: MarkingRules | undefined;
  /** Throws while nothing of the form may be stored. */
  readonly requireHashes: (form: Form) => Promise<void>;
  /** Of a metered target: of so many forms, those whose turn it is, the rows are looked at. */
  readonly rowReads: RowReads;
  /** True once nobody waits for the answer any more. */
  readonly isLate: () => boolean;
}

/** Forms that are judged at the same time. */
const FORMS_AT_ONCE = 4;

/** Whose turn it is to have its rows looked at, in a target where that costs calls. */
export class RowReads {
  readonly #most: number;
  readonly #turns = new Map<string, number>();
  #turn = 0;

  /** `most`: forms of a target in one look. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The forms whose turn it is: those that waited longest. */
  next(target: string, formIds: readonly string[]): Set<string> {
    const key = (formId: string): string => JSON.stringify([target, formId]);
    const turnOf = (formId: string): number => this.#turns.get(key(formId)) ?? 0;
    const due = formIds.toSorted((a, b) => turnOf(a) - turnOf(b)).slice(0, this.#most);
    this.#turn++;
    for (const formId of due) this.#turns.set(key(formId), this.#turn);
    return new Set(due);
  }
}

/** Judges a target's forms without asking the source. Rejects as the target does. */
export async function lookAtTarget(
  target: Target,
  { forms, storing, marking, requireHashes, rowReads, isLate }: TargetQuestion,
): Promise<LookedTarget> {
  const overviews = new Map((await target.overview()).map((form) => [form.formId, form]));
  const lastLook = await target.lastLook();
  const settled = new Map<string, LookedForm>();
  const due = rowReads.next(
    target.name,
    forms.map(({ id }) => id),
  );
  const queue = forms.values();
  const judgeOneByOne = async (): Promise<void> => {
    for (const form of queue) {
      const overview = overviews.get(form.id);
      if (isLate()) return;
      if (overview === undefined) continue;
      const readsRows = due.has(form.id);
      const found = await settledForm({ target, overview, form, storing, marking, readsRows });
      if (found !== null && (await isAllowed(requireHashes, form))) {
        settled.set(form.id, { ...found, overview });
      }
    }
  };
  await Promise.all(Array.from({ length: FORMS_AT_ONCE }, judgeOneByOne));
  return { target, settled, held: [...overviews.keys()], lastLook };
}

/** The pass says why not. */
async function isAllowed(
  requireHashes: TargetQuestion['requireHashes'],
  form: Form,
): Promise<boolean> {
  return requireHashes(form).then(
    () => true,
    () => false,
  );
}

/**
 * The facts that a target's forms are judged by. `page`: the newest one of the workspace, null where it is not known;
 * `deep`: submissions there that are known are compared as well.
 */
export async function factsOf(
  { target, settled, lastLook }: LookedTarget,
  planned: ReadonlySet<string>,
  page: NewestPage | null,
  deep: boolean,
): Promise<TargetFacts> {
  const submissions = (page?.items ?? []).flatMap(({ submission }) =>
    submission === null ? [] : [submission],
  );
  const shown = new Map<string, StatusCounts>();
  for (const [formId, all] of Map.groupBy(submissions, (each) => each.formId)) {
    const form = settled.get(formId);
    if (form === undefined) continue;
    const own = new Map(all.map((each) => [each.id, each]));
    const beyond =
      target.isMetered === true || form.reader === undefined
        ? afterWatermark(form.overview, own)
        : await beyondRows(form.reader, own, deep);
    if (beyond.size > 0) shown.set(formId, beyond);
  }
  const others = othersOf(lastLook, planned);
  let strangers: StatusCounts = new Map();
  for (const { status } of page === null
    ? []
    : foreignSince(page, planned, others?.newest ?? null)) {
    strangers = plusCounts(strangers, new Map([[status, 1]]));
  }
  return {
    settled: new Map([...settled].map(([formId, form]) => [formId, askable(form.accounted)])),
    unsettled: [...planned].filter((formId) => !settled.has(formId)),
    others: others && askable(others.statuses),
    shown,
    strangers: askable(strangers),
  };
}

/**
 * What a look knew of others; null where other forms were mirrored then: one that comes back, stale, might make up for one
 * that leaves.
 */
export function othersOf(
  look: LookRecord | null,
  planned: ReadonlySet<string>,
): OtherCounts | null {
  const others = look?.others ?? null;
  return others?.besides === formsPrint(planned) ? others : null;
}

/** For {@link OtherCounts.besides}. */
export const formsPrint = (formIds: ReadonlySet<string>): string =>
  fingerprint([...formIds].toSorted());

/** What the source shows of a form beyond its rows: newcomers and, `deep`, statuses that changed. */
async function beyondRows(
  reader: FormReader,
  submissions: ReadonlyMap<string, Submission>,
  deep: boolean,
): Promise<StatusCounts> {
  const ids = [...submissions.keys()];
  const asked = deep ? ids : [...new Set(ids).difference(await reader.confirm(ids))];
  if (asked.length === 0) return new Map();
  const rows = await reader.rows(asked);
  let beyond: StatusCounts = new Map();
  for (const id of asked) {
    const status = submissions.get(id)?.status ?? '';
    const row = rows.get(id);
    const isLive = row !== undefined && row.deletedAt === null;
    if (isLive && row.status === status) continue;
    if (!isLive && (await isUnstored(reader, id))) continue;
    if (isLive) beyond = plusCounts(beyond, new Map([[row.status, -1]]));
    beyond = plusCounts(beyond, new Map([[status, 1]]));
  }
  return askable(beyond);
}

/** What is dated after everything that the form's last pass has seen. */
function afterWatermark(
  { checkpoint }: FormOverview,
  submissions: ReadonlyMap<string, Submission>,
): StatusCounts {
  const watermark = checkpoint?.watermark ?? null;
  let beyond: StatusCounts = new Map();
  for (const { createdAt, status } of submissions.values()) {
    const time = canonicalTime(createdAt);
    if (time === null || (watermark !== null && compareTimes(time, watermark) <= 0)) continue;
    beyond = plusCounts(beyond, new Map([[status, 1]]));
  }
  return askable(beyond);
}

/** Known, and accounted for without a row: listed as rejected, or forgotten. */
async function isUnstored(reader: FormReader, id: string): Promise<boolean> {
  if ((await reader.forgotten([id])).size > 0) return true;
  return (await reader.traces([id])).listings > 0;
}
