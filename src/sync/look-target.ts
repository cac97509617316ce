import { canonicalTime, compareTimes } from '../mirror/canonical-time.ts';
import { fingerprint } from '../mirror/hashing.ts';
import type { LookRecord, OtherCounts, WithheldForm } from '../mirror/look-record.ts';
import { pauseOf, wholePause } from '../mirror/pauses.ts';
import type { StoringSettings } from '../mirror/proven-for.ts';
import {
  NO_COUNTS,
  plusCounts,
  sameCounts,
  type StatusCounts,
  sumOf,
  totalOf,
} from '../mirror/status-counts.ts';
import type { FormOverview, FormReader, StoredRow, Target } from '../mirror/target.ts';
import type { Form, Submission } from '../mirror/types.ts';
import { askable } from './look-counts.ts';
import { type MarkingRules, type SettledForm, settledForm, withheldCopy } from './look-form.ts';
import type { PageVerdict, TargetFacts } from './look-judgement.ts';
import { asOnePage, foreignSince, type NewestPage } from './look-page.ts';
import type { Turns } from './turns.ts';

/** A form that is settled, as far as its target can tell. */
export interface LookedForm extends SettledForm {
  readonly overview: FormOverview;
  /** Its rows; undefined where they are not to be read. */
  readonly held: HeldRows | undefined;
}

/** What a look knows of a target before it asks the source. */
export interface LookedTarget {
  readonly target: Target;
  readonly settled: ReadonlyMap<string, LookedForm>;
  /** IDs of all forms that it holds, whoever mirrors them. */
  readonly held: readonly string[];
  /** Those of them that were found gone at the source. */
  readonly gone: ReadonlySet<string>;
  readonly lastLook: LookRecord | null;
  /** Of forms whose deletions are withheld, settled or not: see {@link withheldCopy}. */
  readonly withheld: ReadonlyMap<string, Pick<WithheldForm, 'copy' | 'provenAt'>>;
  /** Whether people have a form left alone here: nothing is found out of it. */
  readonly isPaused: (formId: string) => boolean;
  /** The same of the target as a whole: nothing of the look is kept there. */
  readonly isLeftAlone: boolean;
  /** IDs of the forms whose statuses are to be counted where forms are asked one by one. */
  readonly toCount: ReadonlySet<string>;
}

/** What {@link lookAtTarget} goes by. */
export interface TargetQuestion {
  /** The forms that it mirrors, as the list of forms shows them. */
  readonly forms: readonly Form[];
  readonly storing: StoringSettings;
  readonly marking: MarkingRules | undefined;
  /** Throws while nothing of the form may be stored. */
  readonly requireNames: (form: Form) => Promise<void>;
  /** Of a metered target: of so many forms, those whose turn it is, the rows are looked at. */
  readonly rowsOf: number;
  readonly turns: Turns;
  /** True once nobody waits for the answer any more. */
  readonly isLate: () => boolean;
}

/** Within so many looks a form's statuses are counted, where the workspace's can't be. */
const COUNTED_WITHIN_LOOKS = 6;
/** Forms that are judged at the same time. */
const FORMS_AT_ONCE = 4;

/** Judges a target's forms without asking the source. Rejects as the target does. */
export async function lookAtTarget(
  target: Target,
  { forms, storing, marking, requireNames, rowsOf, turns, isLate }: TargetQuestion,
): Promise<LookedTarget> {
  // One after the other, as a spreadsheet has what the first of them read for the rest.
  const held = await target.overview();
  const lastLook = await target.lastLook();
  const pauses = await target.pauses();
  const overviews = new Map(held.map((form) => [form.formId, form]));
  const isPaused = (formId: string): boolean => pauseOf(pauses, formId) !== null;
  const settled = new Map<string, LookedForm>();
  const copies = new Map<string, Pick<WithheldForm, 'copy' | 'provenAt'>>();
  const judged = forms.filter(({ id }) => !isPaused(id));
  const ids = judged.map(({ id }) => id).filter((id) => overviews.get(id)?.isAsStored !== true);
  const due = turns.next(`rows of ${target.name}`, ids, rowsOf);
  const queue = judged.values();
  const judgeOneByOne = async (): Promise<void> => {
    for (const form of queue) {
      const overview = overviews.get(form.id);
      if (isLate()) return;
      if (overview === undefined) continue;
      const readsRows = due.has(form.id);
      const copy = await withheldCopy(target, overview);
      if (copy !== null) copies.set(form.id, copy);
      const before = lastLook?.withheld?.get(form.id);
      const withheld = before?.copy === copy?.copy ? before : undefined;
      const judged = { target, overview, form, storing, marking, readsRows, withheld };
      const found = await settledForm(judged);
      if (found !== null && (await isAllowed(requireNames, form))) {
        const { reader } = found;
        const held =
          target.isMetered === true || reader === undefined ? undefined : new HeldRows(reader);
        settled.set(form.id, { ...found, overview, held });
      }
    }
  };
  await Promise.all(Array.from({ length: FORMS_AT_ONCE }, judgeOneByOne));
  const toCount = longestUncounted(lastLook);
  const isLeftAlone = wholePause(pauses) !== null;
  return {
    target,
    settled,
    held: [...overviews.keys()],
    gone: new Set(held.flatMap(({ formId, goneAt }) => (goneAt === null ? [] : [formId]))),
    lastLook,
    withheld: copies,
    isPaused,
    isLeftAlone,
    toCount,
  };
}

