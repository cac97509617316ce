import type { App } from '../app.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { type Pause, pauseText, resumeCommand, wholePause } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { pause, PAUSES, resume } from '../sync/records.ts';
import { heldForms } from '../sync/target.ts';
import type { DoneLine } from '../web/actions.ts';
import { findForm, requireForm } from './selection.ts';

/*
 * Pausing and resuming, for the commands and for the status page.
 */

/** The place to pause or resume: a form, a target, or everything. */
export interface PauseOrder {
  readonly form: string | null;
  readonly target: string | null;
  /** As in {@link Pause}; null: resume. */
  readonly pause: Omit<Pause, 'formId'> | null;
}

/**
 * Pauses or resumes in each target that is meant, and returns what happened there. If a target cannot be reached, the others
 * continue. Pauses of single forms do not end with that of their target. Throws USAGE for an unknown name.
 */
export async function changePauses(
  app: App,
  order: PauseOrder,
  signal: AbortSignal,
): Promise<DoneLine[]> {
  const names = app.namesOf(order.target);
  const found = order.form === null ? null : await findPausable(app, order.form, names, signal);
  const form = found?.form ?? null;
  // A pause may be older than the settings: it ends wherever it is.
  const targets = names.filter(
    (name) =>
      form === null ||
      app.isChosen(name, form) ||
      (order.pause === null && found?.pausedIn.has(name) === true),
  );
  if (targets.length === 0)
    throw new MirrorError(
      'USAGE',
      `No target mirrors the form ${form?.slug}: TARGET_FORMS does not select it.`,
    );
  const changes = await Promise.all(
    targets.map((target) => changeIn(app, { form, target }, order.pause)),
  );
  const news = changes.filter(({ isNews }) => isNews);
  const lines = (order.pause === null && news.length > 0 ? news : changes).flatMap(
    (change) => change.lines,
  );
  const isPaused = order.pause !== null && lines.some(({ ok }) => ok);
  return isPaused ? [...lines, { ok: true, text: PAUSE_MEANS }] : lines;
}

interface PausePlace {
  readonly form: FormIdentity | null;
  readonly target: string;
}

/** `isNews`: something was changed, or could not be. */
async function changeIn(
  app: App,
  place: PausePlace,
  asked: PauseOrder['pause'],
): Promise<{ readonly isNews: boolean; readonly lines: readonly DoneLine[] }> {
  const { form, target } = place;
  const formId = form?.id ?? null;
  const name = placeName(form, target);
  try {
    const { store } = await app.target(target);
    if (asked !== null) {
      const before = await PAUSES.read(store);
      const made = await pause(store, { ...asked, formId });
      const isNews = !before.some((each) => each.formId === formId);
      const text = `${name} ${isNews ? 'is' : 'was already'} ${pauseText(made)}.`;
      return { isNews, lines: [{ ok: true, text }] };
    }
    const ended = await resume(store, formId);
    const text =
      ended === undefined
        ? `${name} was not paused.`
        : `${name} is resumed; it was ${pauseText(ended)}. The next poll finds what changed during the pause.`;
    const texts = [text, ...stillPaused(await PAUSES.read(store), place)];
    return { isNews: ended !== undefined, lines: texts.map((each) => ({ ok: true, text: each })) };
  } catch (error) {
    const done = asked === null ? 'resumed' : 'paused';
    const text = `${name} is not ${done}: ${toMirrorError(error).message}`;
    return { isNews: true, lines: [{ ok: false, text }] };
  }
}

/** A resumed form still waits if its target is paused, and a form of a resumed target if it is paused itself. */
function stillPaused(left: readonly Pause[], { form, target }: PausePlace): string[] {
  const whole = wholePause(left);
  if (form === null)
    return left.length === 0
      ? []
      : [
          `${plural(left.length, 'form stays', 'forms stay')} paused in ${target}: forms-mirror status shows which.`,
        ];
  if (whole === null) return [];
  const command = resumeCommand(whole, '', target);
  return [`${placeName(null, target)} stays ${pauseText(whole)}; to resume it: ${command}`];
}

/**
 * The form that a person means, and the targets in which it is paused. The targets are asked first: pausing must not depend on the
 * source, and no one else knows a form that was paused and is gone from the source without ever having been copied. Throws USAGE.
 */
async function findPausable(
  app: App,
  wanted: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly form: FormIdentity; readonly pausedIn: ReadonlySet<string> }> {
  const held: FormIdentity[] = [];
  const paused: { readonly id: string; readonly target: string }[] = [];
  await Promise.all(
    names.map(async (target) => {
      await app.readSlugs(target).catch(() => undefined);
      try {
        const { store } = await app.target(target);
        held.push(...(await heldForms({ store })));
        for (const { formId: id } of await PAUSES.read(store))
          if (id !== null) paused.push({ id, target });
      } catch {
        // Pausing a target that does not answer reports that.
      }
    }),
  );
  const known = [...paused.map(({ id }) => ({ id, slug: id, name: id })), ...held];
  const form = findForm(known, wanted) ?? (await listedForm(app, wanted, signal));
  const isIn = paused.filter(({ id }) => id === form.id);
  return { form, pausedIn: new Set(isIn.map(({ target }) => target)) };
}

/** The form of the workspace that a person means. Throws USAGE. */
async function listedForm(app: App, wanted: string, signal: AbortSignal): Promise<FormIdentity> {
  if (app.config.source !== undefined) return requireForm(await app.forms(signal), wanted);
  throw new MirrorError(
    'USAGE',
    `No target that answers has a form ${wanted}. The workspace was not asked, because FORMS_API_URL and FORMS_API_KEY are not set. Set them, or check the name.`,
  );
}

/** `contact in default`, `Target default`. */
export const placeName = (form: FormIdentity | null, target: string): string =>
  form === null ? `Target ${target}` : `${form.slug === '' ? form.id : form.slug} in ${target}`;

/** The effects of a pause, for the person who has just started one. */
const PAUSE_MEANS =
  'No process writes there until you resume it, and no status is changed at the source. A run in progress ends before its next batch: within seconds, in a sheet within a minute. The rows that it stored stay. forget and purge still work.';
