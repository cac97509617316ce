import type { App } from '../app.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { type Pause, pauseText, resumeCommand } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { pause, PAUSES, resume } from '../sync/records.ts';
import { heldForms, type Target } from '../sync/target.ts';
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

/** The outcome in one target. */
export interface PauseOutcome {
  readonly form: FormIdentity | null;
  readonly target: string;
  /** The pause in force, or the one that has ended; null for none. */
  readonly pause: Pause | null;
  /** Something was changed. */
  readonly isNew: boolean;
  readonly failure: MirrorError | null;
  /** In words. */
  readonly lines: readonly DoneLine[];
}

/**
 * Pauses or resumes in each target that is meant. If a target cannot be reached, the others continue. Pauses of
 * single forms do not end with that of their target. Throws USAGE for an unknown name.
 */
export async function changePauses(
  app: App,
  order: PauseOrder,
  signal: AbortSignal,
): Promise<PauseOutcome[]> {
  const names = app.namesOf(order.target);
  const { form, targets } =
    order.form === null
      ? { form: null, targets: names }
      : await findPlaces(app, order.form, names, signal);
  return Promise.all(
    targets.map(async (target) => {
      try {
        const { store } = await app.target(target);
        const change = order.pause === null ? resumeIn : pauseIn;
        return Object.assign(await change(store, form, target, order), {
          form,
          target,
          failure: null,
        });
      } catch (error) {
        const failure = toMirrorError(error);
        const word = order.pause === null ? 'resumed' : 'paused';
        const text = `${placeName(form, target)} is not ${word}: ${failure.message}`;
        return { form, target, failure, pause: null, isNew: false, lines: [{ ok: false, text }] };
      }
    }),
  );
}

type Changed = Pick<PauseOutcome, 'pause' | 'isNew' | 'lines'>;

async function pauseIn(
  store: Target['store'],
  form: FormIdentity | null,
  target: string,
  { pause: how }: PauseOrder,
): Promise<Changed> {
  const formId = form?.id ?? null;
  const before = await PAUSES.read(store);
  const made = await pause(store, { since: '', by: '', reason: null, ...how, formId });
  const isNew = !before.some((each) => each.formId === formId);
  const text = `${placeName(form, target)} ${isNew ? 'is' : 'was already'} ${pauseText(made)}.`;
  return { pause: made, isNew, lines: [{ ok: true, text }] };
}

async function resumeIn(
  store: Target['store'],
  form: FormIdentity | null,
  target: string,
): Promise<Changed> {
  const ended = (await resume(store, form?.id ?? null)) ?? null;
  const left = await PAUSES.read(store);
  // A resumed form still waits if its target is paused, and a form of a resumed target if it is paused itself.
  const others = form === null ? left : left.filter(({ formId }) => formId === null);
  const forms = others.length === 0 ? [] : await heldForms({ store });
  const what = placeName(form, target);
  const texts = [
    ended === null
      ? `${what} was not paused.`
      : `${what} is resumed; it was ${pauseText(ended)}. The next poll finds what changed during the pause.`,
    ...others.map((other) => {
      const { formId: id } = other;
      const paused = forms.find((each) => each.id === id) ?? { id: id ?? '', slug: '', name: '' };
      const name = placeName(id === null ? null : paused, target);
      return `${name} stays ${pauseText(other)}; to resume it: ${resumeCommand(other, paused.slug, target)}`;
    }),
  ];
  return { pause: ended, isNew: ended !== null, lines: texts.map((text) => ({ ok: true, text })) };
}

/**
 * The form that a person means, and the targets that mirror it or have it paused from before. The targets are asked for their
 * forms first: pausing must not depend on the source.
 */
async function findPlaces(
  app: App,
  wanted: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<{ form: FormIdentity; targets: readonly string[] }> {
  const asked = await Promise.all(names.map((name) => askTarget(app, name)));
  const held = asked.flatMap(({ forms }) => forms);
  const form = findForm(held, wanted) ?? requireForm(await listForms(app, wanted, signal), wanted);
  const targets = asked
    .filter(({ name, paused }) => paused.includes(form.id) || app.isChosen(name, form))
    .map(({ name }) => name);
  if (targets.length > 0) return { form, targets };
  throw new MirrorError(
    'USAGE',
    `No target mirrors the form ${form.slug}: TARGET_FORMS does not select it.`,
  );
}

/** The forms of a target; empty if it does not answer, because pausing it reports that. */
async function askTarget(app: App, name: string) {
  const target = await app.target(name).catch(() => null);
  const ask = async <T>(of: (target: Target) => Promise<readonly T[]>): Promise<readonly T[]> =>
    target === null ? [] : of(target).catch(() => []);
  const [held, pauses] = [await ask(heldForms), await ask(({ store }) => PAUSES.read(store))];
  await app.readSlugs(name).catch(() => undefined);
  const paused = pauses.flatMap(({ formId }) => formId ?? []);
  const unnamed = paused.filter((id) => !held.some((form) => form.id === id));
  return { name, forms: [...held, ...unnamed.map((id) => ({ id, slug: id, name: id }))], paused };
}

function listForms(
  app: App,
  wanted: string,
  signal: AbortSignal,
): Promise<readonly FormIdentity[]> {
  if (app.config.source !== undefined) return app.forms(signal);
  throw new MirrorError(
    'USAGE',
    `No target that answers has a form ${wanted}. The workspace was not asked, because FORMS_API_URL and FORMS_API_KEY are not set. Set them, or check the name.`,
  );
}

/** `contact in default`, `Target default`. */
export const placeName = (form: FormIdentity | null, target: string): string =>
  form === null ? `Target ${target}` : `${form.slug === '' ? form.id : form.slug} in ${target}`;

/** The effects of a pause, for the person who has just started one. */
export const PAUSE_MEANS =
  'No process writes there until you resume it, and no status is changed at the source. A run in progress ends before its next batch: within seconds, in a sheet within a minute. The rows that it stored stay. forget and purge still work.';
