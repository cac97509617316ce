import { z } from 'zod';
import { errorCodeOrNull } from '../../../base/errors.ts';
import type { Loss } from '../../../mirror/losses.ts';
import { type MarkingRecord, markingRecord } from '../../../mirror/marking-record.ts';
import { countsFrom, countsText, NO_COUNTS } from '../../../mirror/status-counts.ts';
import { type Checkpoint, PASS_KINDS, type PassRecord } from '../../../mirror/types.ts';
import type { WindowRecord } from '../../../mirror/window.ts';
import type { FieldColumn, FormHistory } from '../field-column.ts';
import type { ViewFailure } from '../view-notes.ts';
import type { Month } from './partitions.ts';
import type { HashSet } from './row-hash.ts';

/*
 * All that is kept of a form besides its rows and lists: one JSON text in `mirror_state`, read when the form is opened and written by
 * whatever changes the form. The tables of the catalogue that people know are views over it.
 */

/** A field with what the catalogue tells of it besides. */
export interface StateField extends FieldColumn {
  readonly firstSeenAt: string;
  /** Its answers were removed, and nothing was stored in it since. */
  readonly isEmptied: boolean;
}

/** A label that a field had. */
export interface FormerLabel {
  readonly fieldId: string;
  readonly label: string;
  readonly from: string;
  readonly to: string | null;
}

/** How much was stored of a form. */
export interface StateCounts {
  readonly rows: number;
  readonly live: number;
  readonly rejected: number;
  readonly refusals: number;
  readonly forgotten: number;
}

/** The newest passes of a form by which it is judged, and how many there were. */
export interface StatePasses {
  readonly number: number;
  readonly last: PassRecord | null;
  readonly lastOk: PassRecord | null;
  readonly lastFull: PassRecord | null;
  /** A full pass has read everything: rows that come may have been there before. */
  readonly hasReadAll: boolean;
}

/** What is kept of one form. */
export interface FormState {
  /** Names the commit that wrote it. */
  readonly nonce: string;
  readonly slug: string;
  readonly name: string;
  /** Its table and view; null before it was ever mirrored. */
  readonly table: string | null;
  readonly view: string | null;
  readonly firstSeenAt: string | null;
  readonly goneAt: string | null;
  /** Since when its history of statuses tells all of it; null until the next comparison, where people dropped it. */
  readonly statusesSince: string | null;
  /** When the table of that history was made, as the place tells it. */
  readonly statusesIn?: string | undefined;
  /** What is about to be made: columns, or the table by its name. It is not lost where it is not there. */
  readonly pending: readonly string[];
  /** By `ordinal`. */
  readonly fields: readonly StateField[];
  readonly labels: readonly FormerLabel[];
  readonly checkpoint: Checkpoint | null;
  readonly windows: readonly WindowRecord[];
  readonly marking: MarkingRecord | null;
  /** What was found lost, until a proven full pass has filled it. */
  readonly losses: readonly Loss[];
  /** Of rows and lists: what a writer last found missing, for surfaces that count nothing. */
  readonly found: readonly Loss[];
  readonly counts: StateCounts;
  /** Live rows by status, as last counted and moved since: what looks compare with the source, for which nothing is read. */
  readonly statuses: readonly (readonly [status: string, rows: number])[];
  /** Of the digests of forgotten submissions; null before the first. */
  readonly salt: string | null;
  /** Every partition that a row was ever stored in. */
  readonly months: readonly Month[];
  readonly hashSets: readonly HashSet[];
  /** The number of the next of them. */
  readonly nextHashSet: number;
  readonly passes: StatePasses;
  readonly history: FormHistory | null;
  /** Digests of how its views were last made, by their names. */
  readonly views: Readonly<Record<string, string>>;
  /** Of them, those that could not be made when that was last tried. */
  readonly viewFailures: Readonly<Record<string, ViewFailure>>;
}

/** A form of which nothing was stored. */
export const newFormState = (slug: string, name: string): FormState => ({
  nonce: '',
  slug,
  name,
  table: null,
  view: null,
  firstSeenAt: null,
  goneAt: null,
  statusesSince: null,
  pending: [],
  fields: [],
  labels: [],
  checkpoint: null,
  windows: [],
  marking: null,
  losses: [],
  found: [],
  counts: { rows: 0, live: 0, rejected: 0, refusals: 0, forgotten: 0 },
  statuses: [],
  salt: null,
  months: [],
  hashSets: [],
  nextHashSet: 1,
  passes: { number: 0, last: null, lastOk: null, lastFull: null, hasReadAll: false },
  history: null,
  views: {},
  viewFailures: {},
});

/** The state as a text. */
export function stateText(state: FormState): string {
  const { checkpoint, ...rest } = state;
  const plain = checkpoint && {
    ...checkpoint,
    statuses: checkpoint.statuses && countsText(checkpoint.statuses),
    unstored: countsText(checkpoint.unstored),
  };
  return JSON.stringify({ ...rest, checkpoint: plain });
}

