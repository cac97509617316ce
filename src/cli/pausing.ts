import type { App } from '../app.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { newPause, type Pause, pauseOf, pauseText, resumeCommand } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { findForm } from '../sync/form-choice.ts';
import type { DoneLine } from '../web/action-order.ts';
import { requireForm } from './selection.ts';

/** What is to be paused or resumed: a form, or, for null, targets as a whole. */
export interface PausePlaces {
  readonly form: FormIdentity | null;
  /** Names. */
  readonly targets: readonly string[];
}

/** What became of it in one target. */
export interface PauseOutcome {
  readonly form: FormIdentity | null;
  readonly target: string;
  /** The pause in force, or the one that has ended; null for none. */
  readonly pause: Pause | null;
  /** It was not so before. */
  readonly isNew: boolean;
  /** What is paused there still, or all the same. */
  readonly others: readonly Pause[];
  readonly failure: MirrorError | null;
}

/**
 * The targets and the form that a person means; without a target all that mirror the form. What the targets hold is asked
 * first: pausing must not depend on the source. Throws USAGE for a name that nobody knows.
 */
export async function findPausePlaces(
  app: App,
  wanted: { readonly form?: string | undefined; readonly target?: string | undefined },
  signal: AbortSignal,
): Promise<PausePlaces> {
  const all = app.config.targets.map(({ name }) => name);
  const targets = wanted.target === undefined ? all : [app.settingsOf(wanted.target).name];
  if (wanted.form === undefined) return { form: null, targets };
  const asked = await Promise.all(targets.map((name) => askTarget(app, name)));
  const form = await formMeant(app, wanted.form, asked, signal);
  // What the settings have stopped choosing may be paused there from before: that, too, has to come to an end.
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
  /** IDs of those that are paused by themselves. */
  readonly paused: ReadonlySet<string>;
}

/** Nothing of one that does not answer; it says so when it is to be paused. */
async function askTarget(app: App, name: string): Promise<AskedTarget> {
  const [held, pauses] = await Promise.all([
    orNone(async () => (await app.target(name)).heldForms()),
    orNone(async () => (await app.target(name)).pauses()),
    app.readSlugs(name).catch(() => undefined),
  ]);
  const paused = new Set(pauses.flatMap(({ formId }) => (formId === null ? [] : [formId])));
  return { name, held: held.map(({ id, slug, name }) => ({ id, slug, name })), paused };
}

async function formMeant(
  app: App,
  wanted: string,
  asked: readonly AskedTarget[],
  signal: AbortSignal,
): Promise<FormIdentity> {
  const known = new Map<string, FormIdentity>();
  for (const { held } of asked) for (const form of held) known.set(form.id, form);
  for (const id of asked.flatMap(({ paused }) => [...paused])) {
    if (!known.has(id)) known.set(id, { id, slug: id, name: id });
  }
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

const orNone = <T>(ask: () => Promise<readonly T[]>): Promise<readonly T[]> =>
  ask().catch(() => []);

/** Pauses; a target that cannot be reached holds up no other. `by`, `reason`, `since`: as in {@link Pause}. */
export function pausePlaces(
  app: App,
  { form, targets }: PausePlaces,
  how: Omit<Pause, 'formId'>,
): Promise<PauseOutcome[]> {
  const wanted = newPause({ ...how, formId: form?.id ?? null });
  return inEach(app, form, targets, async (target) => {
    const before = await target.pauses();
    const pause = await target.pause(wanted);
    return { pause, isNew: !before.some(({ formId }) => formId === wanted.formId), others: [] };
  });
}

/** Resumes likewise. */
export function resumePlaces(app: App, { form, targets }: PausePlaces): Promise<PauseOutcome[]> {
  const formId = form?.id ?? null;
  return inEach(app, form, targets, async (target) => {
    const pause = (await target.resume(formId)) ?? null;
    const left = await target.pauses();
    const others = left.filter((one) => formId === null || one.formId === null);
    return { pause, isNew: pause !== null, others };
  });
}

async function inEach(
  app: App,
  form: FormIdentity | null,
  targets: readonly string[],
  work: (
    target: Awaited<ReturnType<App['target']>>,
  ) => Promise<Pick<PauseOutcome, 'pause' | 'isNew' | 'others'>>,
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

/** The pause that a form in a target is under; null for none, and where the target does not say. */
export async function pauseAt(app: App, target: string, formId: string): Promise<Pause | null> {
  const pauses = await orNone(async () => (await app.target(target)).pauses());
  return pauseOf(pauses, formId);
}

/** What a command that only reads says of a form that is paused, and how to go on. */
export const pauseNote = (pause: Pause, target: string): string =>
  `${pauseText(pause)}: the copy is as of then. To go on: ${resumeCommand(pause, target)}`;

/** `contact in default`, `Target default`. */
export const placeName = (form: FormIdentity | null, target: string): string =>
  form === null ? `Target ${target}` : `${form.slug === '' ? form.id : form.slug} in ${target}`;

/** What pausing has done. */
export function pausedLines(outcomes: readonly PauseOutcome[]): DoneLine[] {
  return outcomes.map(({ form, target, pause, isNew, failure }) => {
    const what = placeName(form, target);
    if (failure !== null || pause === null) {
      return { ok: false, text: `${what} is not paused: ${failure?.message ?? 'it could not be'}` };
    }
    const text = isNew
      ? `${what} is ${pauseText(pause)}.`
      : `${what} was ${pauseText(pause)} already.`;
    return { ok: true, text };
  });
}

/** What every pause means, for whoever has just made one. */
export const PAUSE_MEANS =
  'No process writes there any more, and nothing is marked at the source on its account. A pass that runs ends before its next batch, within some seconds (of a sheet within a minute); what it stored stays. To erase (forget, purge) is still possible.';

/** What resuming has done, and what stays paused. */
export function resumedLines(outcomes: readonly PauseOutcome[]): DoneLine[] {
  return outcomes.flatMap(({ form, target, pause, others, failure }) => {
    const what = placeName(form, target);
    if (failure !== null) {
      return [{ ok: false, text: `${what} is not resumed: ${failure.message}` }];
    }
    const done =
      pause === null
        ? { ok: true, text: `${what} was not paused.` }
        : {
            ok: true,
            text: `${what} goes on; it was ${pauseText(pause)}. The next look finds what arrived during the pause.`,
          };
    const left = others.map((other) => {
      const name =
        other.formId === null ? `Target ${target}` : `The form ${other.formId} in ${target}`;
      return {
        ok: true,
        text: `${name} stays ${pauseText(other)}; to go on there: ${resumeCommand(other, target)}`,
      };
    });
    return [done, ...left];
  });
}
