import type { FormHealthText } from '../../mirror/health-text.ts';
import { hashText } from './api/metadata.ts';
import { freeTabTitle } from './columns/tab-title.ts';
import { SerialTime } from './rows/serial-time.ts';
import { liveRows } from '../../mirror/form-state.ts';
import type { Run, StoredForm } from '../../mirror/port.ts';
import { documentsIn, entriesIn, runRows } from './documents.ts';
import { mirrorPage, newMirrorTab, type ShownForm, writeMirrorTab } from './mirror-tab.ts';
import { planSummary } from './summary-plan.ts';
import { NEW_TAB_SIZE, newSummaryTab, summaryContent } from './summary-tab.ts';
import type { Batch, SheetFile, View } from './sheet-file.ts';
import { type StateKey, textIn } from './state-tab.ts';
import { roleMark } from './structure.ts';

/** How a form is, in words for the people of a spreadsheet. */
export interface DescribedForm {
  readonly health: FormHealthText;
  /** All submissions were stored as of then (milliseconds); null: that was never known. */
  readonly asOfMs: number | null;
}

/** Judges nothing itself: made where health is judged. `recordOf`: the record of a key, or null. `runs`: the newest first. */
export type DescribeForm = (
  form: StoredForm,
  runs: readonly Run[],
  recordOf: (key: string) => unknown,
  nowMs: number,
) => DescribedForm;

const DIGEST: StateKey = { kind: 'record', formId: '', key: 'mirror tab' };

/** Writes the Mirror tab where it says something else than before, and makes it where it is missing. */
export function showMirror(
  file: SheetFile,
  describe: DescribeForm,
  view: View,
): Pick<Batch, 'requests' | 'put'> {
  const { structure, stateTab } = view;
  const tab = structure.mirrorTab;
  if (tab?.isProtected === true) return { requests: [], put: [] };
  const recordOf = (key: string): unknown => {
    const text = textIn(stateTab, { kind: 'record', formId: '', key });
    return text === null ? null : (JSON.parse(text) as { value: unknown }).value;
  };
  const forms = documentsIn(view).map(({ state, fields, notices }): ShownForm => {
    const { formId, name, tally, goneAtMs } = state;
    const at = structure.forms.get(formId);
    const entries = [...entriesIn(view, formId).values()];
    const runs = runRows(stateTab, formId).map(({ text }) => JSON.parse(text) as Run);
    const stored = { state, fields, losses: [], notices, location: '', place: {} };
    const now = file.clock.now();
    const { health, asOfMs } = describe(stored, runs.toReversed(), recordOf, now);
    return {
      health,
      asOfMs,
      name,
      sheetId: at?.sheetId ?? null,
      rows: liveRows(tally),
      deleted: tally.deleted,
      isGone: goneAtMs !== null,
      notices,
      listed: entries.filter(({ kind }) => kind === 'rejected' || kind === 'undecided'),
      fields: fields.toSorted((a, b) => a.position - b.position),
    };
  });
  const page = mirrorPage(forms);
  const digest = hashText(JSON.stringify([page, structure.timeZone]), 16);
  if (tab !== null && textIn(stateTab, DIGEST) === digest) return { requests: [], put: [] };
  const sheetId = tab?.sheetId ?? file.newId();
  const mark = roleMark('mirror', file.api.spreadsheetId, sheetId);
  const made =
    tab === null ? newMirrorTab(sheetId, freeTabTitle('Mirror', structure.titles), mark) : [];
  const time = new SerialTime(structure.timeZone);
  return {
    requests: [...made, ...writeMirrorTab(sheetId, tab, page, time)],
    put: [{ ...DIGEST, text: digest }],
  };
}

const SUMMARY: StateKey = { kind: 'record', formId: '', key: 'summary tab' };

/** What the hidden tab keeps of the Summary tab. */
interface KeptSummary {
  readonly digest: string;
  /** The chart of each form; 0: people deleted it. */
  readonly charts: Readonly<Record<string, number>>;
}

/**
 * Writes the Summary tab where other forms or questions are to be shown than before. `wanted`: SHEETS_SUMMARY; undefined: only a
 * spreadsheet without other tabs of people's gets one. One that people delete does not come back, unless it was switched off
 * in between.
 */
export function showSummary(
  file: SheetFile,
  wanted: boolean | undefined,
  view: View,
): Pick<Batch, 'requests' | 'put'> & Pick<Partial<Batch>, 'drop'> {
  const { structure, stateTab } = view;
  const nothing = { requests: [], put: [] };
  const text = textIn(stateTab, SUMMARY);
  if (wanted === false) return text === null ? nothing : { ...nothing, drop: [SUMMARY] };
  const kept = text === null ? null : (JSON.parse(text) as KeptSummary);
  const tab = structure.summaryTab;
  const plan = planSummary(view);
  const own =
    structure.forms.size +
    (structure.stateTab === null ? 0 : 1) +
    (structure.mirrorTab === null ? 0 : 1);
  const isOurs = structure.titles.length - own <= 1;
  const isMade =
    tab !== null || (kept === null && plan.forms.length > 0 && (wanted === true || isOurs));
  if (!isMade || tab?.isProtected === true || (tab !== null && kept?.digest === plan.digest))
    return nothing;
  const sheetId = tab?.sheetId ?? file.newId();
  const grid = tab ?? { sheetId, ...NEW_TAB_SIZE };
  const { requests, charts } = summaryContent({
    tab: grid,
    plan,
    charts: new Map(Object.entries(kept?.charts ?? {})),
    chartIds: tab?.chartIds ?? [],
    newChartId: () => file.newId(),
  });
  const made =
    tab === null
      ? newSummaryTab(grid, {
          title: freeTabTitle('Summary', structure.titles),
          place: structure.forms.size,
          mark: roleMark('summary', file.api.spreadsheetId, sheetId),
        })
      : [];
  const keeps: KeptSummary = { digest: plan.digest, charts: Object.fromEntries(charts) };
  return { requests: [...made, ...requests], put: [{ ...SUMMARY, text: JSON.stringify(keeps) }] };
}
