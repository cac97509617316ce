import { isAbort } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Copy } from '../mirror/target.ts';
import type { FormIdentity, PassOutcome } from '../mirror/types.ts';
import { logErasures, person } from './erasure-log.ts';
import { purgeDeleted } from './purge.ts';

/** Passes that came to their end, with or without a proof. */
const ENDED: ReadonlySet<PassOutcome> = new Set(['ok', 'incomplete', 'withheld', 'gone']);

/** How {@link upkeep} goes about it. */
export interface UpkeepOptions {
  readonly logger: Logger;
  /** How long rows marked deleted stay, and histories tell what was before, in milliseconds; undefined: for ever. */
  readonly ages: {
    readonly purgeDeletedAfterMs: number | undefined;
    readonly purgeHistoryAfterMs: number | undefined;
  };
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** A form in a target. */
export interface UpkeptForm {
  readonly form: FormIdentity;
  /** How its last pass ended. */
  readonly outcome: PassOutcome;
  /** The name of the target. */
  readonly target: string;
  readonly open: () => Promise<Copy>;
}

/**
 * Removes rows that were marked deleted for longer than PURGE_DELETED_AFTER, where the pass was proven, and what histories
 * tell of the time before PURGE_HISTORY_AFTER, where it came to an end: that depends on no proof, and a form may lack one for weeks.
 * Never rejects: what fails is logged, and tried again after the next comparison.
 */
export async function upkeep(options: UpkeepOptions, about: UpkeptForm): Promise<void> {
  const { logger, ages } = options;
  const fields = { target: about.target, form: about.form.id };
  const trying = async (work: () => Promise<void>, failed: string): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isAbort(error)) logger.warn({ ...fields, err: error }, failed);
    }
  };
  const { purgeDeletedAfterMs: rows, purgeHistoryAfterMs: history } = ages;
  if (rows !== undefined && about.outcome === 'ok') {
    const failed = 'Erased data may still be in files of the target. The next pass tries again.';
    await trying(() => removeDeleted(options, about, rows), failed);
  }
  if (history !== undefined && ENDED.has(about.outcome)) {
    const failed = 'Histories were not shortened: tried again.';
    await trying(() => shortenHistories(options, about, history), failed);
  }
}

const ago = (nowMs: number, ageMs: number): string => new Date(nowMs - ageMs).toISOString();

async function removeDeleted(
  { logger, nowMs, signal }: UpkeepOptions,
  { form, open }: UpkeptForm,
  ageMs: number,
): Promise<void> {
  const scope = {
    target: await open(),
    storing: undefined,
    isChosen: () => true,
    includes: ({ id }: FormIdentity) => id === form.id,
  };
  const how = { waitMs: 0, signal, dryRun: false };
  const reports = await purgeDeleted([scope], ago(nowMs, ageMs), how);
  const by = `PURGE_DELETED_AFTER of ${person()}`;
  logErasures(logger, { command: 'purge --deleted-before', by }, reports);
}

async function shortenHistories(
  { logger, nowMs, signal }: UpkeepOptions,
  { form, target, open }: UpkeptForm,
  ageMs: number,
): Promise<void> {
  const before = ago(nowMs, ageMs);
  const removed = await (await open()).pruneHistory?.(form, before, { waitMs: 0, signal });
  if (removed === undefined || removed === 0) return;
  logger.info({ target, form: form.id, removed, before }, 'The history before that date is gone.');
}