/** The reverse; undefined for a text that we did not write. */
export function stateFrom(text: string | null): FormState | undefined {
  if (text === null) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = STATE.safeParse(value);
  if (!parsed.success) return undefined;
  const { checkpoint, marking, losses, ...rest } = parsed.data;
  const record = marking === null ? null : markingRecord(JSON.stringify(marking));
  return { ...rest, checkpoint: checkpoint && asCheckpoint(checkpoint), marking: record, losses };
}

const text = z.string();
const textOrNull = z.string().nullable();
const count = z.number();

const FIELD = z.object({
  id: text,
  label: text,
  position: count,
  ordinal: count,
  column: text,
  storage: z.enum(['column', 'more']),
  type: z.enum(['number', 'text', 'json']).nullable(),
  textColumn: textOrNull,
  textStorage: z.enum(['column', 'more']),
  viewLabel: textOrNull,
  textViewLabel: textOrNull,
  removedAt: textOrNull,
  firstSeenAt: text,
  isEmptied: z.boolean(),
});

const CHECKPOINT = z.object({
  watermark: textOrNull,
  total: count,
  absent: count,
  withheld: count,
  hidden: count,
  provenAt: text,
  fullProvenAt: textOrNull,
  provenFor: text,
  statuses: textOrNull,
  unstored: text,
  countsAt: textOrNull,
});

const asCheckpoint = (kept: z.infer<typeof CHECKPOINT>): Checkpoint => ({
  ...kept,
  statuses: countsFrom(kept.statuses),
  unstored: countsFrom(kept.unstored) ?? NO_COUNTS,
});

const WINDOW = z.object({
  from: textOrNull,
  to: textOrNull,
  total: count,
  provenAt: textOrNull,
  provenFor: textOrNull,
  deleted: count,
  absent: count,
  unstored: textOrNull,
  open: z.boolean(),
  failedAt: textOrNull,
  reading: z
    .object({
      seen: count,
      inserted: count,
      updated: count,
      unchanged: count,
      rejected: count,
      deleted: count,
      undecided: count,
      requests: count,
    })
    .nullable(),
});

const PASS_PARTS = z.object({
  kind: z.enum(PASS_KINDS),
  startedAt: text,
  endedAt: text,
  outcome: z.enum([
    'ok',
    'incomplete',
    'withheld',
    'gone',
    'busy',
    'paused',
    'failed',
    'cancelled',
  ]),
  requests: count,
  total: count.nullable(),
  distinct: count,
  inserted: count,
  updated: count,
  unchanged: count,
  deleted: count,
  rejected: count,
  withheld: count,
  code: z.unknown().transform(errorCodeOrNull),
  error: textOrNull,
  billedBytes: count.optional(),
  statements: count.optional(),
});

const PASS = PASS_PARTS.transform(({ billedBytes, statements, ...pass }): PassRecord => ({
  ...pass,
  ...(billedBytes !== undefined && { billedBytes }),
  ...(statements !== undefined && { statements }),
}));

const LOSS = z.union([
  z.object({ what: z.literal('place'), name: text }),
  z.object({ what: z.literal('column'), name: text }),
  z.object({ what: z.literal('rows'), missing: count }),
  z.object({ what: z.literal('marks'), missing: count }),
  z
    .object({ what: z.literal('records'), name: text, missing: count.optional() })
    .transform(({ what, name, missing }): Loss => {
      return { what, name, ...(missing !== undefined && { missing }) };
    }),
]);

const STATE = z.object({
  nonce: text,
  slug: text,
  name: text,
  table: textOrNull,
  view: textOrNull,
  firstSeenAt: textOrNull,
  goneAt: textOrNull,
  statusesSince: textOrNull,
  statusesIn: text.optional(),
  pending: z.array(text),
  fields: z.array(FIELD),
  labels: z.array(z.object({ fieldId: text, label: text, from: text, to: textOrNull })),
  checkpoint: CHECKPOINT.nullable(),
  windows: z.array(WINDOW),
  marking: z.unknown(),
  losses: z.array(LOSS),
  found: z.array(LOSS),
  counts: z.object({
    rows: count,
    live: count,
    rejected: count,
    refusals: count,
    forgotten: count,
  }),
  statuses: z.array(z.tuple([text, count])),
  salt: textOrNull,
  months: z.array(text),
  hashSets: z.array(z.object({ number: count, fieldIds: z.array(text), fieldCount: count })),
  nextHashSet: count,
  passes: z.object({
    number: count,
    last: PASS.nullable(),
    lastOk: PASS.nullable(),
    lastFull: PASS.nullable(),
    hasReadAll: z.boolean(),
  }),
  history: z.object({ table: text, isOpen: z.boolean() }).nullable(),
  views: z.record(text, text),
  viewFailures: z.record(
    text,
    z.object({ name: text, at: text, isMissing: z.boolean(), what: text, remedy: text }),
  ),
});
