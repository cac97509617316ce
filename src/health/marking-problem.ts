import type { ProblemCode } from '../base/catalogue.ts';
import { plural } from '../base/format.ts';
import type { FormOverview } from '../mirror/target.ts';
import { type FormProblem, remedyFor } from './problem.ts';

/**
 * What marking left to say of a form. The copy is fine; what colleagues see at the source is not as wished. `isShared`:
 * whether a problem of the source or the target explains a failure.
 */
export function markingProblem(
  overview: FormOverview | null,
  isShared: (code: ProblemCode | null) => boolean,
): FormProblem | null {
  const marking = overview?.marking ?? null;
  if (marking === null) return null;
  const { since, code, error, refused } = marking;
  const common = {
    track: 'marking',
    level: 'warning',
    command: null,
    since,
    needsDecision: false,
    occurrence: since,
  } as const;
  if (code !== null) {
    return {
      ...common,
      code,
      title: 'Marking failed',
      message: error ?? 'The last marking failed.',
      remedy: code === 'FORMS_REFUSED' ? REFUSED_REMEDY : remedyFor(code),
      notifies: true,
      inhibited: isShared(code),
    };
  }
  return {
    ...common,
    code: 'WRITE_BACK_REFUSED',
    title: 'Statuses refused',
    message: `${plural(refused, 'submission')} could not be marked: the source refused the change of status, or answered with success and left it as it was, or shows another status in its list than by ID. Each is tried again when it changes, and a day after it was refused.`,
    remedy: remedyFor('WRITE_BACK_REFUSED'),
    notifies: false,
    inhibited: false,
  };
}

const REFUSED_REMEDY =
  'Check that the key may change statuses, and that the source lets MARK_STATUS follow the statuses of MARK_FROM. The next run tries again.';
