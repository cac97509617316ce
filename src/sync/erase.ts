import { isAbort, type MirrorError, toMirrorError } from '../base/errors.ts';
import type { FormsClient } from '../forms/client.ts';
import {
  type Copy,
  type CopyReader,
  type CopyWriter,
  type Erasure,
  type FormOverview,
  NOTHING_ERASED,
} from '../mirror/target.ts';
import type { FormIdentity } from '../mirror/types.ts';

/** A target, and whether the settings have it mirror a form. */
export interface EraseTarget {
  readonly target: Copy;
  readonly mirrors: (form: FormIdentity) => boolean;
}

/** How erasures go about it. */
export interface EraseOptions {
  /** How long to wait for a pass over the same form to end: an erasure takes the lock of a pass (L13). */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** What failed already, and is not tried: where it could not be counted, say. */
  readonly untried?: readonly ErasureReport[];
}

/** Submissions of one form. */
export interface FormIds {
  readonly form: FormIdentity;
  readonly ids: readonly string[];
}

/** Which forms submissions belong to, as far as that can be found out. */
export interface FoundForms {
  readonly forms: readonly FormIds[];
  /** Neither the source nor a target knows them. */
  readonly unknown: readonly string[];
}

/** What an erasure did, or would do, in one form of one target. `failure`: why it did nothing, or not all of it. */
export interface ErasureReport extends Erasure {
  readonly target: string;
  readonly form: FormIdentity;
  /** Submissions that were to be forgotten, or remembered; for fields: how many were emptied. */
  readonly asked: number;
  readonly failure: MirrorError | null;
}

/**
 * Finds the forms of submissions: the one that the source says, and every other one in which a target holds, lists or has
 * forgotten them, as a submission may have been moved. Neither a source nor a target that does not answer stops the search.
 */
export async function findForms(
  { client, targets }: { client: FormsClient | undefined; targets: readonly EraseTarget[] },
  ids: readonly string[],
  signal: AbortSignal,
): Promise<FoundForms> {
  const found = new Map<string, { form: FormIdentity; ids: string[] }>();
  const add = (form: FormIdentity, id: string): void => {
    const entry = found.get(form.id) ?? { form, ids: [] };
    if (!entry.ids.includes(id)) entry.ids.push(id);
    found.set(form.id, entry);
  };
  const known = new Map<string, FormIdentity>();
  const readers: { form: FormIdentity; reader: CopyReader }[] = [];
  for (const { target } of targets) {
    for (const overview of await orNone(target.overview())) {
      const form = identityOf(overview);
      known.set(form.id, form);
      const reader = await orUndefined(target.reader(form.id));
      if (reader !== undefined) readers.push({ form, reader });
    }
  }
  for (const id of ids) {
    const item = await orUndefined(client?.getSubmission(id, { signal }));
    const formId = item?.submission?.formId || undefined;
    if (formId === undefined) continue;
    add(known.get(formId) ?? (await formAtSource(client, formId, signal)), id);
  }
  // What the source says does not end the search: a target may hold it in the form that it was in before.
  for (const { form, reader } of readers) {
    const others = ids.filter((id) => found.get(form.id)?.ids.includes(id) !== true);
    for (const id of await knownOf(reader, others)) add(form, id);
  }
  const all = new Set([...found.values()].flatMap((entry) => entry.ids));
  return { forms: [...found.values()], unknown: ids.filter((id) => !all.has(id)) };
}

const identityOf = ({ formId: id, slug, name }: FormOverview): FormIdentity => ({ id, slug, name });

async function formAtSource(
  client: FormsClient | undefined,
  formId: string,
  signal: AbortSignal,
): Promise<FormIdentity> {
  const form = await orUndefined(client?.getForm(formId, { signal }));
  return { id: formId, slug: form?.slug ?? formId, name: form?.name ?? formId };
}

/** Of these submissions those that a target has to do with. One that does not answer fails when it is to be erased from. */
async function knownOf(reader: CopyReader, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const forgotten = await orUndefined(reader.forgotten(ids));
  const traced = new Set(await tracedOf(reader, ids));
  return ids.filter((id) => traced.has(id) || forgotten?.has(id) === true);
}

