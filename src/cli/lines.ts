import { lasting } from '../base/format.ts';
import type { HealthState, Problem, ShownPause } from '../health/report.ts';
import { pauseText } from '../mirror/pauses.ts';
import type { TargetNotice } from '../mirror/port.ts';
import type { Place } from '../sync/planner.ts';
import type { Line } from './terminal.ts';

/** `contact → default`: a form in a target. */
export const copyName = ({ form, target }: Place): string => `${form.slug} → ${target}`;

/** The sign of a state. */
export function signOf(state: HealthState): Line['sign'] {
  if (state === 'ok') return 'ok';
  if (state === 'failed') return 'error';
  return state === 'attention' ? 'warning' : 'note';
}

/** `✗ contact → default: The target is full (TARGET_FULL) for 3 h: …`. `about`: empty for the whole mirror. */
export function problemLine(about: string, problem: Problem, nowMs: number): Line {
  const { level, title, code, since, message, remedy, command } = problem;
  const time = since === null ? '' : ` ${lasting(since, nowMs)}`;
  const text = `${about === '' ? '' : `${about}: `}${title} (${code})${time}: ${message}`;
  return { sign: level === 'error' ? 'error' : 'warning', text, remedy, command };
}

/** `· contact → default: paused since … by …` */
export const pauseLine = (about: string, { command, ...pause }: ShownPause): Line => {
  return { sign: 'note', text: `${about}: ${pauseText(pause)}`, remedy: `To resume: ${command}` };
};

/** Lines about changes that people made in a target and that the mirror keeps. */
export const noticeLines = (about: string, notices: readonly TargetNotice[]): Line[] =>
  notices.map(({ message, remedy }) => {
    return { sign: 'warning', text: `${about}: ${message}`, remedy };
  });