/** A fifth of the forms that the last look did not count: so all are counted within some six looks. */
function longestUncounted(look: LookRecord | null): Set<string> {
  const times = [...(look?.uncounted ?? [])].toSorted(([, a], [, b]) =>
    (a ?? '') < (b ?? '') ? -1 : 1,
  );
  const most = Math.ceil(times.length / (COUNTED_WITHIN_LOOKS - 1));
  return new Set(times.slice(0, most).map(([formId]) => formId));
}

/** The pass says why not. */
async function isAllowed(
  requireNames: TargetQuestion['requireNames'],
  form: Form,
): Promise<boolean> {
  return requireNames(form).then(
    () => true,
    () => false,
  );
}

/**
 * The facts that a target's forms are judged by. `pages`: the workspace's list, as far as it was read; `deep`: submissions there
 * that are known are compared as well.
 */
export async function factsOf(
  { settled, lastLook, toCount }: LookedTarget,
  planned: ReadonlySet<string>,
  pages: readonly NewestPage[],
  deep: boolean,
): Promise<TargetFacts> {
  const list = asOnePage(pages);
  const submissions = (list?.items ?? []).flatMap(({ submission }) =>
    submission === null ? [] : [submission],
  );
  const newest = new Set(pages[0]?.items.map(({ key }) => key));
  const tail = tailOf(pages);
  const shown = new Map<string, StatusCounts>();
  const older = new Set<string>();
  let inTail = 0;
  for (const [formId, all] of Map.groupBy(submissions, (each) => each.formId)) {
    const form = settled.get(formId);
    if (form === undefined) continue;
    const own = new Map(all.map((each) => [each.id, each]));
    const newer = afterWatermark(form.overview, own);
    const beyond = (await form.held?.beyond(own, deep)) ?? newer;
    const counts = sumOf(beyond.values());
    if (counts.size > 0) shown.set(formId, counts);
    const ids = [...beyond.keys()];
    inTail += ids.filter((id) => tail.has(id)).length;
    if (ids.some((id) => !newest.has(id) && !newer.has(id))) older.add(formId);
  }
  const others = othersOf(lastLook, planned);
  const elsewhere = list === null ? [] : foreignSince(list, planned, others?.newest ?? null);
  inTail += elsewhere.filter(({ id }) => tail.has(id)).length;
  const size = Math.max(1, pages[0]?.items.length ?? 0);
  return {
    settled: new Map([...settled].map(([formId, form]) => [formId, askable(form.accounted)])),
    unsettled: [...planned].filter((formId) => !settled.has(formId)),
    others: others && askable(others.statuses),
    shown,
    older,
    elsewhere: sumOf(elsewhere.map(({ status }) => askable(new Map([[status, 1]])))),
    list: {
      read: pages.length,
      pages: Math.ceil((list?.total ?? 0) / size),
      perPage: 2 * inTail,
    },
    due: toCount,
    news: (page) => newsOn(page, list),
    compare: async (formId, page) => {
      const form = settled.get(formId);
      return form === undefined ? 'differs' : compareWithPage(form, page);
    },
  };
}

/** What comes first on a page that is read later, before anything that the list has shown. */
function newsOn({ items }: NewestPage, before: NewestPage | null): Submission[] {
  const known = new Set(before?.items.map(({ key }) => key));
  const end = items.findIndex(({ key }) => known.has(key));
  const news = end === -1 ? items : items.slice(0, end);
  return news.flatMap(({ submission }) => submission ?? []);
}