/** Of these submissions those that a target holds anything of. In halves: mostly it is none of them. */
async function tracedOf(reader: CopyReader, ids: readonly string[]): Promise<readonly string[]> {
  const traces = await orUndefined(reader.traces(ids));
  if (traces === undefined || Object.values(traces).every((count) => count === 0)) return [];
  if (ids.length === 1) return ids;
  const middle = Math.ceil(ids.length / 2);
  const [one, two] = [ids.slice(0, middle), ids.slice(middle)];
  return [...(await tracedOf(reader, one)), ...(await tracedOf(reader, two))];
}

/** What {@link forget} would remove. Changes nothing. */
export const previewForget = (
  targets: readonly EraseTarget[],
  forms: readonly FormIds[],
): Promise<ErasureReport[]> =>
  inEach(targets, forms, async (target, { form, ids }) => {
    const traces = await (await target.reader(form.id))?.traces(ids);
    return { ...NOTHING_ERASED, ...traces };
  });

/**
 * Forgets submissions in every target that mirrors their form, or holds it (L18): what is held of them is removed, and
 * they stay away while the source still has them. A target that fails holds up no other (L12); all may be repeated.
 */
export const forget = (
  targets: readonly EraseTarget[],
  forms: readonly FormIds[],
  at: string,
  options: EraseOptions,
): Promise<ErasureReport[]> =>
  inEach(
    targets,
    forms,
    async (target, { form, ids }) => {
      const erasure = await writing(target, form, options, (writer) => writer.forget(ids, at));
      return { ...erasure, failure: await scrubbed(target) };
    },
    options.untried,
  );

/**
 * Scrubs a target after something was erased. Its failure, or null: what is gone from the tables is told all the same, though its
 * traces in the files are not gone yet.
 */
export const scrubbed = (target: Copy): Promise<MirrorError | null> =>
  target.scrub().then(() => null, toMirrorError);

/** Lets forgotten submissions come back with the next pass; `rows` of the reports: how many were forgotten. */
export const remember = (
  targets: readonly EraseTarget[],
  forms: readonly FormIds[],
  options: EraseOptions,
): Promise<ErasureReport[]> =>
  inEach(
    targets,
    forms,
    async (target, { form, ids }) => {
      const rows = await writing(target, form, options, (writer) => writer.remember(ids));
      return { ...NOTHING_ERASED, rows };
    },
    options.untried,
  );

/** How many of the submissions are forgotten, as {@link remember} would report. */
export const previewRemember = (
  targets: readonly EraseTarget[],
  forms: readonly FormIds[],
): Promise<ErasureReport[]> =>
  inEach(targets, forms, async (target, { form, ids }) => {
    const forgotten = await (await target.reader(form.id))?.forgotten(ids);
    return { ...NOTHING_ERASED, rows: forgotten?.size ?? 0 };
  });

/** Runs `work` with a writer of the form, which waits for a running pass to end. */
export async function writing<T>(
  target: Copy,
  form: FormIdentity,
  { waitMs, signal }: EraseOptions,
  work: (writer: CopyWriter) => Promise<T>,
): Promise<T> {
  await using writer = await target.openWriter(form, { waitMs, signal, whilePaused: true });
  return await work(writer);
}

/** Runs `work` for each form in each target that has to do with it; those of `untried` are told as they are. */
async function inEach(
  targets: readonly EraseTarget[],
  forms: readonly FormIds[],
  work: (target: Copy, form: FormIds) => Promise<Erasure & Partial<Pick<ErasureReport, 'failure'>>>,
  untried: readonly ErasureReport[] = [],
): Promise<ErasureReport[]> {
  const reports: ErasureReport[] = [];
  for (const { target, mirrors } of targets) {
    for (const each of forms) {
      const about = { target: target.name, form: each.form, asked: each.ids.length };
      const failed = untried.find(
        (one) => one.target === target.name && one.form.id === each.form.id,
      );
      if (failed !== undefined) {
        reports.push(failed);
        continue;
      }
      try {
        const held = mirrors(each.form) || (await target.reader(each.form.id)) !== undefined;
        if (held) reports.push({ ...about, failure: null, ...(await work(target, each)) });
      } catch (error) {
        reports.push({ ...about, ...NOTHING_ERASED, failure: toMirrorError(error) });
      }
    }
  }
  return reports;
}

const orNone = async <T>(asked: Promise<readonly T[]>): Promise<readonly T[]> =>
  (await orUndefined(asked)) ?? [];

/** What was asked for; undefined where there is no answer, unless a person stops the search. */
async function orUndefined<T>(asked: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isAbort(error)) throw error;
    return undefined;
  }
}
