import { hostname, userInfo } from 'node:os';
import type { Logger } from '../base/logger.ts';
import type { ErasureReport } from './erase.ts';

/** The user of this process, for {@link logErasures}. */
export function person(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A container may run as a user without a name.
    return `user ${process.getuid?.() ?? 'unknown'}@${hostname()}`;
  }
}

/** Logs what was erased, or may come back: who, what and where, as counts, without an ID or an answer. */
export function logErasures(
  logger: Logger,
  { command, by }: { readonly command: string; readonly by: string },
  reports: readonly ErasureReport[],
): void {
  const message =
    command === 'forget --undo' ? 'The forgotten submissions may come back.' : 'Erased on request.';
  for (const { target, form, asked, rows, listings, refusals, history, failure } of reports) {
    const counts = { asked, rows, listings, refusals, history };
    const fields = { command, by, target, form: form.id, ...counts };
    if (failure === null) logger.warn(fields, message);
    else logger.error({ ...fields, err: failure }, 'An erasure failed, and is to be repeated.');
  }
}
