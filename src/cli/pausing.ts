import type { App } from '../app.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { type Pause, pauseText, resumeCommand } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { findForm } from '../sync/form-choice.ts';
import { pause, PAUSES, resume } from '../sync/records.ts';
import { heldForms, type Target } from '../sync/target.ts';
import type { DoneLine } from '../web/actions.ts';
import { requireForm } from './selection.ts';

/*
 * Pausing and resuming, for the commands and for the status page.
 */

/** The place to pause or resume: a form, or, for null, whole targets. */
export interface PausePlaces {
  readonly form: FormIdentity | null;
  /** Names. */
  readonly targets: readonly string[];
}

/** The outcome in one target. */
export interface PauseOutcome {
  readonly form: FormIdentity | null;
  readonly target: string;
  /** The pause in force, or the one that has ended; null for none. */
  readonly pause: Pause | null;
  /** It was not so before. */
  readonly isNew: boolean;
  /** The pauses still in force there. */
  readonly others: readonly Pause[];
  readonly failure: MirrorError | null;
}

/**
 * The targets and the form that a person means; without a target all that mirror the form. The targets are asked for their forms
 * first: pausing must not depend on the source. Throws USAGE for an unknown name.
 */
export async function findPausePlaces(
  app: App,
  wanted: { readonly form?: string | undefined; readonly target?: string | undefined },
  signal: AbortSignal,
): Promise<PausePlaces> {
  const targets =
    wanted.target === undefined ? app.targetNames : [app.settingsOf(wanted.target).name];
  if (wanted.form === undefined) return { form: null, targets };
  const asked = await Promise.all(targets.map((name) => askTarget(app, name)));
  const form = await formMeant(app, wanted.form, asked, signal);
  // A form that the settings no longer choose may be paused from before: that has to end, too.
  const chosen = asked
    .filter(({ name, paused }) => paused.has(form.id) || app.isChosen(name, form))
    .map(({ name }) => name);
  if (chosen.length > 0) return { form, targets: chosen };
  throw new MirrorError(
    'USAGE',
    `No target mirrors the form ${form.slug}: its settings choose others (TARGET_FORMS).`,
  );
}

/** What a target knows of forms. */
interface AskedTarget {
  readonly name: string;
  readonly held: readonly FormIdentity[];
  /** IDs of forms that are paused by themselves. */
  readonly paused: ReadonlySet<string>;
}

/** Nothing of one that does not answer; pausing it reports that. */
async function askTarget(app: App, name: string): Promise<AskedTarget> {
  const ask = async <T>(of: (target: Target) => Promise<readonly T[]>): Promise<readonly T[]> =>
    app
      .target(name)
      .then(of)
      .catch(() => []);
  const [held, pauses] = await Promise.all([
    ask(heldForms),
    ask(({ store }) => PAUSES.read(store)),
    app.readSlugs(name).catch(() => undefined),
  ]);
  return { name, held, paused: new Set(pauses.flatMap(({ formId }) => formId ?? [])) };
}

async function formMeant(
  app: App,
  wanted: string,
  asked: readonly AskedTarget[],
  signal: AbortSignal,
): Promise<FormIdentity> {
  const known = new Map<string, FormIdentity>();
  for (const { held } of asked)
    for (const { id, slug, name } of held) known.set(id, { id, slug, name });
  for (const id of asked.flatMap(({ paused }) => [...paused]))
    if (!known.has(id)) known.set(id, { id, slug: id, name: id });
  const held = findForm([...known.values()], wanted);
  if (held !== undefined) return held;
  if (app.config.source === undefined) {
    throw new MirrorError(
      'USAGE',
      `No target that answers holds a form ${wanted}, and the workspace was not asked: FORMS_API_URL and FORMS_API_KEY are not set. Set them, or check the name.`,
    );
  }
  const listed = await app.forms(signal);
  const all = new Map([...known, ...listed.map((one) => [one.id, one] as const)]);
  return requireForm([...all.values()], wanted);
}

/** Pauses; a target that cannot be reached holds up no other. `by`, `reason`, `since`: as in {@link Pause}. */
export function pausePlaces(
  app: App,
  { form, targets }: PausePlaces,
  how: Omit<Pause, 'formId'>,
): Promise<PauseOutcome[]> {
  const formId = form?.id ?? null;
  return inEach(app, form, targets, async ({ store }) => {
    const before = await PAUSES.read(store);
    const made = await pause(store, { ...how, formId });
    return { pause: made, isNew: !before.some((each) => each.formId === formId), others: [] };
  });
}

/** Resumes; pauses of single forms do not end with that of their target. */
export function resumePlaces(app: App, { form, targets }: PausePlaces): Promise<PauseOutcome[]> {
  const formId = form?.id ?? null;
  return inEach(app, form, targets, async ({ store }) => {
    const ended = await resume(store, formId);
    const left = await PAUSES.read(store);
    // A form is held up by the pause of its target, and a target's forms by their own.
    const others = formId === null ? left : left.filter((each) => each.formId === null);
    return { pause: ended ?? null, isNew: ended !== undefined, others };
  });
}

async function inEach(
  app: App,
  form: FormIdentity | null,
  targets: readonly string[],
  work: (target: Target) => Promise<Pick<PauseOutcome, 'pause' | 'isNew' | 'others'>>,
): Promise<PauseOutcome[]> {
  return Promise.all(
    targets.map(async (name) => {
      const place = { form, target: name };
      try {
        return { ...place, ...(await work(await app.target(name))), failure: null };
      } catch (error) {
        const nothing = { pause: null, isNew: false, others: [] };
        return { ...place, ...nothing, failure: toMirrorError(error) };
      }
    }),
  );
}

/** `contact in default`, `Target default`. */
export const placeName = (form: FormIdentity | null, target: string): string =>
  form === null ? `Target ${target}` : `${form.slug === '' ? form.id : form.slug} in ${target}`;

/** What pausing has done. */
export function pausedLines(outcomes: readonly PauseOutcome[]): DoneLine[] {
  return outcomes.map(({ form, target, pause: made, isNew, failure }) => {
    const what = placeName(form, target);
    if (failure !== null || made === null) {
      return { ok: false, text: `${what} is not paused: ${failure?.message ?? 'it could not be'}` };
    }
    const text = isNew
      ? `${what} is ${pauseText(made)}.`
      : `${what} was already ${pauseText(made)}.`;
    return { ok: true, text };
  });
}

/** What every pause means, for the person who has just made one. */
export const PAUSE_MEANS =
  'No process writes there any more, and the status of its submissions is not changed. A run under way ends before its next batch, within some seconds (of a sheet within a minute); the rows that it stored stay. You can still erase (forget, purge).';

/** What resuming has done, and what stays paused. */
export function resumedLines(outcomes: readonly PauseOutcome[]): DoneLine[] {
  return outcomes.flatMap(({ form, target, pause: ended, others, failure }) => {
    const what = placeName(form, target);
    if (failure !== null) {
      return [{ ok: false, text: `${what} is not resumed: ${failure.message}` }];
    }
    const text =
      ended === null
        ? `${what} was not paused.`
        : `${what} is resumed; it was ${pauseText(ended)}. The next poll finds what changed during the pause.`;
    const left = others.map((other) => {
      const name =
        other.formId === null ? `Target ${target}` : `The form ${other.formId} in ${target}`;
      return {
        ok: true,
        text: `${name} stays ${pauseText(other)}; to resume it: ${resumeCommand(other, target)}`,
      };
    });
    return [{ ok: true, text }, ...left];
  });
}
