import type { RecentRefusals, Refusal, SentMark } from '../../../mirror/target.ts';
import { fitText } from '../api/cell-value.ts';
import type { FormSheet } from './form-sheet.ts';
import { notedOf } from './forgotten-list.ts';
import type { StateTab } from './state-tab.ts';

/** Sent status changes kept of a form: each is a row of the state tab. The newest stay; of another, a success is believed. */
const MOST_SENT = 2_000;

/** The refusals of a form that still count. */
export function recentRefusals(
  stateTab: StateTab,
  formId: string,
  { wanted, since }: RecentRefusals,
): Refusal[] {
  return stateTab
    .refusals(formId)
    .filter((refusal) => refusal.wanted === wanted && refusal.at >= since);
}

/** Remembers refusals, in memory, but for what was forgotten meanwhile (L18). */
export async function noteRefusals(sheet: FormSheet, refusals: readonly Refusal[]): Promise<void> {
  const { form, spreadsheet } = sheet;
  const ids = refusals.map(({ submissionId }) => submissionId);
  const gone = new Set(await notedOf(sheet, ids));
  const stateTab = await spreadsheet.stateTab();
  for (const refusal of refusals) {
    if (!gone.has(refusal.submissionId)) stateTab.noteMark(form.id, refusal);
  }
}

/** A row in the status that it was refused in, for sets. */
export const refusedRow = ({
  submissionId,
  status,
}: Pick<Refusal, 'submissionId' | 'status'>): string => `${submissionId}\n${fitText(status).text}`;

/**
 * Ends the refusals of rows that change, in memory: they are written with the rows. Changes that were sent stay, as it is by
 * changing back that a row shows that they were not made.
 */
export async function endRefusals(
  { form, spreadsheet }: FormSheet,
  submissionIds: readonly string[],
): Promise<void> {
  if (submissionIds.length === 0 || !spreadsheet.known.roles.has('state')) return;
  const stateTab = await spreadsheet.stateTab();
  const changed = new Set(submissionIds);
  for (const refusal of stateTab.refusals(form.id)) {
    if (changed.has(refusal.submissionId)) stateTab.endMark(form.id, refusal);
  }
}

/** Forgets what is remembered of the status changes of rows, and remembers those that were sent now; in memory as well. */
export async function noteSentMarks(
  { form, spreadsheet }: FormSheet,
  changedIds: readonly string[],
  sent: readonly SentMark[],
): Promise<void> {
  const changed = new Set(changedIds);
  const kept = sent
    .map((mark) => ({ ...mark, submissionId: fitText(mark.submissionId).text }))
    .filter(({ submissionId }) => changed.has(submissionId));
  if (kept.length === 0 && !spreadsheet.known.roles.has('state')) return;
  const stateTab = await spreadsheet.stateTab();
  for (const mark of stateTab.marks(form.id)) {
    if (changed.has(mark.submissionId)) stateTab.endMark(form.id, mark);
  }
  for (const mark of kept) stateTab.noteMark(form.id, { ...mark, reason: '' });
  for (const mark of sentMarks(stateTab, form.id).slice(MOST_SENT)) stateTab.endMark(form.id, mark);
}

/**
 * Forgets the sent changes that a proven full pass, begun at `since`, found made or overtaken: the row has another status,
 * as the pass saw it. Of a row that is listed, it may not have seen it.
 */
export async function settleSentMarks(sheet: FormSheet, since: string): Promise<void> {
  const { form, spreadsheet } = sheet;
  if (!spreadsheet.known.roles.has('state')) return;
  const stateTab = await spreadsheet.stateTab();
  const old = sentMarks(stateTab, form.id).filter(({ at }) => at < since);
  if (old.length === 0) return;
  const index = await sheet.rows(Number.POSITIVE_INFINITY);
  const listed = new Set(stateTab.rejections(form.id).map(({ submissionId }) => submissionId));
  for (const mark of old) {
    const row = index.get(mark.submissionId);
    const isBack = row?.removed === false && row.status === fitText(mark.status).text;
    if (!isBack && !listed.has(mark.submissionId)) stateTab.endMark(form.id, mark);
  }
}

const sentMarks = (stateTab: StateTab, formId: string): Refusal[] =>
  stateTab.marks(formId).filter(({ reason }) => reason === '');
