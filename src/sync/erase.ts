import { hostname, userInfo } from 'node:os';
import { isAbort, type MirrorError, toMirrorError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Source } from '../forms/source.ts';
import { distrust } from '../mirror/form-state.ts';
import type { OpenForm, ReadForm, StoredField, TargetNotice } from '../mirror/port.ts';
import type { FormIdentity } from '../mirror/types.ts';
import {
  allRows,
  formsIn,
  idsOf,
  LISTED,
  reading,
  type Target,
  type Waiting,
  whileBusy,
} from './target.ts';
import { noteWriteBack } from './records.ts';

/*
 * An erasure on request: the submission leaves rows, history, lists and files, and stays away (L18).
 */

/** Submissions of one form. */
export interface FormIds {
  readonly form: FormIdentity;
  readonly ids: readonly string[];
}

/** The forms that submissions belong to, as far as they could be found. */
export interface FoundForms {
  readonly forms: readonly FormIds[];
  /** No source or target that answered knows them. */
  readonly unknown: readonly string[];
  /** Why a source or target did not answer (the first such error); null if all did. */
  readonly failure: MirrorError | null;
}

/** What an erasure did, or would do, in one form of one target. */
export interface ErasureReport {
  readonly target: string;
  readonly form: FormIdentity;
  /** Submissions to forget or to let come back; for fields, how many were emptied. */
  readonly asked: number;
  /** Rows that were removed or that lost answers. For submissions to forget: those that had a row or were listed. */
  readonly rows: number;
  /** The fields whose answers were removed; empty if whole submissions were. */
  readonly fields: readonly Pick<StoredField, 'id' | 'label'>[];
  /** About rows without an ID, and copied rows: the target cannot tell whether they belong to an erased submission. */
  readonly unowned: readonly TargetNotice[];
  /** Why it did nothing, or not all; null if it did everything. */
  readonly failure: MirrorError | null;
}

/** The report of an erasure that found nothing, or could not begin. */
export const nothingErased = (
  target: string,
  failure: MirrorError | null = null,
): ErasureReport => ({
  target,
  form: { id: '', slug: '', name: '' },
  asked: 0,
  fields: [],
  unowned: [],
  rows: 0,
  failure,
});

/**
 * Finds the forms of submissions: the form that the source names, and every other form that stores, lists or has forgotten them in
 * a target, because a submission may have been moved. A source or target that does not answer does not stop the search.
 */
export async function findForms(
  { source, targets }: { source: Source | undefined; targets: readonly Target[] },
  ids: readonly string[],
): Promise<FoundForms> {
  const found = new Map<string, { form: FormIdentity; ids: Set<string> }>();
  let failure: MirrorError | null = null;
  const orUndefined = async <T>(asked: Promise<T>): Promise<T | undefined> => {
    try {
      return await asked;
    } catch (error) {
      if (isAbort(error)) throw error;
      failure ??= toMirrorError(error);
      return undefined;
    }
  };
  const add = (form: FormIdentity, id: string): void => {
    const entry = found.get(form.id) ?? { form, ids: new Set<string>() };
    entry.ids.add(id);
    found.set(form.id, entry);
  };
  for (const target of targets) {
    for (const { id, slug, name } of (await orUndefined(formsIn(target))) ?? []) {
      const known = await orUndefined(reading(target, id, (form) => knownIn(form, ids, true)));
      for (const submission of known ?? []) add({ id, slug, name }, submission);
    }
  }
  for (const id of ids) {
    const item = source && (await orUndefined(source.submissionOrNull(id)));
    const formId = item?.submission?.formId ?? '';
    if (source === undefined || formId === '') continue;
    const form = found.get(formId)?.form ?? (await orUndefined(source.form(formId)));
    add({ id: formId, slug: form?.slug ?? formId, name: form?.name ?? formId }, id);
  }
  const forms: FormIds[] = [];
  for (const { form, ids: some } of found.values()) forms.push({ form, ids: [...some] });
  const all = new Set(forms.flatMap((each) => each.ids));
  return { forms, unknown: ids.filter((id) => !all.has(id)), failure };
}

/** The submissions among these that a target stores, lists or has forgotten. */
export async function knownIn(
  form: ReadForm,
  ids: readonly string[],
  withForgotten: boolean,
): Promise<Set<string>> {
  const known = await idsOf(allRows(form, { ids }));
  for (const { id } of await form.entries([...LISTED, 'held', 'refused']))
    if (ids.includes(id)) known.add(id);
  if (withForgotten) for (const id of (await form.forgotten(ids)).keys()) known.add(id);
  return known;
}

/** Options of an erasure. `dryRun`: counts, and changes nothing. */
export interface ErasureOptions extends Waiting {
  readonly dryRun: boolean;
}

/**
 * Forgets submissions in every target that mirrors or has their form: removes their data, and keeps them away while the source
 * still has them. If a target fails, the others continue (L12). Every step may be repeated.
 */
