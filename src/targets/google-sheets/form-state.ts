import type { Checkpoint, PassKind, PassOutcome, PassRecord } from '../../mirror/types.ts';

/**
 * What the mirror knows of a form besides its rows and fields. Lives in one piece of metadata on the form's tab, so that
 * one read of the spreadsheet's structure brings it along and one write changes it together with the rows.
 */
export interface FormState {
  readonly slug: string;
  readonly name: string;
  readonly goneAt: string | null;
  readonly checkpoint: Checkpoint | null;
  /** Newest first; always holds the newest `ok` and the newest full one. */
  readonly passes: readonly PassRecord[];
  readonly counts: RowCounts;
  /** Fingerprint of what `prepare` was last told: nothing to do when it is told the same. */
  readonly prepared: string;
  /** Fingerprint of the columns we made: another one means that people deleted some. */
  readonly columns: string;
  /** Fingerprint of the field catalogue. */
  readonly catalogue: string;
  /** Where growth is counted from, for the forecast: an ISO time and the rows there were. */
  readonly growth: { readonly since: string; readonly rows: number } | null;
}

/** Counted at the last write. */
export interface RowCounts {
  /** Rows not marked deleted, rows that are. */
  readonly live: number;
  readonly removed: number;
  /** Listed rejections. */
  readonly rejected: number;
  /** Rows that repeat another one's submission ID: people copied them. */
  readonly copies: number;
}

/** A form that was never written. */
export const EMPTY_STATE: FormState = {
  slug: '',
  name: '',
  goneAt: null,
  checkpoint: null,
  passes: [],
  counts: { live: 0, removed: 0, rejected: 0, copies: 0 },
  prepared: '',
  columns: '',
  catalogue: '',
  growth: null,
};

/** Passes kept, the notable ones included. */
const KEPT_PASSES = 10;
/** Characters of a pass's error that are kept. */
const MAX_ERROR = 300;
/** Characters that a state may take of the 30,000 that a tab has. */
export const MAX_STATE_CHARACTERS = 4_500;

const PASS_KINDS: readonly PassKind[] = ['incremental', 'full'];

/** The state after a pass. */
export function withPass(
  state: FormState,
  pass: PassRecord,
  changes: { checkpoint?: Checkpoint; goneAt?: string | null },
): FormState {
  return {
    ...state,
    passes: keptPasses([pass, ...state.passes]),
    ...(changes.checkpoint !== undefined && { checkpoint: changes.checkpoint }),
    ...(changes.goneAt !== undefined && { goneAt: changes.goneAt }),
  };
}

/** The newest pass of all, the newest `ok` one, the newest full one that was proven. */
export function notablePasses(passes: readonly PassRecord[]): {
  lastPass: PassRecord | null;
  lastOk: PassRecord | null;
  lastFull: PassRecord | null;
} {
  return {
    lastPass: passes[0] ?? null,
    lastOk: passes.find((pass) => pass.outcome === 'ok') ?? null,
    lastFull: passes.find((pass) => pass.kind === 'full') ?? null,
  };
}

function keptPasses(passes: readonly PassRecord[]): PassRecord[] {
  const { lastOk, lastFull } = notablePasses(passes);
  return passes.filter(
    (pass, index) => index < KEPT_PASSES - 2 || pass === lastOk || pass === lastFull,
  );
}

/**
 * True when a pass tells nothing that has to be in the sheet at once: it went as the last one did and found the same.
 * What it says is then written with the next real write, or when {@link HEARTBEAT_MS} have passed.
 */
export function isHeartbeat(before: FormState, after: FormState): boolean {
  const [old, pass] = [before.passes[0], after.passes[0]];
  const [was, is] = [before.checkpoint, after.checkpoint];
  return (
    old !== undefined &&
    pass !== undefined &&
    pass.outcome === 'ok' &&
    old.outcome === 'ok' &&
    before.goneAt === after.goneAt &&
    pass.inserted === 0 &&
    pass.deleted === 0 &&
    is?.watermark === was?.watermark &&
    is?.total === was?.total &&
    (is?.fullProvenAt === null) === (was?.fullProvenAt === null) &&
    Date.parse(pass.endedAt) - Date.parse(old.endedAt) < HEARTBEAT_MS
  );
}

