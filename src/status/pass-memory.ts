import type { ErrorCode } from '../base/errors.ts';
import type { PassKind, PassRecord } from '../mirror/types.ts';

/** A pass with the code of what went wrong, where it is known. */
export interface NotedPass extends PassRecord {
  readonly code: ErrorCode | null;
}

/** What the newest passes of one form into one target add up to. */
export interface PairMemory {
  /** The newest pass of each kind that says something about how the form stands. */
  readonly incremental: NotedPass | null;
  readonly full: NotedPass | null;
  /** How many passes of a kind in a row ended without a proof. */
  readonly unproven: Readonly<Record<PassKind, number>>;
  /** Absent rows that the brake holds back; stays until a full pass is through with it. */
  readonly withheld: number;
  /** Ends of the newest pass noted, of the newest that did not fail, of the newest that was proven; 0 for none. */
  readonly notedUntilMs: number;
  readonly succeededMs: number;
  readonly provenMs: number;
}

/** Before any pass. */
export const NO_PASSES: PairMemory = {
  incremental: null,
  full: null,
  unproven: { incremental: 0, full: 0 },
  withheld: 0,
  notedUntilMs: 0,
  succeededMs: 0,
  provenMs: 0,
};

/** Adds a pass. Pure; passes are to come in the order in which they ended. */
export function remember(memory: PairMemory, pass: NotedPass): PairMemory {
  const endedMs = Date.parse(pass.endedAt);
  const notedUntilMs = Math.max(memory.notedUntilMs, endedMs);
  if (saysNothing(pass)) return { ...memory, notedUntilMs };
  const proven = pass.outcome === 'ok' || pass.outcome === 'withheld';
  const unproven = { ...memory.unproven };
  if (pass.outcome === 'incomplete') unproven[pass.kind]++;
  else if (proven) unproven[pass.kind] = 0;
  // A proven full pass has done all that an incremental one does.
  if (proven && pass.kind === 'full') unproven.incremental = 0;
  const fullIsThrough = pass.kind === 'full' && proven;
  return {
    ...memory,
    [pass.kind]: pass,
    unproven,
    withheld: fullIsThrough ? pass.withheld : memory.withheld,
    notedUntilMs,
    succeededMs: pass.outcome === 'failed' ? memory.succeededMs : endedMs,
    provenMs: proven ? endedMs : memory.provenMs,
  };
}

/** What passes told before the target's own memory could be read, completed by that. */
export function completeWith(memory: PairMemory, remembered: PairMemory): PairMemory {
  if (memory.notedUntilMs === 0) return remembered;
  const { incremental, full } = memory;
  return {
    incremental: incremental ?? remembered.incremental,
    full: full ?? remembered.full,
    unproven: {
      incremental: (incremental === null ? remembered : memory).unproven.incremental,
      full: (full === null ? remembered : memory).unproven.full,
    },
    withheld: (full === null ? remembered : memory).withheld,
    notedUntilMs: memory.notedUntilMs,
    succeededMs: Math.max(memory.succeededMs, remembered.succeededMs),
    provenMs: Math.max(memory.provenMs, remembered.provenMs),
  };
}

/** The newest pass that says something; null for none. */
export function newestPass({ incremental, full }: PairMemory): NotedPass | null {
  if (incremental === null || full === null) return incremental ?? full;
  return Date.parse(full.endedAt) >= Date.parse(incremental.endedAt) ? full : incremental;
}

/** A pass as a target remembers it: the code has to be told from what stands there. */
export function notedFromRecord(record: PassRecord): NotedPass {
  return { ...record, code: codeOf(record) };
}

/** The code of an outcome; null for one without, and for a failure whose code the target has not kept. */
export function codeOf({ outcome, error }: PassRecord): ErrorCode | null {
  switch (outcome) {
    case 'incomplete':
      return 'PASS_INCOMPLETE';
    case 'withheld':
      return 'DELETES_WITHHELD';
    case 'gone':
      return 'FORM_GONE';
    case 'busy':
      return 'TARGET_BUSY';
    case 'cancelled':
      return 'CANCELLED';
    case 'failed':
      // The client's own words; that a key was refused concerns every form, whichever worker met it.
      return error?.includes('the key was refused (401)') === true ? 'FORMS_UNAUTHORIZED' : null;
    case 'ok':
      return null;
  }
}

/** Passes that another one has taken the place of, or that a stop has cut short. */
function saysNothing({ outcome, code }: NotedPass): boolean {
  return (
    outcome === 'busy' ||
    outcome === 'cancelled' ||
    (outcome === 'failed' && (code === 'TARGET_LOST_LOCK' || code === 'TARGET_BUSY'))
  );
}