export const forget = (
  targets: readonly Target[],
  forms: readonly FormIds[],
  options: ErasureOptions,
): Promise<ErasureReport[]> =>
  inTheirs(targets, forms, options, async (open, write, { store }, { form, ids }) => {
    const { size: rows } = await knownIn(open, ids, false);
    if (write === null) return rows;
    // The last write-back's message may name one of them; the next write-back reports again.
    await noteWriteBack(store, form.id, null);
    // The source may count a submission that was never stored, with a status that is not known here. A run finds out.
    if ((await knownIn(open, ids, true)).size < ids.length) await write.commit({ state: distrust });
    await write.erase({ kind: 'forget', ids });
    return rows;
  });

/** Lets forgotten submissions come back with the next run. `rows` of the reports: how many were forgotten. */
export const remember = (
  targets: readonly Target[],
  forms: readonly FormIds[],
  options: ErasureOptions,
): Promise<ErasureReport[]> =>
  inTheirs(targets, forms, options, async (open, write, _target, { ids }) => {
    const { size: rows } = await open.forgotten(ids);
    if (write === null || rows === 0) return rows;
    // A submission that may come back is not in the copy until a run has looked for it.
    await write.commit({ state: distrust });
    await write.erase({ kind: 'remember', ids });
    return rows;
  });

/**
 * Runs `work` with the form open for writing, even if it is paused: erasing must not wait. Repeats `work`, which must allow that,
 * while another process has the form or if one takes it over. `notices`: those for a person.
 */
export async function writing<T>(
  target: Target,
  form: FormIdentity,
  waiting: Waiting,
  work: (open: OpenForm) => Promise<T>,
): Promise<{ readonly done: T; readonly notices: readonly TargetNotice[] }> {
  return whileBusy(target.clock, waiting, async () => {
    await using open = await target.store.open(form);
    const done = await work(open);
    return { done, notices: await open.finish() };
  });
}

/** Runs `work` for each of these forms in each target that mirrors or has it. `write`: null for a dry run. */
const inTheirs = (
  targets: readonly Target[],
  forms: readonly FormIds[],
  options: ErasureOptions,
  work: (open: ReadForm, write: OpenForm | null, target: Target, form: FormIds) => Promise<number>,
): Promise<ErasureReport[]> =>
  inEach(
    targets,
    async (target) => {
      const known = new Set((await formsIn(target)).map(({ id }) => id));
      return forms.filter(({ form }) => known.has(form.id) || target.isChosen(form));
    },
    async (target, each) => {
      const { form, ids } = each;
      const asked = ids.length;
      if (options.dryRun) {
        const rows = await reading(target, form.id, (open) => work(open, null, target, each));
        return { rows: rows ?? 0, asked };
      }
      const { done: rows, notices } = await writing(target, form, options, (open) =>
        work(open, open, target, each),
      );
      const unowned = notices.filter(({ code }) => code.startsWith('ROWS_'));
      return { rows, asked, unowned };
    },
  );

/**
 * Runs `work` for each form of each target, and returns its reports, without those that are null. A target or form that fails does
 * not stop the others (L12).
 */
export async function inEach<F>(
  targets: readonly Target[],
  formsOf: (target: Target) => Promise<readonly (F & { readonly form: FormIdentity })[]>,
  work: (
    target: Target,
    form: F & { readonly form: FormIdentity },
  ) => Promise<Partial<ErasureReport> | null>,
): Promise<ErasureReport[]> {
  const reports: ErasureReport[] = [];
  for (const target of targets) {
    const none = nothingErased(target.name);
    let { form } = none;
    const fail = (error: unknown): unknown =>
      reports.push({ ...none, form, failure: toMirrorError(error) });
    const forms = await formsOf(target).catch((error: unknown) => void fail(error));
    for (const each of forms ?? []) {
      ({ form } = each);
      try {
        const done = await work(target, each);
        if (done !== null) reports.push({ ...none, form, ...done });
      } catch (error) {
        fail(error);
      }
    }
  }
  return reports;
}

/** The user of this process, for logs and pauses. */
export function person(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A container may run as a user without a name.
    return `user ${process.getuid?.() ?? 'unknown'}@${hostname()}`;
  }
}

/** Logs who erased or restored submissions, how many and where; without IDs and answers. */
export function logErasures(
  logger: Logger,
  { command, by }: { readonly command: string; readonly by: string },
  reports: readonly ErasureReport[],
): void {
  const message =
    command === 'forget --undo' ? 'The forgotten submissions may come back.' : 'Erased on request.';
  for (const { target, form, asked, rows, failure } of reports) {
    const fields = { command, by, target, form: form.id, asked, rows };
    if (failure === null) logger.warn(fields, message);
    else logger.error({ ...fields, err: failure }, 'An erasure failed. Repeat it.');
  }
}
