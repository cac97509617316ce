import { toMirrorError } from '../base/errors.ts';
import type { PassReport, PassSubject } from './events.ts';

/** The figures of a pass that read and wrote nothing. */
export const NOTHING_DONE = {
  requests: 0,
  total: null,
  distinct: 0,
  inserted: 0,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  rejected: 0,
  withheld: 0,
  absent: 0,
  undecided: 0,
  doubles: 0,
  reason: null,
  marked: 0,
  notices: [],
  ms: 0,
} as const;

/** The report of a pass whose target could not be opened: it failed like any other. Pure. */
export function unopenedPass(subject: PassSubject, error: unknown, atMs: number): PassReport {
  const failure = toMirrorError(error);
  const at = new Date(atMs).toISOString();
  return {
    ...subject,
    ...NOTHING_DONE,
    failure,
    outcome: failure.code === 'CANCELLED' ? 'cancelled' : 'failed',
    code: failure.code,
    error: failure.message,
    startedAt: at,
    endedAt: at,
  };
}
