import { isDeepStrictEqual } from 'node:util';
import { errorCodeOrNull } from '../../../base/errors.ts';
import { otherSchema } from '../../../base/other-schema.ts';
import { withoutIds } from '../../../mirror/forgotten.ts';
import type { Loss } from '../../../mirror/losses.ts';
import { markingRecord } from '../../../mirror/marking-record.ts';
import type { MarkingRecord } from '../../../mirror/marking-record.ts';
import type { Blocked } from './blocked.ts';
import { decodeCheckpoint, encodeCheckpoint, hasSameCounts } from './checkpoint-items.ts';
import type { ForgottenTally } from './forgotten-list.ts';
import {
  type Checkpoint,
  PASS_KINDS,
  type PassEnd,
  type PassOutcome,
  type PassRecord,
} from '../../../mirror/types.ts';

/**
 * What the mirror knows of a form besides its rows and fields. Lives in one piece of metadata on the form's tab, so that
 * one read of the spreadsheet's structure brings it along and one write changes it together with the rows.
 */
export interface FormState {
  readonly slug: string;
  readonly name: string;
  readonly goneAt: string | null;
  readonly checkpoint: Checkpoint | null;
  /** What marking left to say. */
  readonly marking: MarkingRecord | null;
  /** Newest first; always holds the newest `ok` and the newest full one. */
  readonly passes: readonly PassRecord[];
  readonly counts: RowCounts;
  readonly oddRows: OddRows;
  /** What keeps cells of submissions from being written; see `blocked.ts`. */
  readonly blocked: readonly Blocked[];
  /** Rows written to the tab in all. Marking a row deleted keeps it. */
  readonly stored: number;
  /** What was forgotten; null for a tab that was just made: the state tab knows. */
  readonly forgotten: ForgottenTally | null;
  /** What was created again and is still to be filled; see `losses.ts`. */
  readonly losses: readonly Loss[];
  /** The time zone that the times in the rows are written in; null where no full pass has come yet. */
  readonly zone: string | null;
  /** Fingerprint of the fields that were last prepared: the same ones need nothing done. */
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
  /** Rows of ours whose ID people cleared. */
  readonly withoutId: number;
}

/** The first rows that people made odd, as the sheet was last read. Rows are numbered as people number them, from 1. */
export interface OddRows {
  /** Each with the row whose submission it repeats. */
  readonly copies: readonly OddRow[];
  /** Each with the row that shows the same submission again; 0 when that is not known. */
  readonly withoutId: readonly OddRow[];
}

export type OddRow = readonly [row: number, other: number];

/** How many odd rows of a kind are named. */
export const NAMED_ROWS = 10;

/** The schema of what the mirror keeps in a spreadsheet: to be raised with every change of it. The state of each form has it. */
export const STATE_VERSION = 3;

/** A form's state as it is kept. */
type StoredState = Readonly<Record<string, unknown>>;

