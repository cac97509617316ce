import { isDeepStrictEqual } from 'node:util';
import { fingerprint } from '../mirror/hashing.ts';
import { pickFields } from '../mirror/label-map.ts';
import type { WithheldForm } from '../mirror/look-record.ts';
import { outdatedRows, type StoringSettings } from '../mirror/proven-for.ts';
import {
  countsText,
  minusCounts,
  NO_COUNTS,
  plusCounts,
  type StatusCounts,
} from '../mirror/status-counts.ts';
import type {
  FormOverview,
  FormReader,
  RecentRefusals,
  StoredField,
  Target,
} from '../mirror/target.ts';
import type { Checkpoint, Form } from '../mirror/types.ts';

/** Which rows are to be marked. */
export interface MarkingRules {
  readonly from: readonly string[];
  readonly refused: RecentRefusals;
}

/** A form whose copy is as the last pass left it, as far as the target itself can tell. */
export interface SettledForm {
  /** Undefined in a metered target, unless its rows were looked at. */
  readonly reader: FormReader | undefined;
  /** By status, what the source should have: rows that are there now, and what is not stored. */
  readonly accounted: StatusCounts;
  /** Rows wait to be marked, or what marking left to say may have changed. */
  readonly toMark: boolean;
}

/** What a form is judged by. */
export interface JudgedForm {
  readonly target: Target;
  /** As the target tells of it. */
  readonly overview: FormOverview;
  /** As the list of forms shows it. */
  readonly form: Form;
  readonly storing: StoringSettings;
  readonly marking: MarkingRules | undefined;
  /** Of a metered target: reads the rows as well, to see whether any was lost. */
  readonly readsRows: boolean;
  /** With what deletions of it were withheld; undefined where none are, or its copy is not as it was then. */
  readonly withheld: WithheldForm | undefined;
}

/**
 * Judges a form of a target without a request: null when a pass has to visit it whatever the source counts. That is so
 * where nothing is proven, or with reservations, the last pass did not end well, something was lost, a history is to begin or end,
 * or the settings or the form's fields are others than those that its rows were stored for. Where deletions are withheld, that is a person's to
 * settle: a pass has to visit it only when either side is not as it was when the last one ended so.
 */
export async function settledForm(judged: JudgedForm): Promise<SettledForm | null> {
  const { target, overview, form, storing, marking, withheld } = judged;
  const { checkpoint, losses, goneAt, isHistoryDue } = overview;
  if (checkpoint === null || goneAt !== null || losses.length > 0) return null;
  if (isHistoryDue === true) return null;
  if (!isAsLeft(checkpoint, judged)) return null;
  if (target.isMetered === true) return settledAsTold(judged, checkpoint);
  const reader = await target.reader(form.id);
  if (reader === undefined) return null;
  if (!isStoredAs(checkpoint, form, storing, await reader.fields())) return null;
  const held = await reader.statusCounts();
  const accounted = withheld?.source ?? plusCounts(held, checkpoint.unstored);
  const toMark = marking !== undefined && (await isToMark(held, overview, marking, reader));
  return { reader, accounted, toMark };
}

/** The same by what a metered target tells of itself: what is there, or else what was accounted for when it was last written. */
async function settledAsTold(
  { target, overview, form, storing, marking, readsRows, withheld }: JudgedForm,
  checkpoint: Checkpoint,
): Promise<SettledForm | null> {
  const { unstored } = checkpoint;
  const { fields = [], statuses: live } = overview;
  if (!isStoredAs(checkpoint, form, storing, fields)) return null;
  const reader = readsRows ? await target.reader(form.id) : undefined;
  if (reader !== undefined && (await isChangedByPeople(reader, overview))) return null;
  // Where its rows were looked at, by what is there now.
  const held = live && ((await reader?.statusCounts()) ?? live);
  const told = held === undefined ? checkpoint.statuses : plusCounts(held, unstored);
  const statuses = withheld?.source ?? told;
  if (statuses === null) return null;
  if (marking === undefined) return { reader, accounted: statuses, toMark: false };
  const rows = minusCounts(statuses, unstored);
  const mayWait = overview.marking !== null || marking.from.some((status) => rows.has(status));
  const asked = reader ?? (mayWait ? await target.reader(form.id) : undefined);
  const toMark = asked !== undefined && (await isToMark(rows, overview, marking, asked));
  return { reader, accounted: statuses, toMark };
}

/** What people did to the rows since the last pass, which is to say so. */
async function isChangedByPeople(reader: FormReader, { notices }: FormOverview): Promise<boolean> {
  const losses = await reader.losses();
  return losses.length > 0 || !isDeepStrictEqual(await reader.notices(), notices);
}

/**
 * Everything that the source counts is accounted for, by status; or all but what the brake withholds, and a pass that began
 * after the source was asked for its counts has ended so.
 */
function isAsLeft(
  { statuses, absent, withheld, hidden, provenAt }: Checkpoint,
  judged: Pick<JudgedForm, 'overview' | 'withheld'>,
): boolean {
  if (absent + hidden !== 0) return false;
  const { outcome } = judged.overview.lastPass ?? {};
  if (withheld === 0) return statuses !== null && outcome === 'ok';
  const left = judged.withheld;
  // Another pass than the last one then, whatever the clocks of other machines say.
  const isSince = left !== undefined && provenAt !== left.provenAt && provenAt > left.askedAt;
  return outcome === 'withheld' && isSince;
}

/** A fingerprint of the copy of a form whose deletions are withheld: equal as long as no pass has changed anything; null for another form. */
export async function withheldCopy(
  target: Target,
  { formId, rows, deletedRows, rejected, checkpoint }: FormOverview,
): Promise<Pick<WithheldForm, 'copy' | 'provenAt'> | null> {
  if (checkpoint === null || checkpoint.withheld === 0) return null;
  const { total, withheld, unstored, provenAt } = checkpoint;
  const reader = target.isMetered === true ? undefined : await target.reader(formId);
  const counts = [(await reader?.statusCounts()) ?? NO_COUNTS, unstored].map(countsText);
  const numbers = [rows, deletedRows, rejected, total, withheld].map(String);
  return { copy: fingerprint([...counts, ...numbers]), provenAt };
}

/** Whether a pass would find settings, columns and labels as the one before left them. */
function isStoredAs(
  { provenFor }: Checkpoint,
  form: Form,
  storing: StoringSettings,
  stored: readonly Omit<StoredField, 'column'>[],
): boolean {
  const fields = pickFields(form, storing.picks, stored, []);
  if (outdatedRows(provenFor, form, storing, { fields, newColumns: 0 }).length > 0) return false;
  const columns = new Map(stored.map((field) => [field.id, field]));
  return fields.every(({ id, label, position, inSchema }) => {
    const column = columns.get(id);
    if (column === undefined) return false;
    if (!inSchema) return column.removedAt !== null;
    return column.removedAt === null && column.label === label && column.position === position;
  });
}

async function isToMark(
  held: StatusCounts,
  { marking: record }: FormOverview,
  { from, refused }: MarkingRules,
  reader: FormReader,
): Promise<boolean> {
  if (from.some((status) => held.has(status))) {
    for await (const ids of reader.markCandidates(from, refused)) if (ids.length > 0) return true;
  }
  if (record === null) return false;
  // It told of a failure, or of refusals that have ended since: a run tells what is left.
  return record.code !== null || record.refused !== (await reader.countRefused(refused));
}
