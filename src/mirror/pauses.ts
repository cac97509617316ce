import { MirrorError } from '../base/errors.ts';
import { exact } from '../base/format.ts';
import { shellOption } from '../base/printable.ts';

/*
 * A pause of a form in a target, or of a whole target: nothing is written there until a person ends it. It is stored
 * in the target, so that it holds for every process that writes there, and across restarts.
 */

/** One pause of a target. */
export interface Pause {
  /** Null: the target as a whole. */
  readonly formId: string | null;
  /** ISO. */
  readonly since: string;
  /** Who asked for it, and where: `command line, ann@ops-1`. */
  readonly by: string;
  /** The reason that person gave; null if none. */
  readonly reason: string | null;
}

/** The pause that stops writes to a form: the whole target's, otherwise the form's own; null if there is none. */
export const pauseOf = (pauses: readonly Pause[], formId: string): Pause | null =>
  wholePause(pauses) ?? pauses.find((pause) => pause.formId === formId) ?? null;

/** That of the target as a whole; null for none. */
export const wholePause = (pauses: readonly Pause[]): Pause | null =>
  pauses.find((pause) => pause.formId === null) ?? null;

/** `paused since 2026-11-20 14:03:12 UTC by command line, ann@ops-1 (a new tab)`, as part of a sentence. */
export function pauseText({ since, by, reason }: Omit<Pause, 'formId'>): string {
  return `paused since ${exact(since)} by ${by}${reason === null ? '' : ` (${reason})`}`;
}

/** The command line that ends a pause of `target`. `slug`: the slug of the paused form. */
export function resumeCommand(
  { formId }: Pick<Pause, 'formId'>,
  slug: string,
  target: string,
): string {
  const form = formId === null ? '' : `${shellOption('--form', slug)} `;
  return `forms-mirror resume ${form}${shellOption('--target', target)}`;
}

/** The error for a writer during a pause. `slug`: of the form. */
export function pausedError(pause: Pause, slug: string, target: string): MirrorError {
  const what =
    pause.formId === null ? `Target ${target} is` : `The form ${slug} in target ${target} is`;
  return new MirrorError(
    'PAUSED',
    `${what} ${pauseText(pause)}, so nothing is written there. To go on, run: ${resumeCommand(pause, slug, target)}`,
  );
}