/** At least this often a pass that found nothing new leaves a sign of life in the sheet. */
export const HEARTBEAT_MS = 10 * 60_000;

/** As text, of at most {@link MAX_STATE_CHARACTERS} as long as nobody's names are absurd: the oldest passes go first. */
export function encodeState(state: FormState): string {
  for (let keep = state.passes.length; ; keep--) {
    const { lastOk, lastFull } = notablePasses(state.passes);
    const passes = state.passes.filter(
      (pass, index) => index < keep || index === 0 || pass === lastOk || pass === lastFull,
    );
    const text = JSON.stringify({
      v: 1,
      f: [state.slug.slice(0, 200), state.name.slice(0, 300)],
      g: state.goneAt,
      c: encodeCheckpoint(state.checkpoint),
      n: [state.counts.live, state.counts.removed, state.counts.rejected, state.counts.copies],
      d: [state.prepared, state.columns, state.catalogue],
      r: state.growth === null ? null : [state.growth.since, state.growth.rows],
      p: passes.map(encodePass),
    });
    if (text.length <= MAX_STATE_CHARACTERS || keep <= 1) return text;
  }
}

/** The reverse; a text that is none of ours (somebody played with the API) is an empty state, so that a full pass follows. */
export function decodeState(text: string): FormState {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return EMPTY_STATE;
  }
  if (typeof raw !== 'object' || raw === null || !('v' in raw) || raw.v !== 1) return EMPTY_STATE;
  const state = raw as { [key: string]: unknown };
  const [slug, name] = list(state['f']);
  const [live, removed, rejected, copies] = list(state['n']);
  const [prepared, columns, catalogue] = list(state['d']);
  const [since, rows] = list(state['r']);
  return {
    slug: asText(slug),
    name: asText(name),
    goneAt: textOrNull(state['g']),
    checkpoint: decodeCheckpoint(list(state['c'])),
    passes: list(state['p']).flatMap((pass) => decodePass(list(pass))),
    counts: {
      live: number(live),
      removed: number(removed),
      rejected: number(rejected),
      copies: number(copies),
    },
    prepared: asText(prepared),
    columns: asText(columns),
    catalogue: asText(catalogue),
    growth: typeof since === 'string' ? { since, rows: number(rows) } : null,
  };
}

function encodeCheckpoint(checkpoint: Checkpoint | null): unknown[] | null {
  if (checkpoint === null) return null;
  const { watermark, total, provenAt, fullProvenAt } = checkpoint;
  return [watermark, total, provenAt, fullProvenAt];
}

function decodeCheckpoint(items: unknown[]): Checkpoint | null {
  const [watermark, total, provenAt, fullProvenAt] = items;
  if (typeof provenAt !== 'string') return null;
  return {
    watermark: textOrNull(watermark),
    total: number(total),
    provenAt,
    fullProvenAt: textOrNull(fullProvenAt),
  };
}

const COUNTS = [
  'requests',
  'distinct',
  'inserted',
  'updated',
  'unchanged',
  'deleted',
  'rejected',
  'withheld',
] as const;

function encodePass(pass: PassRecord): unknown[] {
  return [
    PASS_KINDS.indexOf(pass.kind),
    pass.startedAt,
    pass.endedAt,
    pass.outcome,
    pass.total,
    COUNTS.map((name) => pass[name]),
    pass.error === null ? 0 : pass.error.toWellFormed().slice(0, MAX_ERROR),
  ];
}

function decodePass(items: unknown[]): PassRecord[] {
  const [kind, startedAt, endedAt, outcome, total, counts, error] = items;
  const name = PASS_KINDS[number(kind)];
  if (name === undefined || typeof startedAt !== 'string' || typeof endedAt !== 'string') return [];
  const [requests, distinct, inserted, updated, unchanged, deleted, rejected, withheld] =
    list(counts).map(number);
  return [
    {
      kind: name,
      startedAt,
      endedAt,
      outcome: asText(outcome) as PassOutcome,
      requests: requests ?? 0,
      total: typeof total === 'number' ? total : null,
      distinct: distinct ?? 0,
      inserted: inserted ?? 0,
      updated: updated ?? 0,
      unchanged: unchanged ?? 0,
      deleted: deleted ?? 0,
      rejected: rejected ?? 0,
      withheld: withheld ?? 0,
      error: textOrNull(error),
    },
  ];
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