/** Compares a form with the newest page of its own list. */
async function compareWithPage(
  { accounted, overview, held }: LookedForm,
  { items, total }: NewestPage,
): Promise<PageVerdict> {
  const own = new Map(
    items.flatMap(({ key, submission }) => (submission ? [[key, submission]] : [])),
  );
  const isPlain =
    own.size === items.length && [...own.values()].every(({ status }) => status !== '');
  const beyond = (await held?.beyond(own, true)) ?? afterWatermark(overview, own);
  if (isPlain && items.length === total) {
    const counts = sumOf([...own.values()].map(({ status }) => new Map([[status, 1]])));
    // In the counts, a newcomer would hide a deletion.
    return beyond.size === 0 && sameCounts(counts, accounted) ? 'agrees' : 'differs';
  }
  const found = sumOf(beyond.values());
  if (total - totalOf(accounted) !== totalOf(found)) return 'differs';
  return found.size === 0 ? 'alike' : 'newer';
}

/** The end of the last page, without what a page before it shows: some answer each page number with the same page. */
function tailOf(pages: readonly NewestPage[]): Set<string> {
  const last = pages.at(-1)?.items ?? [];
  const before = new Set(pages.slice(0, -1).flatMap(({ items }) => items.map(({ key }) => key)));
  return new Set(last.slice(last.length >> 1).map(({ key }) => key)).difference(before);
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

/**
 * A form's rows during one look. Each is read once, as what is accounted for was: a list that is judged again, after a
 * further page perhaps, costs only what it did not show before.
 */
class HeldRows {
  readonly #reader: FormReader;
  readonly #confirmed = new Map<string, boolean>();
  /** Of each submission, by the status that it was shown with. */
  readonly #beyond = new Map<string, ReadonlyMap<string, StatusCounts>>();

  constructor(reader: FormReader) {
    this.#reader = reader;
  }

  /** By submission, what the source shows of the form beyond its rows: newcomers and, `deep`, statuses that changed. */
  async beyond(
    submissions: ReadonlyMap<string, Submission>,
    deep: boolean,
  ): Promise<Map<string, StatusCounts>> {
    const ids = [...submissions.keys()];
    if (!deep) await this.#confirm(ids.filter((id) => !this.#confirmed.has(id)));
    const asked = deep ? ids : ids.filter((id) => this.#confirmed.get(id) === false);
    const statusOf = (id: string): string => submissions.get(id)?.status ?? '';
    await this.#compare(
      new Map(
        asked
          .filter((id) => !(this.#beyond.get(id)?.has(statusOf(id)) ?? false))
          .map((id) => [id, statusOf(id)]),
      ),
    );
    const beyond = new Map<string, StatusCounts>();
    for (const id of asked) {
      const counts = this.#beyond.get(id)?.get(statusOf(id)) ?? NO_COUNTS;
      if (counts.size > 0) beyond.set(id, counts);
    }
    return beyond;
  }

  async #confirm(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const confirmed = await this.#reader.confirm(ids);
    for (const id of ids) this.#confirmed.set(id, confirmed.has(id));
  }

  async #compare(statuses: ReadonlyMap<string, string>): Promise<void> {
    if (statuses.size === 0) return;
    const rows = await this.#reader.rows([...statuses.keys()]);
    for (const [id, status] of statuses) {
      const row = rows.get(id);
      const counts = await this.#beyondRow(id, status, row?.deletedAt === null ? row : undefined);
      this.#beyond.set(id, new Map(this.#beyond.get(id)).set(status, counts));
    }
  }

  /** What a status shows beyond the row that is there, if one is. */
  async #beyondRow(id: string, status: string, row: StoredRow | undefined): Promise<StatusCounts> {
    if (row === undefined) {
      return (await isUnstored(this.#reader, id)) ? NO_COUNTS : askable(new Map([[status, 1]]));
    }
    if (row.status === status) return NO_COUNTS;
    const before: StatusCounts = new Map([[row.status, -1]]);
    return askable(plusCounts(before, new Map([[status, 1]])));
  }
}

/** By submission, what is dated after everything that the form's last pass has seen. */
function afterWatermark(
  { checkpoint }: FormOverview,
  submissions: ReadonlyMap<string, Submission>,
): Map<string, StatusCounts> {
  const watermark = checkpoint?.watermark ?? null;
  const beyond = new Map<string, StatusCounts>();
  for (const [id, { createdAt, status }] of submissions) {
    const time = canonicalTime(createdAt);
    if (time === null || (watermark !== null && compareTimes(time, watermark) <= 0)) continue;
    beyond.set(id, askable(new Map([[status, 1]])));
  }
  return beyond;
}

/** Known, and accounted for without a row: listed as rejected, or forgotten. */
async function isUnstored(reader: FormReader, id: string): Promise<boolean> {
  if ((await reader.forgotten([id])).size > 0) return true;
  return (await reader.traces([id])).listings > 0;
}
