import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { replacesRows } from '../../../mirror/proven-for.ts';
import type { DescribeHealth } from '../../../mirror/health-text.ts';
import type { PassEnd, PassRecord } from '../../../mirror/types.ts';
import type { FormSheet } from '../state/form-sheet.ts';
import { type FormState, hasSameProblems, isHeartbeat, withPass } from '../state/form-state.ts';
import { type KnownForm, knownFormRequests } from '../state/known-forms.ts';
import { type FoundLosses, settled } from '../state/losses.ts';
import { isRepairDue, updateOwnTabs } from '../state/own-tabs.ts';
import { settleSentMarks } from '../state/refusal-list.ts';
import type { RejectionList } from '../state/rejection-list.ts';
import { changeWindows } from '../state/window-list.ts';
import { copyNotes } from './copy-notes.ts';
import { removeEmptyTab } from './empty-tab.ts';
import { clearUndoTab } from './erase.ts';
import { applyWrite, stateNow, writeState } from './form-write.ts';
import { restoreHeader } from './header-row.ts';

/** The end of a pass, with what its writer knows. */
export interface EndOfPass {
  readonly pass: PassRecord;
  readonly changes: PassEnd;
  readonly now: string;
  readonly describe: DescribeHealth;
  readonly rejections: RejectionList;
  /** What the writer told of losses. */
  readonly found: FoundLosses | undefined;
  /** The form's state when the pass began: what the Mirror tab shows of it. */
  readonly shown: FormState;
}

const isProven = (pass: PassRecord, changes: PassEnd): boolean =>
  changes.checkpoint !== undefined && pass.outcome !== 'incomplete';

/** True for a pass that has met every row and proven it. */
export const isProvenFull = (pass: PassRecord, changes: PassEnd): boolean =>
  pass.kind === 'full' && isProven(pass, changes);

/** Writes the record of a pass, with what it has proven, in one atomic step. To be called inside a turn. */
export async function writeEndOfPass(
  sheet: FormSheet,
  { pass, changes, now, describe, rejections, found, shown }: EndOfPass,
): Promise<void> {
  const { spreadsheet } = sheet;
  if (sheet.view.headerIsGone) await restoreHeader(sheet);
  // One that is not proven may have found something to be remembered.
  const proven = isProven(pass, changes);
  const isFull = isProvenFull(pass, changes);
  const { comparedSince } = changes;
  if (isFull || (proven && comparedSince !== undefined)) {
    await rejections.dropUnmet(sheet, comparedSince);
    // Which rows were not met is not known here.
    if (pass.withheld === 0) await settleSentMarks(sheet, comparedSince ?? pass.startedAt);
  }
  if (isFull) await changeWindows(sheet, (window) => ({ ...window, open: false }));
  const { tab, state } = sheet.view;
  // Rows that were written anew, hashed perhaps, do not stay there as they were (L18).
  const before = state.checkpoint?.provenFor;
  const provenFor = changes.checkpoint?.provenFor;
  if (proven && provenFor !== undefined && replacesRows(before, provenFor))
    await clearUndoTab(sheet);
  const ended = withPass(state, pass, changes);
  const settles = isFull && found !== undefined;
  const after = stateNow(sheet, now, settles ? settled(ended, found, tab?.sheetId) : ended);
  // What a batch has listed is in the state by now, and not on the Mirror tab.
  const isShown = hasSameProblems(shown, after);
  const mayWait = isShown && isHeartbeat(tab?.state ?? after, after);
  const isDue = pass.kind === 'full' && (await isRepairDue(sheet));
  if (mayWait && !isDue && !spreadsheet.stateTabChanged) {
    sheet.deferState(after);
    return;
  }
  // The table of problems needs the lists of all forms.
  if (tab !== undefined && !isShown) await spreadsheet.stateTab();
  const ownTabs = await updateOwnTabs(sheet, { state: after, now }, describe);
  if (sheet.view.layout?.columns.has('s:id') !== true) {
    await writeState(sheet, after, ownTabs);
    return;
  }
  const { requests, tabs } = ownTabs;
  const known = { ...sheet.form, title: tab?.title ?? '' };
  const remember = proven ? rememberRequests(sheet, known) : [];
  const notes = await notesOfCopies(sheet, shown.counts.copies > 0);
  const also = { requests: [...requests, ...remember, ...notes], tabs };
  await applyWrite(sheet, { state: () => after, ownTabs: also, leaseMs: 0 });
  if (remember.length > 0) spreadsheet.keepKnownForm(known);
  await removeEmptyTab(sheet);
}

/** Notes on rows that people copied; where there are none and were none, nothing is read for them. */
async function notesOfCopies(
  sheet: FormSheet,
  hadCopies: boolean,
): Promise<sheets_v4.Schema$Request[]> {
  const { index } = sheet.view;
  if (index === undefined || (index.copies.length === 0 && !hadCopies)) return [];
  return copyNotes(sheet, index);
}

function rememberRequests(sheet: FormSheet, form: KnownForm): sheets_v4.Schema$Request[] {
  const { api, known } = sheet.spreadsheet;
  return knownFormRequests(api.spreadsheetId, known.knownForms, form);
}
