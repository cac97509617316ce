import { type ColumnKey, compactKey, hashText } from '../api/metadata.ts';
import type { PlacedColumn } from '../columns/layout.ts';
import type { FormTab, Structure } from '../state/structure.ts';
import type { CountedQuestion } from '../state/summary-marks.ts';

/** Forms that the Summary tab shows, in the order of their tabs. */
export const MAX_FORMS = 30;

/** A form as the Summary tab shows it, with where its columns are now. */
export interface SummaryForm {
  readonly formId: string;
  readonly sheetId: number;
  readonly name: string;
  /** The tab's title. */
  readonly title: string;
  readonly id: PlacedColumn;
  readonly at: PlacedColumn | undefined;
  readonly status: PlacedColumn | undefined;
  readonly removed: PlacedColumn | undefined;
  readonly questions: readonly SummaryQuestion[];
}

export interface SummaryQuestion {
  readonly column: PlacedColumn;
  readonly listed: number;
  readonly numbers: boolean;
}

/** Which forms and questions the Summary tab shows. */
export interface SummaryPlan {
  readonly forms: readonly SummaryForm[];
  /** True when there are more forms than it shows. */
  readonly isCut: boolean;
  /** Fingerprint of all that makes it necessary to write the tab anew: not where tabs and columns are, nor what they are called. */
  readonly digest: string;
}

/** The forms of a spreadsheet and those of their questions that are counted by answer. A form without its ID column is left out. */
export function planSummary(
  structure: Pick<Structure, 'forms'>,
  questions: ReadonlyMap<string, readonly CountedQuestion[]>,
): SummaryPlan {
  const all = [...structure.forms.values()].flatMap(
    (tab) => formOf(tab, questions.get(tab.formId) ?? []) ?? [],
  );
  const forms = all.slice(0, MAX_FORMS);
  const isCut = all.length > forms.length;
  const parts = forms.map(({ formId, sheetId, name, id, at, status, removed, questions: own }) => [
    formId,
    sheetId,
    name,
    ...[id, at, status, removed].map((column) => column?.metadataId ?? 0),
    ...own.map(({ column, listed, numbers }) => [column.metadataId, listed, numbers]),
  ]);
  const digest = hashText(JSON.stringify([isCut, ...parts]), 12);
  return { forms, isCut, digest };
}

/** Equal for plans whose formulas are the same, letter by letter. `headerRows`: by sheet ID. */
export const placesOf = (
  { digest, forms }: SummaryPlan,
  headerRows: ReadonlyMap<number, number>,
): string =>
  JSON.stringify([
    digest,
    forms.map(({ sheetId, title, id, at, status, removed, questions }) => [
      title,
      headerRows.get(sheetId) ?? -1,
      [id, at, status, removed, ...questions.map(({ column }) => column)].map(
        (column) => column?.index ?? -1,
      ),
    ]),
  ]);

function formOf(tab: FormTab, questions: readonly CountedQuestion[]): SummaryForm | undefined {
  const byMark = new Map<string, PlacedColumn>();
  for (const { mark, compact, index, metadataId } of tab.columns) {
    const key = compact ? mark : compactKey(mark as ColumnKey);
    const other = byMark.get(key);
    // Of two columns with one mark the left one counts, as for the rows.
    if (other === undefined || other.index > index) byMark.set(key, { index, metadataId });
  }
  const own = (key: ColumnKey): PlacedColumn | undefined => byMark.get(compactKey(key));
  const id = own('s:id');
  if (id === undefined) return undefined;
  return {
    formId: tab.formId,
    sheetId: tab.sheetId,
    name: tab.state.name === '' ? tab.title : tab.state.name,
    title: tab.title,
    id,
    at: own('s:at'),
    status: own('s:status'),
    removed: own('s:removed'),
    questions: questions.flatMap(({ mark, listed, numbers }) => {
      const column = byMark.get(mark);
      return column === undefined ? [] : [{ column, listed, numbers }];
    }),
  };
}