/** A form that was never written. */
export const EMPTY_STATE: FormState = {
  slug: '',
  name: '',
  goneAt: null,
  checkpoint: null,
  marking: null,
  passes: [],
  counts: { live: 0, removed: 0, rejected: 0, copies: 0, withoutId: 0 },
  oddRows: { copies: [], withoutId: [] },
  blocked: [],
  stored: 0,
  forgotten: null,
  losses: [],
  zone: null,
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

/** The state after a pass. */
export function withPass(state: FormState, pass: PassRecord, changes: PassEnd): FormState {
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

/** The state with these IDs taken out of what passes and marking recorded as their errors. */
export function stateWithoutIds(state: FormState, ids: readonly string[]): FormState {
  const cleaned = (text: string | null): string | null => text && withoutIds(text, ids);
  const { marking, passes } = state;
  return {
    ...state,
    marking: marking && { ...marking, error: cleaned(marking.error) },
    passes: passes.map((pass) => Object.assign({}, pass, { error: cleaned(pass.error) })),
  };
}

function keptPasses(passes: readonly PassRecord[]): PassRecord[] {
  const { lastOk, lastFull } = notablePasses(passes);
  return passes.filter(
    (pass, index) => index < KEPT_PASSES - 2 || pass === lastOk || pass === lastFull,
  );
}

/**
 * True when a pass brought nothing that has to be in the sheet at once: it ended as the last one did and found the same.
 * Its record is then written with the next real write, or when {@link HEARTBEAT_MS} have passed.
 */
export function isHeartbeat(before: FormState, after: FormState): boolean {
  const [old, pass] = [before.passes[0], after.passes[0]];
  const [was, is] = [before.checkpoint, after.checkpoint];
  return (
    old !== undefined &&
    pass !== undefined &&
    (pass.outcome === 'ok' || pass.outcome === 'withheld') &&
    old.outcome === pass.outcome &&
    before.goneAt === after.goneAt &&
    hasSameNotices(before, after) &&
    before.stored === after.stored &&
    isDeepStrictEqual(before.losses, after.losses) &&
    before.zone === after.zone &&
    pass.inserted === 0 &&
    pass.deleted === 0 &&
    is?.watermark === was?.watermark &&
    is?.total === was?.total &&
    is?.absent === was?.absent &&
    is?.withheld === was?.withheld &&
    is?.hidden === was?.hidden &&
    is?.provenFor === was?.provenFor &&
    hasSameCounts(was, is) &&
    (is?.fullProvenAt === null) === (was?.fullProvenAt === null) &&
    Date.parse(pass.endedAt) - Date.parse(old.endedAt) < HEARTBEAT_MS
  );
}

/** True when there is nothing new to say of rows that people made odd, and of what is in the way. */
const hasSameNotices = (before: FormState, after: FormState): boolean =>
  before.counts.copies === after.counts.copies &&
  before.counts.withoutId === after.counts.withoutId &&
  isDeepStrictEqual(before.oddRows, after.oddRows) &&
  isDeepStrictEqual(before.blocked, after.blocked);

/** True when the table of problems on the Mirror tab has nothing new to show, as far as counts tell. */
export const hasSameProblems = (before: FormState, after: FormState): boolean =>
  before.counts.rejected === after.counts.rejected && hasSameNotices(before, after);

/** At least this often a pass that found nothing new leaves a sign of life in the sheet. */
export const HEARTBEAT_MS = 10 * 60_000;

const COUNTED = ['live', 'removed', 'rejected', 'copies', 'withoutId'] as const;

/** As text, of at most {@link MAX_STATE_CHARACTERS} unless names are absurdly long: the oldest passes go first. */
export function encodeState(state: FormState): string {
  for (let keep = state.passes.length; ; keep--) {
    const { lastOk, lastFull } = notablePasses(state.passes);
    const passes = state.passes.filter(
      (pass, index) => index < keep || index === 0 || pass === lastOk || pass === lastFull,
    );
    const text = JSON.stringify({
      v: STATE_VERSION,
      f: [state.slug.slice(0, 200), state.name.slice(0, 300)],
      g: state.goneAt,
      c: encodeCheckpoint(state.checkpoint),
      ...(state.marking !== null && { m: encodeMarking(state.marking) }),
      n: COUNTED.map((name) => state.counts[name]),
      o: [state.oddRows.copies.slice(0, NAMED_ROWS), state.oddRows.withoutId.slice(0, NAMED_ROWS)],
      ...(state.blocked.length > 0 && {
        b: state.blocked.map(({ name, submissions, headers }) => [name, submissions, headers]),
      }),
      d: [state.prepared, state.columns, state.catalogue],
      r: state.growth === null ? null : [state.growth.since, state.growth.rows],
      s: state.stored,
      ...(state.forgotten !== null && { z: encodeTally(state.forgotten) }),
      l: state.losses,
      ...(state.zone !== null && { t: state.zone }),
      p: passes.map(encodePass),
    });
    if (text.length <= MAX_STATE_CHARACTERS || keep <= 1) return text;
  }
}

/**
 * The reverse. A text that is no state at all (damaged by way of the API) is an empty one, so that a full pass follows.
 * Throws OTHER_SCHEMA for a state that another build wrote. `spreadsheet`: its address, for the message.
 */
export function decodeState(text: string, spreadsheet: string): FormState {
  const stored = parseState(text);
  if (stored === undefined) return EMPTY_STATE;
  const found = stored['v'];
  if (found === STATE_VERSION) return readState(stored);
  throw otherSchema({
    store: `The mirror in the spreadsheet ${spreadsheet}`,
    found,
    needed: STATE_VERSION,
    elsewhere: 'choose another spreadsheet in the target URL',
  });
}

function parseState(text: string): StoredState | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as StoredState) : undefined;
  } catch {
    return undefined;
  }
}

function readState(state: StoredState): FormState {
  const [slug, name] = list(state['f']);
  const [live, removed, rejected, copies, withoutId] = list(state['n']);
  const [copiedRows, rowsWithoutId] = list(state['o']);
  const [prepared, columns, catalogue] = list(state['d']);
  const [since, rows] = list(state['r']);
  return {
    slug: asText(slug),
    name: asText(name),
    goneAt: textOrNull(state['g']),
    checkpoint: decodeCheckpoint(list(state['c'])),
    marking: typeof state['m'] === 'string' ? markingRecord(state['m']) : null,
    passes: list(state['p']).flatMap((pass) => decodePass(list(pass))),
    counts: {
      live: number(live),
      removed: number(removed),
      rejected: number(rejected),
      copies: number(copies),
      withoutId: number(withoutId),
    },
    oddRows: { copies: oddRows(copiedRows), withoutId: oddRows(rowsWithoutId) },
    blocked: list(state['b']).map((item) => {
      const [name, submissions, headers] = list(item);
      return {
        name: asText(name),
        submissions: number(submissions),
        headers: number(headers),
      };
    }),
    stored: number(state['s']),
    forgotten: decodeTally(list(state['z'])),
    losses: list(state['l']).filter(isLoss),
    zone: textOrNull(state['t']),
    prepared: asText(prepared),
    columns: asText(columns),
    catalogue: asText(catalogue),
    growth: typeof since === 'string' ? { since, rows: number(rows) } : null,
  };
}

const isLoss = (value: unknown): value is Loss =>
  typeof value === 'object' && value !== null && typeof (value as Loss).what === 'string';

const oddRows = (value: unknown): OddRow[] =>
  list(value).map((item) => {
    const [row, other] = list(item);
    return [number(row), number(other)];
  });

function encodeMarking(marking: MarkingRecord): string {
  const error = marking.error?.toWellFormed().slice(0, MAX_ERROR) ?? null;
  return JSON.stringify({ ...marking, error });
}

const encodeTally = ({ count, salt, sum }: ForgottenTally): unknown[] => [count, salt, sum];

function decodeTally([count, salt, sum]: unknown[]): ForgottenTally | null {
  return typeof count === 'number' ? { count, salt: asText(salt), sum: asText(sum) } : null;
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
    pass.code ?? 0,
  ];
}

function decodePass(items: unknown[]): PassRecord[] {
  const [kind, startedAt, endedAt, outcome, total, counts, error, code] = items;
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
      code: errorCodeOrNull(code),
      error: textOrNull(error),
    },
  ];
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
