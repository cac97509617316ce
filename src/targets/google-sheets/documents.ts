import type { Entry, Run, TargetNotice } from '../../mirror/port.ts';
import { EMPTY_TALLY, type FormState } from '../../mirror/form-state.ts';
import { entryKey } from '../../mirror/ledger.ts';
import type { CountedQuestion } from './answer-tally.ts';
import type { SheetField } from './fields.ts';
import type { View } from './sheet-file.ts';
import { rowsOf, type StateRow, textIn } from './state-tab.ts';
import type { Unverified } from './sweep.ts';

/*
 * What the hidden tab keeps of forms.
 */

/** The document of one form in the hidden tab. */
export interface FormDocument {
  readonly state: FormState;
  readonly fields: readonly SheetField[];
  /** The cells that were written with it, until it is known that they are the ones that were meant; null once it is. */
  readonly unverified: Unverified | null;
  /** What the last write found that a person should see to. */
  readonly notices: readonly TargetNotice[];
  /** The row with the headers. */
  readonly headerRow: number;
  /** Questions that the Summary tab counts by answer. */
  readonly questions: readonly CountedQuestion[];
}

/** Entries of a form by their keys. */
export function entriesIn({ stateTab }: View, formId: string): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const { text } of rowsOf(stateTab, 'entry', formId)) {
    const entry = JSON.parse(text) as Entry;
    entries.set(entryKey(entry), entry);
  }
  return entries;
}

/** Every form of the spreadsheet. */
export const documentsIn = ({ stateTab }: Pick<View, 'stateTab'>): FormDocument[] =>
  [...stateTab.rows.values()].flatMap(({ kind, text }) =>
    kind === 'state' ? [documentOf(text)] : [],
  );

/** A form; null where the spreadsheet has none such. */
export const documentIn = (
  { stateTab }: Pick<View, 'stateTab'>,
  formId: string,
): FormDocument | null => {
  const text = textIn(stateTab, { kind: 'state', formId, key: '' });
  return text === null ? null : documentOf(text);
};

/** The document as it is kept; what a later build adds has its default. */
function documentOf(text: string): FormDocument {
  const kept = JSON.parse(text) as Partial<FormDocument> & Pick<FormDocument, 'state' | 'fields'>;
  const tally = { ...EMPTY_TALLY, ...kept.state.tally };
  const { fields, unverified = null, notices = [], questions = [], headerRow = 0 } = kept;
  return { fields, unverified, notices, questions, headerRow, state: { ...kept.state, tally } };
}

/** The row of a run. */
export const runRow = (formId: string, run: Run): StateRow => ({
  kind: 'run',
  formId,
  key: new Date(run.startedAtMs).toISOString(),
  text: JSON.stringify(run),
});

/** Rows of a form's runs, the oldest first. */
export const runRows = ({ rows }: View['stateTab'], formId: string): StateRow[] =>
  [...rows.values()]
    .filter((row) => row.kind === 'run' && row.formId === formId)
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
